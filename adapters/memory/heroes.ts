import type { Hero, NewHero } from '../../core/model.js'
import type { HeroStore } from '../../core/ports.js'
import { pause } from './tables.js'

interface HeroRow {
  /** Frozen, so that it is returned without a copy: a list of a hundred thousand heroes copies nothing. */
  readonly hero: Hero
  readonly lowerCaseName: string
}

const toRow = (id: number, { name }: NewHero): HeroRow => ({
  hero: Object.freeze({ id, name }),
  lowerCaseName: name.toLowerCase()
})

/** So many names are searched in one turn of the event loop: 255 letters that are hard to tell apart take 1 to 2 µs each. */
const PIECE = 2000

export const createHeroStore = (): HeroStore => {
  // The index is the id. No id is given out again, so a list that begins after an id needs no search.
  const rows: (HeroRow | undefined)[] = [undefined]
  const names = new Set<string>()

  const insert = (hero: NewHero): Hero | undefined => {
    if (names.has(hero.name)) return undefined
    const row = toRow(rows.length, hero)
    rows.push(row)
    names.add(row.hero.name)
    return row.hero
  }

  return {
    async list({ nameContains, after, limit }) {
      const part = nameContains?.toLowerCase() ?? ''
      const most = limit ?? Number.POSITIVE_INFINITY
      const found: Hero[] = []
      const first = Math.max(0, after ?? 0) + 1
      for (let id = first; id < rows.length && found.length < most; id++) {
        const row = rows[id]
        if (row?.lowerCaseName.includes(part)) found.push(row.hero)
        if ((id - first) % PIECE === PIECE - 1) await pause()
      }
      return found
    },

    async find(id) {
      return rows[id]?.hero
    },

    async insert(hero) {
      return insert(hero)
    },

    async insertAll(heroes) {
      return heroes.map(insert)
    },

    async replace(id, hero) {
      const present = rows[id]
      if (present === undefined) return undefined
      if (present.hero.name !== hero.name && names.has(hero.name)) return 'taken'
      const row = toRow(id, hero)
      rows[id] = row
      names.delete(present.hero.name)
      names.add(row.hero.name)
      return row.hero
    },

    async remove(id) {
      const row = rows[id]
      if (row === undefined) return false
      rows[id] = undefined
      names.delete(row.hero.name)
      return true
    }
  }
}
