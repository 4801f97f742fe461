import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { StatementError, unavailable } from '../../../../adapters/postgres/connection/errors.js'
import { gather } from '../../../../adapters/postgres/lookup/gather.js'
import { DomainError } from '../../../../core/index.js'
import { openStores } from '../../../support/stores.js'
import { ADA, addClient, blankRequest, createWorld } from '../../../support/world.js'

/** Squares numbers, and records which of them shared a statement. A negative number fails its whole statement. */
const squares = (writers = 4, options: { readonly fewItems?: number } = {}) => {
  const statements: number[][] = []
  const settle: (() => void)[] = []
  const answer = async <T>(items: readonly number[], result: T): Promise<T> => {
    statements.push([...items])
    await new Promise<void>(resolve => settle.push(resolve))
    if (items.some(item => item < 0)) throw new StatementError('negative', '22003')
    if (items.includes(666)) throw new DomainError('unavailable', 'lost')
    if (items.includes(5503)) throw unavailable(new StatementError('canceling statement due to lock timeout', '55P03'))
    return result
  }
  const square = gather<number, number>(
    { writers },
    items =>
      answer(
        items,
        items.map(item => item * item)
      ),
    { keyOf: String, ...options }
  )
  const turn = () => new Promise(resolve => setImmediate(resolve))
  return {
    square,
    statements,
    turn,
    /** Answers statements until none is under way. */
    async finish() {
      for (await turn(); settle.length > 0; await turn()) settle.shift()?.()
    }
  }
}

t.test('items that are added in one turn of the event loop share a statement', async t => {
  const { square, statements, finish } = squares()
  const asked = Promise.all([square(1), square(2), square(3), square(4)])
  t.strictSame(statements, [])
  await finish()
  t.strictSame(await asked, [1, 4, 9, 16])
  t.strictSame(statements, [[1, 2, 3, 4]])
})

t.test('an item that comes alone is written by itself, and several are written together', async t => {
  const calls: unknown[] = []
  const write = gather<number, string>(
    { writers: 4 },
    async items => {
      calls.push(items)
      return items.map(item => `${item} with others`)
    },
    {
      async writeOne(item) {
        calls.push(item)
        if (item === 666) throw new StatementError('negative', '22003')
        return `${item} alone`
      }
    }
  )
  t.equal(await write(1), '1 alone')
  t.strictSame(await Promise.all([write(2), write(3)]), ['2 with others', '3 with others'])
  await t.rejects(write(666), { message: 'negative' })
  t.strictSame(calls, [1, [2, 3], 666])
})

t.test('two batches are under way, and the next one takes all items added meanwhile', async t => {
  for (const writers of [6, 4, 1]) {
    const { square, statements, turn, finish } = squares(writers, { fewItems: 0 })
    const asked = []
    for (const item of [1, 2, 3, 4, 5]) {
      asked.push(square(item))
      await turn()
    }
    t.strictSame(statements, [[1], [2]])
    await finish()
    t.strictSame(statements, [[1], [2], [3, 4, 5]])
    t.strictSame(await Promise.all(asked), [1, 4, 9, 16, 25])
    // Longer than a batch takes that is slow.
    await sleep(100)
    const later = []
    for (const item of [6, 7, 8]) {
      later.push(square(item))
      await turn()
    }
    t.strictSame(statements.slice(3), [[6], [7]])
    await finish()
    await Promise.all(later)
  }
})

t.test('a third batch is under way while all of them hold fewer than eight items', async t => {
  const { square, statements, turn, finish } = squares(6)
  const asked = []
  for (const items of [[1], [2], [3], [4], [5]]) {
    asked.push(...items.map(square))
    await turn()
  }
  t.strictSame(statements, [[1], [2], [3]])
  await finish()
  t.strictSame(statements, [[1], [2], [3], [4, 5]])
  for (const items of [[6, 7, 8, 9, 10, 11, 12], [13], [14]]) {
    asked.push(...items.map(square))
    await turn()
  }
  t.strictSame(statements.slice(4), [[6, 7, 8, 9, 10, 11, 12], [13]])
  await finish()
  t.strictSame(statements.at(-1), [14])
  t.strictSame(
    await Promise.all(asked),
    Array.from({ length: 14 }, (_, i) => (i + 1) ** 2)
  )
})

t.test('nobody waits for a slow batch, while batches are under way on less than half of the connections', async t => {
  for (const [writers, most] of [
    [8, 4],
    [4, 2]
  ] as const) {
    const { square, statements, turn, finish } = squares(writers, { fewItems: 0 })
    const asked = []
    for (const item of [1, 2, 3]) {
      asked.push(square(item))
      await turn()
    }
    while (statements.length < Math.min(most, 3)) await sleep(5)
    asked.push(square(4), square(5))
    while (statements.length < most) await sleep(5)
    await sleep(150)
    asked.push(square(6))
    await turn()
    const slow = most === 2 ? [[1], [2]] : [[1], [2], [3], [4, 5]]
    t.strictSame(statements, slow)
    await finish()
    t.strictSame(statements, [...slow, [1, 2, 3, 4, 5, 6].slice(slow.flat().length)])
    t.strictSame(await Promise.all(asked), [1, 4, 9, 16, 25, 36])
    const again = []
    for (const item of [7, 8, 9]) {
      again.push(square(item))
      await turn()
    }
    t.strictSame(statements.slice(slow.length + 1), [[7], [8]], 'what was slow is over')
    await finish()
    await Promise.all(again)
  }
})

t.test('twenty-four items do not wait for more of their turn, and a later statement takes at most 256', async t => {
  const { square, statements, finish } = squares()
  const sizes = () => statements.map(({ length }) => length)
  const asked = Promise.all(Array.from({ length: 600 }, (_, item) => square(item + 1000)))
  t.strictSame(sizes(), [24, 24])
  await finish()
  t.strictSame(sizes(), [24, 24, 256, 256, 40])
  t.equal((await asked).length, 600)
})

t.test('items with the same key never share a statement', async t => {
  const { square, statements, finish } = squares()
  const asked = Promise.all([square(1), square(1), square(2)])
  await finish()
  t.strictSame(await asked, [1, 1, 4])
  t.strictSame(statements, [[1, 2], [1]])
})

t.test('an item that the database refuses fails alone', async t => {
  const { square, statements, finish } = squares()
  const asked = Promise.allSettled([square(2), square(-1), square(3)])
  await finish()
  t.match(await asked, [{ value: 4 }, { reason: { code: '22003' } }, { value: 9 }])
  t.strictSame(statements, [[2, -1, 3], [2], [-1], [3]])
})

t.test('an item that finds its row locked fails alone, and four items are sent again at once', async t => {
  const { square, statements, turn, finish } = squares()
  const asked = Promise.allSettled([1, 2, 5503, 3, 4, 5].map(square))
  await turn()
  t.equal(statements.length, 1)
  await finish()
  const values = [1, 4, undefined, 9, 16, 25]
  const locked = { status: 'rejected', reason: { code: 'unavailable', cause: { code: '55P03' } } }
  t.match(
    await asked,
    values.map(value => (value === undefined ? locked : { status: 'fulfilled', value }))
  )
  t.strictSame(statements, [[1, 2, 5503, 3, 4, 5], [1], [2], [5503], [3], [4], [5]])
})

t.test('a single item that the database refuses is not sent again', async t => {
  const { square, statements, finish } = squares()
  const asked = Promise.allSettled([square(-1)])
  await finish()
  t.match(await asked, [{ reason: { code: '22003' } }])
  t.strictSame(statements, [[-1]])
})

t.test('after a lost connection nothing is sent again, and the items in the queue are rejected', async t => {
  const { square, statements, turn, finish } = squares()
  const asked = [square(666), square(2)]
  await turn()
  asked.push(square(3))
  await turn()
  asked.push(square(4))
  const settled = Promise.allSettled(asked)
  await finish()
  const lost = { reason: { code: 'unavailable' } }
  t.match(await settled, [lost, lost, { value: 9 }, lost])
  t.strictSame(statements, [[666, 2], [3]])
})

t.test('whichever items share a statement, each gets exactly the result that it would get alone', async t => {
  const world = createWorld({ stores: await openStores(t) })
  const { useCases, ports } = world
  const { heroes, grants, tokens } = ports
  const client = await addClient(world, 'gatherer')
  await useCases.registerUser(ADA)

  await t.test('heroes that are found, missing, asked for twice, and ids of any size', async () => {
    const stored = new Map<number, string>()
    for (const name of ['a', 'b', 'c', 'd']) {
      const hero = await heroes.insert({ name: `found ${name}` })
      if (hero) stored.set(hero.id, hero.name)
    }
    const anyId = fc.oneof(fc.integer({ min: -2, max: 8 }), fc.constantFrom(2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER))
    await fc.assert(
      fc.asyncProperty(fc.array(anyId, { maxLength: 40 }), async ids => {
        const found = await Promise.all(ids.map(heroes.find))
        return found.every((hero, index) => hero?.name === stored.get(ids[index] ?? 0))
      }),
      { numRuns: 50 }
    )
  })

  await t.test('look-ups of two kinds at once, and one that fails between them', async t => {
    const { accessToken } = await useCases.issueToken(client, { ...blankRequest, grantType: 'password', ...ADA })
    const digest = await ports.secrets.digest(accessToken)
    const [hero] = await heroes.list({ nameContains: undefined, after: undefined, limit: 1 })
    const id = hero?.id ?? 0
    const none = 'A'.repeat(43)
    for (const find of [tokens.findByAccess]) {
      const token = await find?.(digest)
      t.ok(hero && token)
      const asked = [
        [find?.(digest), heroes.find(id)],
        [find?.(none), heroes.find(-1), heroes.find(id)],
        [find?.(digest), find?.(none), heroes.find(-1)]
      ]
      t.strictSame(await Promise.all(asked.map(together => Promise.all(together))), [
        [token, hero],
        [undefined, undefined, hero],
        [token, undefined, undefined]
      ])
      const failing = [find?.(digest), heroes.find(Number.NaN), heroes.find(id)]
      t.match(await Promise.allSettled(failing), [{ value: token }, { reason: { code: '22P02' } }, { value: hero }])
    }
  })

  await t.test('heroes inserted at once: each name is stored once', async () => {
    let round = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('a', 'b"', 'c\\', '{d}', 'NULL', 'É,'), { maxLength: 30 }),
        async names => {
          round += 1
          const asked = names.map(name => `${name} ${round}`)
          const inserted = await Promise.all(asked.map(name => heroes.insert({ name })))
          const won = inserted.filter(hero => hero !== undefined)
          const right = inserted.every((hero, index) => hero === undefined || hero.name === asked[index])
          return right && won.length === new Set(asked).size && new Set(won.map(({ id }) => id)).size === won.length
        }
      ),
      { numRuns: 50 }
    )
  })

  await t.test('refresh tokens rotated at once: each is spent once and has its own successor', async () => {
    const login = async () => {
      const answer = await useCases.issueToken(client, { ...blankRequest, grantType: 'password', ...ADA, scope: 'a b' })
      const found = await tokens.findByRefresh(await ports.secrets.digest(answer.refreshToken ?? ''))
      if (found?.refreshDigest === undefined) throw new Error('there is no token')
      return { ...found, refreshDigest: found.refreshDigest }
    }
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 24 }), async picks => {
        const logins = await Promise.all(Array.from({ length: 6 }, login))
        await grants.revoke(logins[5]?.grant.id ?? '', world.clock.now())
        const tries = await Promise.all(
          picks.map(async pick => {
            const token = logins[pick]
            if (token === undefined) throw new Error('there is no login')
            const successor = {
              ...token,
              scopes: pick % 2 === 0 ? [] : ['a'],
              accessDigest: await ports.secrets.digest(await ports.secrets.random()),
              refreshDigest: pick === 4 ? undefined : await ports.secrets.digest(await ports.secrets.random())
            }
            const spend = { at: world.clock.now(), nonce: await ports.secrets.nonce() }
            const won = await tokens.rotate(token.refreshDigest, spend, successor)
            return { pick, won, spend, successor, spent: await tokens.findByRefresh(token.refreshDigest) }
          })
        )
        for (const { won, spend, successor, spent } of tries) {
          const found = await tokens.findByAccess(successor.accessDigest)
          if (won !== (found !== undefined)) return false
          if (won && (spent?.spent?.nonce !== spend.nonce || found?.scopes.join() !== successor.scopes.join()))
            return false
        }
        const winners = tries.filter(({ won }) => won).map(({ pick }) => pick)
        return new Set(winners).size === winners.length && winners.length === new Set(picks.filter(p => p !== 5)).size
      }),
      { numRuns: 30 }
    )
  })
})
