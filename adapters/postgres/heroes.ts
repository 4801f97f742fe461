import { getTableColumns } from 'drizzle-orm'
import type { Hero, NewHero } from '../../core/model.js'
import type { HeroStore } from '../../core/ports.js'
import { inBatches } from './batches.js'
import type { Driver } from './connection/driver.js'
import { isDuplicate, isLocked } from './connection/errors.js'
import { inOrder, insertAlone } from './long-writes.js'
import type { Lookups } from './lookups.js'
import { usesIndex } from './name-index.js'
import { heroes } from './schema.js'
import { anyRow, readAll, requested, type Selection, selection } from './sql.js'

// Every statement takes its columns from these two lines: a column of the schema is selected and written everywhere.
const { nameLower: _derived, ...found } = getTableColumns(heroes)
const { id: _generated, ...stored } = getTableColumns(heroes)

const toRow = (hero: NewHero) => ({ ...hero, nameLower: hero.name.toLowerCase() })

const hero: Selection<Hero> = selection(found)
const rows = requested(stored)

// Of several rows with one name it inserts the first.
const INSERT = `
insert into hero (${rows.names})
select ${rows.values} from ${rows.from}
on conflict (name) do nothing
returning ${hero.text}`

const REPLACE = `
update hero set (${rows.names}) = (select ${rows.values} from ${rows.from})
where id = $${rows.next}
returning ${hero.text}`

const TAKEN = 'select true from hero where name = $1 and id <> $2'

const LIST = `select ${hero.text} from hero where id > $1 order by id limit $2`

const LIST_BY_NAME = `
select ${hero.text} from hero
where id > $1 and name_lower like $3::text
order by id limit $2`

/** The pattern of LIKE for texts that contain this one. */
const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

/** The inserted heroes in the order of `wanted`. */
const readInserted = (wanted: readonly NewHero[], rows: readonly unknown[][]): readonly (Hero | undefined)[] =>
  inOrder(wanted, readAll(hero, rows), ({ name }) => name)

export const createHeroStore = (
  { connections, query, transaction }: Pick<Driver, 'connections' | 'query' | 'transaction'>,
  lookups: Lookups
): HeroStore => ({
  find: lookups.create({ group: 'read', selection: hero, from: 'from hero where id = $1', type: 'bigint' }),

  async list({ nameContains = '', after = Number.MIN_SAFE_INTEGER, limit = Number.MAX_SAFE_INTEGER }) {
    const part = nameContains.toLowerCase()
    if (part === '') return readAll(hero, await query(LIST, [after, limit]))
    const values = [after, limit, containing(part)]
    if (connections === undefined || !usesIndex(part)) return readAll(hero, await query(LIST_BY_NAME, values))
    return transaction({ name: 'list by name' }, async run => {
      // How many names have this part decides between the index of names and the order of ids.
      await run('set local plan_cache_mode = force_custom_plan', [])
      return readAll(hero, await run(LIST_BY_NAME, values))
    })
  },

  insert: inBatches(
    async (wanted: readonly NewHero[]) => {
      // Sorted: two statements that wait for each other's names would deadlock (40P01).
      const sorted = wanted.toSorted((a, b) => (a.name < b.name ? -1 : 1))
      return readInserted(wanted, await query(INSERT, rows.lists(sorted.map(toRow))))
    },
    { enough: 24, keyOf: ({ name }) => name }
  ),

  async insertAll(wanted) {
    return readInserted(wanted, await insertAlone({ transaction }, INSERT, rows.lists(wanted.map(toRow))))
  },

  async replace(id, replacement) {
    try {
      return readAll(hero, await query(REPLACE, [...rows.lists([toRow(replacement)]), id]))[0]
    } catch (error) {
      if (isDuplicate(error)) return 'taken'
      // Two heroes that take each other's names wait for each other, and the limit on locks ends one or both.
      if (isLocked(error) && (await anyRow(query(TAKEN, [replacement.name, id])))) return 'taken'
      throw error
    }
  },

  remove: id => anyRow(query('delete from hero where id = $1 returning true', [id]))
})
