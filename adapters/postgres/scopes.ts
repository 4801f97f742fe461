import { getTableColumns } from 'drizzle-orm'
import type { ScopeStore } from '../../core/ports.js'
import type { Driver } from './connection/driver.js'
import type { Lookups } from './lookups.js'
import { scopes } from './schema.js'
import { anyRow, readAll, requested, selection } from './sql.js'

const columns = getTableColumns(scopes)
const scope = selection(columns)
const rows = requested(columns)

const SET = `
insert into scope (${rows.names}) select ${rows.values} from ${rows.from}
on conflict (name) do update set text = excluded.text`

// The collation "C" orders by code points, whatever the collation of the database.
const LIST = `select ${scope.text} from scope order by name collate "C"`

export const createScopeStore = ({ query }: Pick<Driver, 'query'>, lookups: Lookups): ScopeStore => ({
  async set(words) {
    await query(SET, rows.lists([words]))
  },

  find: lookups.create({ selection: scope, from: 'from scope where name = $1', type: 'text' }),

  async list() {
    return readAll(scope, await query(LIST, []))
  },

  remove: name => anyRow(query('delete from scope where name = $1 returning true', [name]))
})
