import type { Client } from '../../core/model.js'
import type { ClientStore } from '../../core/ports.js'
import { copyDate, removeGrant, type Tables } from './tables.js'

const copyClient = (client: Client): Client => ({
  id: client.id,
  secretDigest: client.secretDigest,
  previousSecret: client.previousSecret && {
    digest: client.previousSecret.digest,
    until: copyDate(client.previousSecret.until)
  },
  redirectUris: [...client.redirectUris],
  allowedScopes: [...client.allowedScopes],
  grantTypes: [...client.grantTypes],
  name: client.name,
  requirePkce: client.requirePkce,
  requireState: client.requireState
})

export const createClientStore = (tables: Tables): ClientStore => {
  const { clients } = tables

  return {
    async insert(client) {
      if (clients.has(client.id)) return false
      clients.set(client.id, { client: copyClient(client), grants: new Set() })
      return true
    },

    async find(id) {
      const row = clients.get(id)
      return row && copyClient(row.client)
    },

    async list() {
      // `<` compares UTF-16 code units. Client ids are ASCII, where this is the order of code points.
      return Array.from(clients.values(), row => row.client)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .map(copyClient)
    },

    async update(id, changes) {
      const row = clients.get(id)
      if (row === undefined) return undefined
      const given = Object.entries(changes).filter(([key, value]) => value !== undefined || key === 'name')
      row.client = copyClient({ ...row.client, ...Object.fromEntries(given) })
      return copyClient(row.client)
    },

    async rotateSecret(id, digest, keepUntil) {
      const row = clients.get(id)
      if (row?.client.secretDigest === undefined) return false
      const previousSecret = keepUntil && { digest: row.client.secretDigest, until: keepUntil }
      row.client = copyClient({ ...row.client, secretDigest: digest, previousSecret })
      return true
    },

    async remove(id) {
      const row = clients.get(id)
      if (row === undefined) return false
      clients.delete(id)
      for (const grant of row.grants) removeGrant(tables, grant)
      return true
    }
  }
}
