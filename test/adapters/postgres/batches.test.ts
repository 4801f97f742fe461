import fc from 'fast-check'
import t from 'tap'
import { inBatches } from '../../../adapters/postgres/batches.js'
import { StatementError, unavailable } from '../../../adapters/postgres/connection/errors.js'
import { DomainError } from '../../../core/index.js'
import { emptyStores } from '../../support/stores.js'
import { ADA, addClient, blankRequest, createWorld } from '../../support/world.js'

/** Squares numbers, and records which of them shared a statement. A negative number fails its whole statement. */
const squares = () => {
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
  const square = inBatches<number, number>(
    items =>
      answer(
        items,
        items.map(item => item * item)
      ),
    { keyOf: String, enough: 24 }
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

t.test('two batches are under way, and the next one takes all items added meanwhile', async t => {
  const { square, statements, turn, finish } = squares()
  const asked = []
  for (const item of [1, 2, 3, 4, 5]) {
    asked.push(square(item))
    await turn()
  }
  t.strictSame(statements, [[1], [2]])
  await finish()
  t.strictSame(statements, [[1], [2], [3, 4, 5]])
  t.strictSame(await Promise.all(asked), [1, 4, 9, 16, 25])
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

t.test('a long queue is not searched again for each of its statements', async t => {
  let looked = 0
  const keyOf = (item: number) => {
    looked += 1
    return String(item)
  }
  const echo = inBatches<number, number>(async items => items, { keyOf, most: 10 })
  const items = Array.from({ length: 1000 }, (_, item) => item)
  t.strictSame(await Promise.all(items.map(echo)), items)
  t.ok(looked <= 2 * items.length, `${looked} keys`)
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

t.test('an item that finds its row locked fails alone, and the others are sent again two at a time', async t => {
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

t.test('after a lost connection nothing of the batch is sent again, and what was not sent yet is', async t => {
  const { square, statements, turn, finish } = squares()
  const asked = [square(666), square(2)]
  await turn()
  asked.push(square(3))
  await turn()
  asked.push(square(4))
  const settled = Promise.allSettled(asked)
  await finish()
  const lost = { reason: { code: 'unavailable' } }
  t.match(await settled, [lost, lost, { value: 9 }, { value: 16 }])
  t.strictSame(statements, [[666, 2], [3], [4]])
})

t.test('an item that has waited for four seconds is rejected and not sent', async t => {
  const { square, statements, turn, finish } = squares()
  const sent = [square(1)]
  await turn()
  sent.push(square(2))
  await turn()
  const clock = t.capture(performance, 'now', () => -4000)
  const late = t.rejects(square(3), { code: 'unavailable', cause: { message: 'waited for 4000 ms to be sent' } })
  clock.restore()
  await finish()
  await late
  t.strictSame(await Promise.all(sent), [1, 4])
  t.strictSame(statements, [[1], [2]])
})

t.test('whichever items share a statement, each gets exactly the result that it would get alone', async t => {
  const world = createWorld({ stores: await emptyStores() })
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
