import assert from 'node:assert/strict'
import type { Hero, NewHero } from '../../core/model.js'
import type { HeroQuery, HeroStore } from '../../core/ports.js'
import { type CreateStores, ODD_TEXTS, rivals, rounds, same, type TestFunction, tamper } from './records.js'

const EVERY: HeroQuery = { nameContains: undefined, after: undefined, limit: undefined }
const IDS_OF_NOBODY = [0, -1, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]

/** A hero with every key that one may have, each with another value for another name: a store must forget none. */
const heroNamed = (name: string): Required<NewHero> => ({ name })

const insert = async (heroes: HeroStore, name: string): Promise<Hero> => {
  const hero = await heroes.insert(heroNamed(name))
  if (hero === undefined) throw new Error('the name is taken')
  return hero
}

const insertAll = async (heroes: HeroStore, names: readonly string[]): Promise<Hero[]> => {
  const inserted: Hero[] = []
  for (const name of names) inserted.push(await insert(heroes, name))
  return inserted
}

export const heroContract = (test: TestFunction, createStores: CreateStores): void => {
  test('a hero is stored under a new id and found by it', async () => {
    const { heroes } = await createStores()
    const hero = await insert(heroes, 'Mr. Nice')
    same(hero, { id: hero.id, ...heroNamed('Mr. Nice') })
    assert.ok(Number.isSafeInteger(hero.id) && hero.id > 0)
    same(await heroes.find(hero.id), hero)
  })

  test('whichever way a hero is stored, it is answered as it was handed in and found as it was answered', async () => {
    const { heroes } = await createStores()
    const inserted = await heroes.insert(heroNamed('Starling'))
    const [together] = await heroes.insertAll([heroNamed('Heron')])
    const before = await insert(heroes, 'Wren')
    const replaced = await heroes.replace(before.id, heroNamed('Night Wren'))
    const answers = [inserted, together, replaced]
    const ids = [inserted?.id ?? 0, together?.id ?? 0, before.id]
    const handedIn = ['Starling', 'Heron', 'Night Wren'].map((name, index) => ({ id: ids[index], ...heroNamed(name) }))
    same(answers, handedIn)
    same(await Promise.all(ids.map(id => heroes.find(id))), answers)
    same(await heroes.list(EVERY), answers)
    same(await heroes.list({ ...EVERY, nameContains: 'ar', limit: 1 }), [inserted])
  })

  test('an id that no hero has finds nothing, whatever safe integer it is', async () => {
    const { heroes } = await createStores()
    await insert(heroes, 'Mr. Nice')
    for (const id of IDS_OF_NOBODY) {
      assert.equal(await heroes.find(id), undefined, `find ${id}`)
      assert.equal(await heroes.replace(id, heroNamed('Narco')), undefined, `rename ${id}`)
      assert.equal(await heroes.remove(id), false, `remove ${id}`)
    }
    assert.ok(await heroes.insert(heroNamed('Narco')), 'the name stayed free')
  })

  test('when twenty heroes with one name are inserted at once, exactly one is stored', async () => {
    const { heroes } = await createStores()
    const stored = (await rivals(() => heroes.insert(heroNamed('Bombasto')))).filter(hero => hero !== undefined)
    assert.equal(stored.length, 1)
    same(await heroes.list(EVERY), stored)
  })

  test('when twenty heroes with different names are inserted at once, all are stored', async () => {
    const { heroes } = await createStores()
    const stored = await rivals(rival => insert(heroes, `Hero ${rival}`))
    assert.equal(new Set(stored.map(({ id }) => id)).size, 20)
    same(
      stored.map(({ name }) => name),
      stored.map((_, rival) => `Hero ${rival}`),
      'each call is answered with its own hero'
    )
    same(
      await heroes.list(EVERY),
      stored.toSorted((a, b) => a.id - b.id)
    )
  })

  test('a hero with a taken name is not stored', async () => {
    const { heroes } = await createStores()
    const hero = await insert(heroes, 'Celeritas')
    assert.equal(await heroes.insert(heroNamed('Celeritas')), undefined)
    same(await heroes.list(EVERY), [hero])
  })

  test('heroes that are stored together get ids in their order, and taken names are left out', async () => {
    const { heroes } = await createStores()
    const taken = await insert(heroes, 'Celeritas')
    same(await heroes.insertAll([]), [])
    same(await heroes.insertAll([heroNamed('Celeritas')]), [undefined])
    const stored = await heroes.insertAll(['Zorro', 'Celeritas', ...ODD_TEXTS, 'Ant', 'Zorro', 'ant'].map(heroNamed))
    same(
      stored.map(hero => hero?.name),
      ['Zorro', undefined, ...ODD_TEXTS, 'Ant', undefined, 'ant']
    )
    same(await heroes.list(EVERY), [taken, ...stored.filter(hero => hero !== undefined)])
    tamper(stored)
    assert.equal((await heroes.list({ ...EVERY, limit: 2 }))[1]?.name, 'Zorro')
  })

  test('heroes that are stored together are found by a part of their names like any other', async () => {
    const { heroes } = await createStores()
    const stored = await heroes.insertAll(['ὈΔΥΣΣΕΎΣ', 'Ant'].map(heroNamed))
    same(await heroes.list({ ...EVERY, nameContains: 'ὀδυσ' }), stored.slice(0, 1))
  })

  test('a thousand heroes are stored together, and a list has as many as are wanted', async () => {
    const { heroes } = await createStores()
    const stored = await heroes.insertAll(Array.from({ length: 1100 }, (_, i) => heroNamed(`Hero ${i}`)))
    assert.equal(stored.filter(hero => hero !== undefined).length, 1100)
    same(await heroes.list(EVERY), stored)
    for (const nameContains of [undefined, 'hero']) {
      same(await heroes.list({ ...EVERY, nameContains, limit: 1001 }), stored.slice(0, 1001))
    }
  })

  test('when the same heroes are stored together in two orders at once, each is stored once', async () => {
    const { heroes } = await createStores()
    await rounds(
      async round => Array.from({ length: 8 }, (_, i) => heroNamed(`${round} ${i}`)),
      wanted => heroes.insertAll(wanted),
      wanted => heroes.insertAll(wanted.toReversed()),
      async (wanted, first, second) => {
        const stored = [...first, ...second].filter(hero => hero !== undefined)
        same(stored.map(({ name }) => name).sort(), wanted.map(({ name }) => name).sort())
      }
    )
  })

  test('names that differ in case, accents or spaces are different names', async () => {
    const { heroes } = await createStores()
    const names = ['Magneta', 'magneta', 'Magneta ', ' Magneta', 'Magnéta', 'Magne\u0301ta']
    same(
      (await insertAll(heroes, names)).map(({ name }) => name),
      names
    )
  })

  test('a name is returned unchanged, whatever its characters', async () => {
    const { heroes } = await createStores()
    const inserted = await insertAll(heroes, ODD_TEXTS)
    same(
      inserted.map(({ name }) => name),
      ODD_TEXTS
    )
    same(await heroes.list(EVERY), inserted)
    for (const hero of inserted) {
      same(await heroes.find(hero.id), hero)
      assert.equal(await heroes.insert(heroNamed(hero.name)), undefined)
    }
  })

  test('a change to a returned hero does not change the store', async () => {
    const { heroes } = await createStores()
    const { id } = await insert(heroes, 'Dynama')
    const untouched = [{ id, ...heroNamed('Dynama') }]
    tamper(await heroes.find(id))
    tamper(await heroes.list(EVERY))
    tamper(await heroes.replace(id, heroNamed('Dynama')))
    same(await heroes.list(EVERY), untouched)
    same(await heroes.find(id), untouched[0])
  })

  test('an empty store lists no heroes', async () => {
    const { heroes } = await createStores()
    same(await heroes.list(EVERY), [])
    same(await heroes.list({ nameContains: 'a', after: 0, limit: 1000 }), [])
  })

  test('the list is ordered by id, even after a hero is renamed', async () => {
    const { heroes } = await createStores()
    const [first, second, third] = await insertAll(heroes, ['c', 'b', 'a'])
    same(await heroes.list(EVERY), [first, second, third])
    const renamed = await heroes.replace(second?.id ?? 0, heroNamed('z'))
    same(await heroes.list(EVERY), [first, renamed, third])
  })

  test('pages of any size add up to the list', async () => {
    const { heroes } = await createStores()
    const inserted = await insertAll(
      heroes,
      Array.from({ length: 7 }, (_, i) => `Hero ${i}`)
    )
    await heroes.remove(inserted[2]?.id ?? 0)
    const every = await heroes.list(EVERY)
    for (const limit of [1, 2, 6, 7, 1000]) {
      const pages: Hero[] = []
      for (let after: number | undefined; ; ) {
        const page = await heroes.list({ ...EVERY, after, limit })
        assert.ok(page.length <= limit)
        assert.ok(pages.length <= every.length, 'the pages come to an end')
        if (page.length === 0) break
        pages.push(...page)
        after = page.at(-1)?.id
      }
      same(pages, every, `pages of ${limit}`)
    }
  })

  test('a page has every name as it was stored', async () => {
    const { heroes } = await createStores()
    const stored = await insertAll(heroes, [
      ...new Set([...ODD_TEXTS, '["a", "b"]', 'a"b\\c', '\\u0041', 'a\u0001\t\r\nb', 'null'])
    ])
    same(await heroes.list({ ...EVERY, limit: 1000 }), stored)
  })

  test('a list may begin after any safe integer', async () => {
    const { heroes } = await createStores()
    const [first, second] = await insertAll(heroes, ['a', 'b'])
    const after = (id: number): Promise<readonly Hero[]> => heroes.list({ ...EVERY, after: id })
    for (const id of [0, -1, -(2 ** 31) - 1, Number.MIN_SAFE_INTEGER]) same(await after(id), [first, second])
    for (const id of [2 ** 31 - 1, 2 ** 31, Number.MAX_SAFE_INTEGER]) same(await after(id), [])
    same(await after(first?.id ?? 0), [second])
  })

  test('a part of a name is found where JavaScript finds it in lower case', async () => {
    const { heroes } = await createStores()
    const inserted = await insertAll(heroes, [
      ...ODD_TEXTS,
      'İstanbul',
      'istanbul',
      'ISTANBUL',
      'ıstanbul',
      'straße',
      'STRASSE',
      'ὈΔΥΣΣΕΎΣ',
      'ὀδυσσεύς',
      'Ὀδυσσεύσ',
      'ΣΑ',
      '100%',
      '100',
      'snake_case',
      'snakeXcase',
      'C:\\heroes'
    ])
    const parts = [
      ...ODD_TEXTS,
      'i',
      'I',
      'İ',
      'i̇',
      'ı',
      'SS',
      'ss',
      'Σ',
      'σ',
      'ς',
      'Σ ',
      '%',
      '0%',
      'e_c',
      ':\\',
      '',
      'No'
    ]
    for (const nameContains of parts) {
      const part = nameContains.toLowerCase()
      same(
        await heroes.list({ ...EVERY, nameContains }),
        inserted.filter(({ name }) => name.toLowerCase().includes(part)),
        JSON.stringify(nameContains)
      )
    }
  })

  test('a query may combine a part of a name, a beginning and a limit', async () => {
    const { heroes } = await createStores()
    const [, second, third] = await insertAll(heroes, ['Ant', 'ant', 'ANTS', 'bee', 'Giant'])
    const page = await heroes.list({ nameContains: 'aNT', after: (second?.id ?? 0) - 1, limit: 2 })
    same(page, [second, third])
  })

  test('pages of a search go on behind their last hero, and come to an end', async () => {
    const { heroes } = await createStores()
    const names = Array.from({ length: 300 }, (_, i) => (i % 100 === 7 ? `Quetzal ${i}` : `Heron ${i}`))
    await heroes.insertAll(names.map(heroNamed))
    const found: string[] = []
    let after: number | undefined
    for (let pages = 0; pages < 4; pages += 1) {
      const [hero] = await heroes.list({ nameContains: 'quetzal', after, limit: 1 })
      if (hero === undefined) break
      found.push(hero.name)
      after = hero.id
    }
    same(found, ['Quetzal 7', 'Quetzal 107', 'Quetzal 207'])
    same(await heroes.list({ nameContains: 'quetzal', after, limit: 1 }), [])
  })

  test('a hero that is renamed keeps its id, frees its old name and is found by the new one', async () => {
    const { heroes } = await createStores()
    same(await heroes.list(EVERY), [])
    const hero = await insert(heroes, 'Tornado')
    const { id } = hero
    same(await heroes.find(id), hero)
    same(await heroes.list(EVERY), [hero])
    const renamed = { id, ...heroNamed('RubberMan') }
    same(await heroes.replace(id, heroNamed('RubberMan')), renamed)
    same(await heroes.find(id), renamed)
    same(await heroes.list(EVERY), [renamed])
    same(await heroes.list({ ...EVERY, nameContains: 'tornado' }), [])
    same(await heroes.list({ ...EVERY, nameContains: 'rubberman' }), [renamed])
    assert.ok(await heroes.insert(heroNamed('Tornado')))
    assert.equal(await heroes.insert(heroNamed('RubberMan')), undefined)
  })

  test('a hero is renamed to any text, unchanged', async () => {
    const { heroes } = await createStores()
    const { id } = await insert(heroes, 'Tornado')
    for (const name of ODD_TEXTS) {
      same(await heroes.replace(id, heroNamed(name)), { id, ...heroNamed(name) })
      same(await heroes.find(id), { id, ...heroNamed(name) })
    }
  })

  test('a hero may keep its own name, but not take the name of another hero', async () => {
    const { heroes } = await createStores()
    const [first, second] = await insertAll(heroes, ['Dr. IQ', 'Magma'])
    const id = first?.id ?? 0
    same(await heroes.replace(id, heroNamed('Dr. IQ')), first)
    assert.equal(await heroes.insert(heroNamed('Dr. IQ')), undefined, 'the name stays taken')
    assert.equal(await heroes.replace(second?.id ?? 0, heroNamed('Dr. IQ')), 'taken')
    assert.equal(await heroes.replace(id, heroNamed('Magma')), 'taken')
    same(await heroes.list(EVERY), [first, second])
    same(
      await heroes.replace(id, heroNamed('magma')),
      { id, ...heroNamed('magma') },
      'in another case it is another name'
    )
  })

  test("when two heroes take each other's names at once, both are refused", async () => {
    const { heroes } = await createStores()
    const [first, second] = await Promise.all([heroes.insert(heroNamed('Narco')), heroes.insert(heroNamed('Magma'))])
    for (let round = 0; round < 50; round++) {
      const answers = await Promise.all([
        heroes.replace(first?.id ?? 0, heroNamed('Magma')),
        heroes.replace(second?.id ?? 0, heroNamed('Narco'))
      ])
      same(answers, ['taken', 'taken'])
    }
  })

  test('when twenty heroes are renamed to one name at once, exactly one gets it', async () => {
    const { heroes } = await createStores()
    const inserted = await insertAll(
      heroes,
      Array.from({ length: 20 }, (_, i) => `Hero ${i}`)
    )
    const answers = await rivals(rival => heroes.replace(inserted[rival]?.id ?? 0, heroNamed('Windstorm')))
    const winners = answers.filter(answer => answer !== 'taken')
    assert.equal(winners.length, 1)
    same(await heroes.list({ ...EVERY, nameContains: 'Windstorm' }), winners)
    assert.equal((await heroes.list(EVERY)).length, 20)
  })

  test('when a hero is renamed to a name while another is inserted with it, exactly one gets it', async () => {
    const { heroes } = await createStores()
    await rounds(
      async round => ({ id: (await insert(heroes, `before ${round}`)).id, wanted: `wanted ${round}` }),
      ({ id, wanted }) => heroes.replace(id, heroNamed(wanted)),
      ({ wanted }) => heroes.insert(heroNamed(wanted)),
      async ({ id, wanted }, renamed, inserted) => {
        assert.equal(renamed === 'taken', inserted !== undefined)
        same(renamed === 'taken' ? inserted : renamed, { id: inserted?.id ?? id, ...heroNamed(wanted) })
      }
    )
  })

  test('a hero that is removed is gone, and its name is free', async () => {
    const { heroes } = await createStores()
    const hero = await insert(heroes, 'Mr. Nice')
    const { id } = hero
    same(await heroes.find(id), hero)
    assert.equal(await heroes.remove(id), true)
    assert.equal(await heroes.remove(id), false)
    assert.equal(await heroes.find(id), undefined)
    assert.equal(await heroes.replace(id, heroNamed('Narco')), undefined)
    same(await heroes.list(EVERY), [])
    await insert(heroes, 'Narco')
    assert.equal(await heroes.replace(id, heroNamed('Narco')), undefined, 'nor is the name looked at')
    const again = await insert(heroes, 'Mr. Nice')
    assert.ok(again.id > id, 'an id is never given out again')
    await heroes.remove(again.id)
    const [together] = await insertAll(heroes, ['Mr. Nice'])
    assert.ok((together?.id ?? 0) > again.id, 'nor is it when heroes are stored together')
  })

  test('when twenty calls remove one hero at once, exactly one succeeds', async () => {
    const { heroes } = await createStores()
    const { id } = await insert(heroes, 'Mr. Nice')
    assert.equal((await rivals(() => heroes.remove(id))).filter(removed => removed).length, 1)
  })

  test('each of many concurrent look-ups gets its own hero', async () => {
    const { heroes } = await createStores()
    const inserted = await insertAll(
      heroes,
      Array.from({ length: 20 }, (_, i) => `Hero ${i}`)
    )
    const missing = await Promise.all(IDS_OF_NOBODY.map(id => heroes.find(id)))
    same(await rivals(rival => heroes.find(inserted[19 - rival]?.id ?? 0)), inserted.toReversed())
    assert.ok(missing.every(hero => hero === undefined))
    const [one, other] = await Promise.all([heroes.find(inserted[3]?.id ?? 0), heroes.find(inserted[3]?.id ?? 0)])
    tamper(one)
    same(other, inserted[3], 'two look-ups of one hero share no record')
  })
}
