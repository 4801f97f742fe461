import { eq } from 'drizzle-orm'
import type { Hero } from '../../core/model.js'
import type { HeroStore } from '../../core/ports.js'
import type { Driver } from './connection/driver.js'
import { isDuplicate } from './connection/errors.js'
import { gather } from './lookup/gather.js'
import { key, type Lookups } from './lookup/lookups.js'
import { heroes } from './schema.js'
import { builder, plain, typed } from './sql/statements.js'
import { textList } from './sql/values.js'

const columns = { id: typed(heroes.id), name: typed(heroes.name) }
const toHero = ([id, name]: readonly unknown[]): Hero => ({ id: Number(id), name: String(name) })

// strpos, unlike LIKE, has no pattern to escape; it finds an empty text everywhere.
const LIST = `
select id::int8, name::text from hero
where id > $1 and strpos(name_lower, $2) > 0
order by id limit $3`

// The names come sorted: two statements that wait for each other's names would deadlock (40P01).
const INSERT = `
insert into hero (name, name_lower)
select name, name_lower from unnest($1::text[], $2::text[]) as asked (name, name_lower)
on conflict (name) do nothing
returning id::int8, name::text`

export const createHeroStore = ({ write }: Pick<Driver, 'write'>, lookups: Lookups): HeroStore => {
  const writer = builder(write)

  const insert = gather(
    async (names: readonly string[]) => {
      const sorted = names.toSorted()
      const rows = await write(INSERT, [textList(sorted), textList(sorted.map(name => name.toLowerCase()))])
      const stored = new Map(rows.map(toHero).map(hero => [hero.name, hero]))
      return names.map(name => stored.get(name))
    },
    name => name
  )

  return {
    find: lookups.create({
      name: 'hero',
      company: 'read',
      columns,
      select: writer.select(columns).from(heroes).where(eq(heroes.id, key)),
      type: 'bigint',
      literal: String,
      read: toHero
    }),

    async list({ nameContains = '', after = Number.MIN_SAFE_INTEGER, limit = Number.MAX_SAFE_INTEGER }) {
      return (await write(LIST, [after, nameContains.toLowerCase(), limit])).map(toHero)
    },

    insert,

    async rename(id, name) {
      const renaming = writer.update(heroes).set({ name, nameLower: name.toLowerCase() }).where(eq(heroes.id, id))
      try {
        const [hero] = await plain(renaming.returning(columns))
        return hero
      } catch (error) {
        if (isDuplicate(error)) return 'taken'
        throw error
      }
    },

    async remove(id) {
      const removed = await plain(
        writer
          .delete(heroes)
          .where(eq(heroes.id, id))
          .returning({ id: typed(heroes.id) })
      )
      return removed.length > 0
    }
  }
}
