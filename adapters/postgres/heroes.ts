import { eq, getTableColumns } from 'drizzle-orm'
import type { Digest, Hero, NewHero } from '../../core/model.js'
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
import { IS_LIVE } from './sql/token-rows.js'
import { bytes, bytesList, instantList } from './sql/values.js'

const { id: _generated, ...stored } = getTableColumns(heroes)
const { id: _key, ...found } = columns
const { names, parameters, from, lists } = manyRows(stored)
// Of several rows with one name it inserts the first.
const INSERT = `
insert into hero (${names})
select ${names} from ${from}
on conflict (name) do nothing
returning ${listed(columns)}`

/** The number of the first parameter behind the lists of {@link INSERT}. */
const next = Object.keys(stored).length + 1
const nulls = Object.keys(columns).map(() => 'null')

/**
 * Inserts as {@link INSERT} does what has a valid token. Of a hero that is refused the last column has the name, and the
 * others are null.
 */
const INSERT_IF_AUTHORIZED = `
with requested as materialized (
  select ${names}, (
    select true from token
    where token.access_digest = requested.access_digest and ${IS_LIVE} and token.expirationdate > requested.at
  ) is not null as authorized
  from unnest(${parameters}, $${next}::bytea[], $${next + 1}::timestamptz[]) as requested (${names}, access_digest, at)
), stored as (
  insert into hero (${names})
  select ${names} from requested where authorized
  on conflict (name) do nothing
  returning ${listed(columns)}
)
select *, null from stored
union all select ${nulls.join()}, name from requested where not authorized`

/** The same for one hero, in four fifths of the time: whether its token is valid, and its id unless the name is taken. */
const INSERT_ONE_IF_AUTHORIZED = `
with authorized as materialized (
  select true from token where access_digest = $3 and ${IS_LIVE} and expirationdate > $4
), stored as (
  insert into hero (name, name_lower)
  select $1, $2 from authorized
  on conflict (name) do nothing
  returning ${listed({ id: columns.id })} as id
)
select exists (select from authorized), (select id from stored)`

interface Authorized {
  readonly hero: NewHero
  readonly access: Digest
  readonly at: Date
}

/** Two statements that wait for each other's names would deadlock (40P01). */
const byName = (a: NewHero, b: NewHero): number => (a.name < b.name ? -1 : 1)

const readByName = (rows: readonly unknown[][]): ReadonlyMap<string, Hero> =>
  new Map(rows.map(readHero).map(hero => [hero.name, hero]))

/** The outcome for each name. A name without one is taken. */
const readOutcomes = (rows: readonly unknown[][]): ReadonlyMap<string, Hero | 'refused'> =>
  new Map(
    rows.map((row): [string, Hero | 'refused'] => {
      const refusedName = row.at(-1)
      if (refusedName !== null) return [String(refusedName), 'refused']
      const hero = readHero(row)
      return [hero.name, hero]
    })
  )

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

  const insertIfAuthorized = gather(
    driver,
    async (wanted: readonly Authorized[]) => {
      const sorted = wanted.toSorted((a, b) => byName(a.hero, b.hero))
      const rows = await write(INSERT_IF_AUTHORIZED, [
        ...lists(sorted.map(({ hero }) => toRow(hero))),
        bytesList(sorted.map(({ access }) => access)),
        instantList(sorted.map(({ at }) => at))
      ])
      const outcomes = readOutcomes(rows)
      tidy()
      return wanted.map(({ hero }) => outcomes.get(hero.name))
    },
    {
      keyOf: ({ hero }) => hero.name,
      async writeOne({ hero, access, at }) {
        const { name, nameLower } = toRow(hero)
        const [[isAuthorized, id] = []] = await write(INSERT_ONE_IF_AUTHORIZED, [name, nameLower, bytes(access), at])
        tidy()
        if (isAuthorized !== true) return 'refused'
        return id === null ? undefined : { ...hero, id: Number(id) }
      }
    }
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

    insertIfAuthorized: (hero, access, at) => insertIfAuthorized({ hero, access, at }),

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
