import assert from 'node:assert/strict'
import { type CreateStores, ODD_TEXTS, rivals, same, type TestFunction, tamper } from './records.js'

export const scopeContract = (test: TestFunction, createStores: CreateStores): void => {
  test('the words for a scope are returned as they were stored, whatever their characters', async () => {
    const { scopes } = await createStores()
    for (const text of ODD_TEXTS) {
      await scopes.set({ name: 'heroes:read', text })
      same(await scopes.find('heroes:read'), { name: 'heroes:read', text })
    }
    const names = ["it's", '{a,b}', '%', '_', '$1', 'https://a.example/?b=1&c#d', 'x'.repeat(255)]
    for (const name of names) {
      await scopes.set({ name, text: name })
      same(await scopes.find(name), { name, text: name })
    }
    same(
      await Promise.all([...names, 'none'].map(name => scopes.find(name))),
      [...names.map(name => ({ name, text: name })), undefined],
      'many at once'
    )
  })

  test('a scope without words is neither found nor removed', async () => {
    const { scopes } = await createStores()
    await scopes.set({ name: 'heroes', text: 'Heroes' })
    for (const name of ['', 'Heroes', 'heroes:', 'heroe', 'heroe_', 'heroe%', 'x'.repeat(4096)]) {
      assert.equal(await scopes.find(name), undefined, name)
      assert.equal(await scopes.remove(name), false, name)
    }
    same(await scopes.list(), [{ name: 'heroes', text: 'Heroes' }])
  })

  test('new words replace those that a scope has, and those of others stay', async () => {
    const { scopes } = await createStores()
    await scopes.set({ name: 'a', text: 'first' })
    await scopes.set({ name: 'b', text: 'other' })
    await scopes.set({ name: 'a', text: 'second' })
    same(await scopes.list(), [
      { name: 'a', text: 'second' },
      { name: 'b', text: 'other' }
    ])
  })

  test('twenty calls that give one scope words at once leave the words of one of them', async () => {
    const { scopes } = await createStores()
    const texts = await rivals(async rival => {
      const text = `words ${rival}`
      await scopes.set({ name: 'a', text })
      return text
    })
    const found = await scopes.list()
    assert.equal(found.length, 1)
    assert.ok(texts.some(text => text === found[0]?.text))
  })

  test('scopes are listed in the order of code points, whatever the locale', async () => {
    const { scopes } = await createStores()
    same(await scopes.list(), [])
    const names = ['!', '-a', '.a', '0', '10', '9', ':', 'A', 'Z', '_a', 'a', 'a-b', 'a.b', 'aB', 'a_b', 'ab', '~']
    for (const name of names.toReversed()) await scopes.set({ name, text: 'x' })
    same(
      (await scopes.list()).map(({ name }) => name),
      names
    )
  })

  test('when twenty calls remove the words of one scope at once, exactly one succeeds', async () => {
    const { scopes } = await createStores()
    await scopes.set({ name: 'a', text: 'x' })
    const removed = await rivals(() => scopes.remove('a'))
    assert.equal(removed.filter(done => done).length, 1)
    assert.equal(await scopes.find('a'), undefined)
  })

  test('a change to a record of a scope does not change the store', async () => {
    const { scopes } = await createStores()
    const scope = { name: 'a', text: 'x' }
    await scopes.set(scope)
    tamper(scope)
    tamper(await scopes.find('a'))
    tamper(await scopes.list())
    same(await scopes.find('a'), { name: 'a', text: 'x' })
  })
}
