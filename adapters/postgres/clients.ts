import { and, eq, getTableColumns, isNotNull, sql } from 'drizzle-orm'
import type { Client } from '../../core/model.js'
import type { ClientChanges, ClientStore } from '../../core/ports.js'
import type { Driver } from './driver.js'
import { asked, askedKey, gatheredLookup, position } from './lookups.js'
import { clients } from './schema.js'
import { builder, plain } from './statements.js'
import { orUndefined, textList } from './values.js'

export const createClientStore = ({ read, write, transaction }: Driver): ClientStore => {
  const writer = builder(write)
  const reader = builder(read)
  const find = gatheredLookup(
    reader
      .select({ ...getTableColumns(clients), position })
      .from(asked('text'))
      .innerJoin(clients, eq(clients.id, askedKey))
      .prepare('clients_by_id'),
    textList,
    toClient
  )

  return {
    async insert(client) {
      const inserted = await plain(
        writer
          .insert(clients)
          .values(toRow(client))
          .onConflictDoNothing({ target: clients.id })
          .returning({ id: clients.id })
      )
      return inserted.length > 0
    },

    find,

    async list() {
      // "C" is the order of the code points, whatever the database's own collation.
      const rows = await plain(writer.select().from(clients).orderBy(sql`${clients.id} collate "C"`))
      return rows.map(toClient)
    },

    async update(id, changes) {
      const columns = toColumns(changes)
      if (Object.keys(columns).length === 0) return find(id)
      const [row] = await plain(writer.update(clients).set(columns).where(eq(clients.id, id)).returning())
      return row && toClient(row)
    },

    async rotateSecret(id, digest, keepUntil) {
      const changed = await plain(
        writer
          .update(clients)
          .set({
            secretDigest: digest,
            previousDigest: keepUntil === undefined ? null : sql`${clients.secretDigest}`,
            previousUntil: keepUntil ?? null
          })
          .where(and(eq(clients.id, id), isNotNull(clients.secretDigest)))
          .returning({ id: clients.id })
      )
      return changed.length > 0
    },

    remove: id =>
      transaction(
        async run => {
          const removing = builder(run).delete(clients).where(eq(clients.id, id))
          return (await plain(removing.returning({ id: clients.id }))).length > 0
        },
        { patient: true }
      )
  }
}

type Row = typeof clients.$inferSelect

const toClient = ({ previousDigest, previousUntil, ...row }: Row): Client => ({
  id: row.id,
  secretDigest: orUndefined(row.secretDigest),
  previousSecret:
    previousDigest === null || previousUntil === null ? undefined : { digest: previousDigest, until: previousUntil },
  redirectUri: orUndefined(row.redirectUri),
  allowedScopes: row.allowedScopes,
  name: orUndefined(row.name),
  requirePkce: row.requirePkce
})

const toRow = ({ previousSecret, ...client }: Client): Row => ({
  id: client.id,
  secretDigest: client.secretDigest ?? null,
  previousDigest: previousSecret?.digest ?? null,
  previousUntil: previousSecret?.until ?? null,
  redirectUri: client.redirectUri ?? null,
  allowedScopes: [...client.allowedScopes],
  name: client.name ?? null,
  requirePkce: client.requirePkce
})

/** A key that is there without a value empties its column. */
const toColumns = (changes: ClientChanges): Partial<Row> => ({
  ...('redirectUri' in changes && { redirectUri: changes.redirectUri ?? null }),
  ...('name' in changes && { name: changes.name ?? null }),
  ...(changes.allowedScopes && { allowedScopes: [...changes.allowedScopes] }),
  ...(changes.requirePkce !== undefined && { requirePkce: changes.requirePkce })
})
