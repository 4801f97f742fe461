import type { Hero } from '../../core/model.js'
import type { HeroStore } from '../../core/ports.js'
import { lengthOf } from '../../core/text.js'
import type { Driver } from './connection/driver.js'
import { columns, readHero } from './hero-rows.js'
import { TRIGRAM } from './name-index.js'
import { createRarePieces } from './rare-piece.js'
import { listed } from './sql/columns.js'

const ALL = `select ${listed(columns)} from hero where id > $1 order by id limit $2`

const BY_NAME = `
select ${listed(columns)} from hero
where id > $1 and name_lower like $2::text
order by id limit $3`

/** The index finds the names that have a piece of the part, and those without the whole part are left out. */
const BY_PIECE = `
select ${listed(columns)} from hero
where id > $1 and name_lower like $2::text and strpos(name_lower, $4::text) > 0
order by id limit $3`

/** The pattern of LIKE for texts that contain this one. */
const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

/** How the heroes of a select travel. */
interface Form {
  of(select: string): string
  read(rows: readonly unknown[][]): readonly Hero[]
}

/** A row for each hero: for any number of them. */
const AS_ROWS: Form = { of: select => select, read: rows => rows.map(readHero) }

const names = Object.keys(columns).map(name => `"${name}"`)

/**
 * One row with a text for each column, the list of its values as JSON. V8 reads these in a fraction of the time that the drivers
 * take for rows. A text of PostgreSQL holds a gigabyte at most.
 */
const AS_JSON: Form = {
  of: select => `
select ${names.map(name => `json_agg(${name})::text`)} from (${select}) as hero (${names})`,
  read(rows) {
    const lists = rows.flat().map(readJsonList)
    const [first = []] = lists
    return first.map((_, index) => readHero(lists.map(list => list[index])))
  }
}

/** Reads a list of JSON. In place of an empty one `json_agg` gives null. */
const readJsonList = (text: unknown): readonly unknown[] => (typeof text === 'string' ? JSON.parse(text) : [])

/** `afterIndexed` is called when the index of names has been used. */
export const createHeroLists = (
  { connections, write, transaction }: Pick<Driver, 'connections' | 'write' | 'transaction'>,
  afterIndexed: () => void
): HeroStore['list'] => {
  const findRarePiece = createRarePieces()

  return async ({ nameContains = '', after = Number.MIN_SAFE_INTEGER, limit }) => {
    const form = limit === undefined ? AS_ROWS : AS_JSON
    const most = limit ?? Number.MAX_SAFE_INTEGER
    if (nameContains === '') return form.read(await write(form.of(ALL), [after, most]))
    const part = nameContains.toLowerCase()
    const values = [after, containing(part), most]
    if (connections === undefined || lengthOf(part) < TRIGRAM) {
      return form.read(await write(form.of(BY_NAME), values))
    }
    const piece = await findRarePiece(write, part)
    const rows = await transaction('list by name', async run => {
      // How many names have this part decides between the index of names and the order of ids.
      await run('set local plan_cache_mode = force_custom_plan', [])
      return piece === undefined
        ? run(form.of(BY_NAME), values)
        : run(form.of(BY_PIECE), [after, containing(piece), most, part])
    })
    afterIndexed()
    return form.read(rows)
  }
}
