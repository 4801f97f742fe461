import { and, eq, isNotNull, sql } from 'drizzle-orm'
import type { Client } from '../../core/model.js'
import type { ClientChanges, ClientStore } from '../../core/ports.js'
import type { Driver } from './connection/driver.js'
import { removeGrantsInPieces } from './grants-in-pieces.js'
import { key, type Lookups } from './lookup/lookups.js'
import { clients } from './schema.js'
import { type Row, typed } from './sql/columns.js'
import { builder, withDriverErrors } from './sql/statements.js'
import { optional, orUndefined, readBytes, readInstant, readTexts } from './sql/values.js'

const columns = {
  id: typed(clients.id),
  secretDigest: typed(clients.secretDigest),
  previousDigest: typed(clients.previousDigest),
  previousUntil: typed(clients.previousUntil),
  redirectUri: typed(clients.redirectUri),
  furtherRedirectUris: typed(clients.furtherRedirectUris),
  allowedScopes: typed(clients.allowedScopes),
  grantTypes: typed(clients.grantTypes),
  name: typed(clients.name),
  requirePkce: typed(clients.requirePkce)
}

export const createClientStore = (driver: Driver, lookups: Lookups): ClientStore => {
  const writer = builder(driver.write)
  const find = lookups.create({
    name: 'client',
    sharedStatement: 'token',
    columns,
    select: writer.select(columns).from(clients).where(eq(clients.id, key)),
    type: 'text',
    read: readClient
  })

  return {
    async insert(client) {
      const inserted = await withDriverErrors(
        writer
          .insert(clients)
          .values(toRow(client))
          .onConflictDoNothing({ target: clients.id })
          .returning({ id: columns.id })
      )
      return inserted.length > 0
    },

    find,

    async list() {
      // The collation "C" orders by code points, whatever the collation of the database.
      const rows = await withDriverErrors(writer.select(columns).from(clients).orderBy(sql`${clients.id} collate "C"`))
      return rows.map(toClient)
    },

    async update(id, changes) {
      const changed = toColumns(changes)
      if (Object.keys(changed).length === 0) return find(id)
      const [row] = await withDriverErrors(
        writer.update(clients).set(changed).where(eq(clients.id, id)).returning(columns)
      )
      return row && toClient(row)
    },

    async rotateSecret(id, digest, keepUntil) {
      const changed = await withDriverErrors(
        writer
          .update(clients)
          .set({
            secretDigest: digest,
            previousDigest: keepUntil === undefined ? null : sql`${clients.secretDigest}`,
            previousUntil: keepUntil ?? null
          })
          .where(and(eq(clients.id, id), isNotNull(clients.secretDigest)))
          .returning({ id: columns.id })
      )
      return changed.length > 0
    },

    async remove(id) {
      await removeGrantsInPieces(driver, 'client_id', id)
      return driver.transaction(
        'client.remove',
        async run => {
          const removing = builder(run).delete(clients).where(eq(clients.id, id))
          return (await withDriverErrors(removing.returning({ id: columns.id }))).length > 0
        },
        { patient: true }
      )
    }
  }
}

type ClientRow = Pick<typeof clients.$inferSelect, keyof typeof columns>

const toClient = ({ previousDigest, previousUntil, ...row }: ClientRow): Client => ({
  id: row.id,
  secretDigest: orUndefined(row.secretDigest),
  previousSecret:
    previousDigest === null || previousUntil === null ? undefined : { digest: previousDigest, until: previousUntil },
  redirectUris: row.redirectUri === null ? [] : [row.redirectUri, ...row.furtherRedirectUris],
  allowedScopes: row.allowedScopes,
  grantTypes: row.grantTypes,
  name: orUndefined(row.name),
  requirePkce: row.requirePkce
})

const readClient = (row: Row): Client =>
  toClient({
    id: String(row.id),
    secretDigest: optional(row.secretDigest, readBytes) ?? null,
    previousDigest: optional(row.previousDigest, readBytes) ?? null,
    previousUntil: optional(row.previousUntil, readInstant) ?? null,
    redirectUri: optional(row.redirectUri, String) ?? null,
    furtherRedirectUris: readTexts(row.furtherRedirectUris),
    allowedScopes: readTexts(row.allowedScopes),
    grantTypes: readTexts(row.grantTypes),
    name: optional(row.name, String) ?? null,
    requirePkce: row.requirePkce === true
  })

const redirectColumns = ([first, ...further]: readonly string[]) => ({
  redirectUri: first ?? null,
  furtherRedirectUris: further
})

const toRow = ({ previousSecret, ...client }: Client): ClientRow => ({
  id: client.id,
  secretDigest: client.secretDigest ?? null,
  previousDigest: previousSecret?.digest ?? null,
  previousUntil: previousSecret?.until ?? null,
  ...redirectColumns(client.redirectUris),
  allowedScopes: [...client.allowedScopes],
  grantTypes: [...client.grantTypes],
  name: client.name ?? null,
  requirePkce: client.requirePkce
})

/** The name alone may be undefined: that empties its column. */
const toColumns = (changes: ClientChanges): Partial<ClientRow> => ({
  ...(changes.redirectUris && redirectColumns(changes.redirectUris)),
  ...('name' in changes && { name: changes.name ?? null }),
  ...(changes.allowedScopes && { allowedScopes: [...changes.allowedScopes] }),
  ...(changes.grantTypes && { grantTypes: [...changes.grantTypes] }),
  ...(changes.requirePkce !== undefined && { requirePkce: changes.requirePkce })
})
