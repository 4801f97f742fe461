import { eq, getTableColumns } from 'drizzle-orm'
import type { Hero, NewHero } from '../../core/model.js'
import type { HeroStore } from '../../core/ports.js'
import type { Driver } from './connection/driver.js'
import { isDuplicate } from './connection/errors.js'
import { createHeroLists } from './hero-lists.js'
import { columns, readHero, toHero, toRow } from './hero-rows.js'
import { inOrder, insertAlone } from './insert-all.js'
import { gather } from './lookup/gather.js'
import { key, type Lookups } from './lookup/lookups.js'
import { createTidying } from './name-index.js'
import { heroes } from './schema.js'
import { listed, manyRows } from './sql/columns.js'
import { builder, withDriverErrors } from './sql/statements.js'

const { id: _generated, ...stored } = getTableColumns(heroes)
const { id: _key, ...found } = columns
const { names, from, lists } = manyRows(stored)
// Of several rows with one name it inserts the first.
const INSERT = `
insert into hero (${names})
select ${names} from ${from}
on conflict (name) do nothing
returning ${listed(columns)}`

/** Two statements that wait for each other's names would deadlock (40P01). */
const byName = (a: NewHero, b: NewHero): number => (a.name < b.name ? -1 : 1)

const readByName = (rows: readonly unknown[][]): ReadonlyMap<string, Hero> =>
  new Map(rows.map(readHero).map(hero => [hero.name, hero]))

export const createHeroStore = (
  driver: Pick<Driver, 'connections' | 'write' | 'writers' | 'transaction'>,
  lookups: Lookups
): HeroStore => {
  const { write } = driver
  const writer = builder(write)
  const tidy = createTidying(driver)

  // A statement of its own: one that names the tables of tokens and grants would wait where they are locked.
  const insert = gather(
    driver,
    async (wanted: readonly NewHero[]) => {
      const inserted = readByName(await write(INSERT, lists(wanted.toSorted(byName).map(toRow))))
      tidy()
      return wanted.map(({ name }) => inserted.get(name))
    },
    { keyOf: ({ name }) => name }
  )

  return {
    find: lookups.create({
      name: 'hero',
      sharedStatement: 'read',
      columns: found,
      select: writer.select(found).from(heroes).where(eq(heroes.id, key)),
      type: 'bigint',
      read: (row, id) => toHero({ ...row, id })
    }),

    list: createHeroLists(driver, tidy),

    insert,

    async insertAll(wanted) {
      const rows = await insertAlone(driver, INSERT, lists(wanted.map(toRow)))
      tidy()
      return inOrder(
        wanted.map(({ name }) => name),
        readByName(rows)
      )
    },

    async replace(id, hero) {
      const replacing = writer.update(heroes).set(toRow(hero)).where(eq(heroes.id, id))
      try {
        const [replaced] = await withDriverErrors(replacing.returning(columns))
        tidy()
        return replaced && toHero(replaced)
      } catch (error) {
        if (isDuplicate(error)) return 'taken'
        throw error
      }
    },

    async remove(id) {
      const removed = await withDriverErrors(
        writer.delete(heroes).where(eq(heroes.id, id)).returning({ id: columns.id })
      )
      return removed.length > 0
    }
  }
}
