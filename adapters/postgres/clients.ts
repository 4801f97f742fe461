import { getTableColumns } from 'drizzle-orm'
import type { Client } from '../../core/model.js'
import type { ClientChanges, ClientStore } from '../../core/ports.js'
import type { Driver } from './connection/driver.js'
import { removeGrantsInPieces } from './long-writes.js'
import type { Lookups } from './lookups.js'
import { clients } from './schema.js'
import { anyRow, bytes, type Columns, mapped, type Row, readAll, requested, selection } from './sql.js'

const columns = getTableColumns(clients)
type ClientRow = Row<typeof columns>

const toClient = ({ previousDigest, previousUntil, redirectUri, furtherRedirectUris, ...row }: ClientRow): Client => ({
  ...row,
  previousSecret:
    previousDigest === undefined || previousUntil === undefined
      ? undefined
      : { digest: previousDigest, until: previousUntil },
  redirectUris: redirectUri === undefined ? [] : [redirectUri, ...furtherRedirectUris]
})

const redirectColumns = ([redirectUri, ...furtherRedirectUris]: readonly string[]) => ({
  redirectUri,
  furtherRedirectUris
})

const toRow = ({ previousSecret, redirectUris, ...client }: Client): ClientRow => ({
  ...client,
  previousDigest: previousSecret?.digest,
  previousUntil: previousSecret?.until,
  ...redirectColumns(redirectUris)
})

/** The name may be undefined, and the first redirect URI of an empty list: that empties the column. */
const toChangedColumns = ({ redirectUris, ...changes }: ClientChanges): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries({ ...changes, ...(redirectUris && redirectColumns(redirectUris)) }).filter(
      ([name, value]) => value !== undefined || name === 'name' || name === 'redirectUri'
    )
  )

const client = mapped(selection(columns), toClient)
const rows = requested(columns)

const INSERT = `
insert into client (${rows.names})
select ${rows.values} from ${rows.from}
on conflict (id) do nothing
returning true`

// The collation "C" orders by code points, whatever the collation of the database.
const LIST = `select ${client.text} from client order by id collate "C"`

const ROTATE_SECRET = `
update client set
  secret_digest = $2,
  previous_digest = case when $3::timestamptz is null then null else secret_digest end,
  previous_until = $3
where id = $1 and secret_digest is not null
returning true`

const REMOVE = 'delete from client where id = $1 returning true'

export const createClientStore = (driver: Driver, lookups: Lookups): ClientStore => {
  const { query } = driver
  const find = lookups.create({
    group: 'token request',
    selection: client,
    from: 'from client where id = $1',
    type: 'text'
  })

  return {
    insert: async client => anyRow(query(INSERT, rows.lists([toRow(client)]))),

    find,

    async list() {
      return readAll(client, await query(LIST, []))
    },

    async update(id, changes) {
      const changed = toChangedColumns(changes)
      const some = requested<Columns>(Object.fromEntries(Object.entries(columns).filter(([name]) => name in changed)))
      if (some.names === '') return find(id)
      const update = `
update client set (${some.names}) = (select ${some.values} from ${some.from})
where id = $${some.next}
returning ${client.text}`
      return readAll(client, await query(update, [...some.lists([changed]), id]))[0]
    },

    rotateSecret: (id, digest, keepUntil) => anyRow(query(ROTATE_SECRET, [id, bytes(digest), keepUntil ?? null])),

    async remove(id) {
      await removeGrantsInPieces(driver, 'client_id', id)
      return driver.transaction({ name: 'client.remove', patient: true }, run => anyRow(run(REMOVE, [id])))
    }
  }
}
