import t, { type Test } from 'tap'
import { createGate } from '../../../adapters/crypto/gate.js'
import type { HashCaller } from '../../../core/index.js'

const OVERLOADED = { name: 'DomainError', code: 'overloaded', retryAfterSeconds: 1 }

const turn = () => new Promise<void>(resolve => setImmediate(resolve))

const login = (address?: string): HashCaller => ({ address, priority: 'login' })
const registration = (address?: string): HashCaller => ({ address, priority: 'registration' })

interface Stage {
  /** Calls with a name each, in the order in which their work began. */
  readonly begun: string[]
  /** The names of the calls that were refused. */
  readonly refused: string[]
  /** Calls the gate. Resolves once the gate has had time to refuse a call. */
  call(name: string, caller?: HashCaller): Promise<void>
  /** Ends the oldest work under way after so many milliseconds, and lets the gate go on. */
  end(milliseconds?: number): Promise<void>
  /** Ends work, each piece after so many milliseconds, until no call waits. */
  endAll(milliseconds?: number): Promise<void>
  /** The rests that places took, in milliseconds. */
  readonly rests: number[]
}

/** A gate with a clock that only the test moves, beside an event loop of the given utilization. */
const stage = (t: Test, { places = 1, queue = 64, utilization = 0, rest = true } = {}): Stage => {
  let now = 0
  const rests: number[] = []
  t.intercept(globalThis, 'setTimeout', {
    value: (work: () => void, milliseconds: number) => {
      rests.push(milliseconds)
      now += milliseconds
      return setImmediate(work)
    }
  })
  const eventLoopUtilization = () => ({ idle: 0, active: 0, utilization })
  const pass = createGate(places, queue, { rests: rest, gauge: { now: () => now, eventLoopUtilization } })
  const begun: string[] = []
  const refused: string[] = []
  const finish: (() => void)[] = []
  const end = async (milliseconds = 0): Promise<void> => {
    now += milliseconds
    finish.shift()?.()
    // The work ends, its place rests and the next work begins.
    for (let i = 0; i < 3; i++) await turn()
  }
  return {
    begun,
    refused,
    rests,
    end,
    async call(name, caller) {
      const work = () => {
        begun.push(name)
        return new Promise<void>(resolve => finish.push(resolve))
      }
      pass(work, caller).catch((error: unknown) => {
        t.match(error, OVERLOADED)
        refused.push(name)
      })
      await turn()
    },
    async endAll(milliseconds) {
      while (finish.length > 0) await end(milliseconds)
    }
  }
}

t.test('addresses are served in turn, and the calls of one address first come, first served', async t => {
  const { call, begun, endAll } = stage(t)
  for (const name of ['a0', 'a1', 'a2', 'a3', 'a4']) await call(name, login('a'))
  await call('b1', login('b'))
  await call('c1', login('c'))
  await call('b2', login('b'))
  await endAll()
  t.strictSame(begun, ['a0', 'a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
})

t.test(
  'an address that always has a call waiting gets every other place, however many another has waiting',
  async t => {
    const { call, begun, end } = stage(t)
    for (let i = 0; i < 30; i++) await call(`a${i}`, login('a'))
    await call('b', login('b'))
    for (let i = 0; i < 10; i++) {
      await end()
      if (begun.at(-1) === 'b') await call('b', login('b'))
    }
    t.equal(begun.filter(name => name === 'b').length, 5)
  }
)

t.test('new addresses do not keep the second call of an address waiting for ever', async t => {
  const { call, begun, end } = stage(t)
  for (const name of ['a0', 'a1', 'a2']) await call(name, login('a'))
  for (let i = 0; i < 4; i++) {
    await call(`${i}`, login(`${i}`))
    await end()
  }
  t.ok(begun.includes('a2'), begun.join())
})

t.test('calls that do not say for whom they are count as logins of one address', async t => {
  const { call, begun, endAll } = stage(t)
  for (const name of ['none0', 'none1', 'none2']) await call(name)
  await call('none3', { priority: 'login' })
  await call('r', registration('r'))
  await call('a', login('a'))
  await endAll()
  t.strictSame(begun, ['none0', 'none1', 'a', 'none2', 'none3', 'r'])
})

t.test('logins are served before registrations, but one place in eight is a registration', async t => {
  const { call, begun, endAll } = stage(t)
  await call('running')
  for (let i = 1; i <= 3; i++) await call('r', registration('r'))
  for (let i = 1; i <= 20; i++) await call('l', login(`${i % 5}`))
  await endAll()
  t.equal(begun.slice(1).join(''), 'lllllllrlllllllrllllllr')
})

t.test('in a full queue a call gives way to another address if its own address has more calls waiting', async t => {
  const { call, begun, refused, endAll } = stage(t, { queue: 4 })
  await call('running', login('a'))
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) await call(name, login('a'))
  t.strictSame(refused, ['a5'])
  await call('b1', login('b'))
  t.strictSame(refused, ['a5', 'a4'])
  await call('c1', login('c'))
  t.strictSame(refused, ['a5', 'a4', 'a3'])
  for (const name of ['a', 'b', 'c', 'd']) await call(name, login(name))
  t.strictSame(refused, ['a5', 'a4', 'a3', 'a', 'b', 'c', 'a2'])
  await call('e', login('e'))
  t.equal(refused.at(-1), 'e', 'everybody who waits has one call')
  await endAll()
  t.strictSame(begun, ['running', 'a1', 'b1', 'c1', 'd'])
})

t.test('in a full queue registrations give way to logins, until they have an eighth of it', async t => {
  const { call, begun, refused, endAll } = stage(t, { queue: 16 })
  await call('running')
  for (let i = 0; i < 16; i++) await call(`r${i}`, registration(`${i}`))
  for (let i = 0; i < 16; i++) await call(`l${i}`, login(`${i}`))
  t.equal(refused.join(), 'r15,r14,r13,r12,r11,r10,r9,r8,r7,r6,r5,r4,r3,r2,l14,l15')
  await call('another', registration('another'))
  t.equal(refused.at(-1), 'another', 'the eighth is full')
  await endAll()
  t.equal(begun.filter(name => name.startsWith('l')).length, 14)
  t.equal(begun.filter(name => name.startsWith('r')).length, 3)
})

t.test('registrations whose turn is next give way to logins as the others do, the last one first', async t => {
  const { call, begun, refused, end, endAll } = stage(t, { queue: 8 })
  await call('running')
  for (let i = 0; i < 8; i++) await call(`r${i}`, registration(`${i}`))
  await end()
  await call('r8', registration('8'))
  for (let i = 0; i < 4; i++) await call(`l${i}`, login(`${i}`))
  t.strictSame(refused, ['r8', 'r7', 'r6', 'r5'])
  await endAll()
  t.strictSame(begun, ['running', 'r0', 'l0', 'l1', 'l2', 'l3', 'r1', 'r2', 'r3', 'r4'])
})

t.test('below an eighth of a full queue a registration takes the place of an address with several logins', async t => {
  const { call, refused } = stage(t, { queue: 8 })
  await call('running')
  for (let i = 0; i < 8; i++) await call(`a${i}`, login('a'))
  await call('r0', registration('r'))
  await call('r1', registration('s'))
  t.strictSame(refused, ['a7', 'r1'])
  const others = stage(t, { queue: 8 })
  await others.call('running')
  for (let i = 0; i < 8; i++) await others.call(`l${i}`, login(`${i}`))
  await others.call('r', registration('r'))
  t.strictSame(others.refused, ['r'], 'no login of an address that has no other')
})

t.test('a rehash is refused as soon as anybody waits', async t => {
  const { call, begun, refused, endAll } = stage(t)
  const rehash: HashCaller = { address: 'a', priority: 'rehash' }
  await call('running', login('a'))
  await call('rehash 1', rehash)
  await call('rehash 2', rehash)
  await call('b', login('b'))
  await call('rehash 3', rehash)
  t.strictSame(refused, ['rehash 2', 'rehash 3'])
  await endAll()
  t.strictSame(begun, ['running', 'rehash 1', 'b'])
})

t.test('a call that would wait for more than 3.9 seconds is refused at once', async t => {
  const { call, begun, refused, end, endAll } = stage(t, { queue: 1000 })
  // A hundred milliseconds each, so that the first 38 or so who wait are served in time.
  await call('running')
  await call('next')
  for (let i = 0; i < 40; i++) {
    await end(100)
    await call('next')
  }
  for (let i = 0; i < 60; i++) await call(`${i}`, login('a'))
  const served = 60 - refused.length
  t.ok(served > 32 && served < 40, `${served} are let in`)
  t.equal(refused[0], `${served}`, 'the later ones are refused')
  await call('b', login('b'))
  t.notOk(refused.includes('b'), 'an address whose turn comes soon is not')
  for (let i = 0; i < 10; i++) await call(`r${i}`, registration(`${i}`))
  t.notOk(refused.includes('r0'), 'nor is a registration, which gets one place in eight')
  t.ok(refused.includes('r9'), 'unless many logins come before it')
  const known = refused.length
  await endAll(100)
  t.equal(refused.length, known, 'whoever was let in was served')
  t.ok(begun.includes('b'))
})

t.test('two places serve twice as many in time', async t => {
  const refusedOf = async (places: number): Promise<number> => {
    const { call, refused, end } = stage(t, { queue: 1000, places })
    for (let i = 0; i < places + 1; i++) await call('first')
    for (let i = 0; i < 100; i++) {
      await end(100 / places)
      await call('first')
    }
    for (let i = 0; i < 100; i++) await call(`${i}`)
    return refused.length
  }
  const [one, two] = [await refusedOf(1), await refusedOf(2)]
  t.ok(Math.abs(100 - two - 2 * (100 - one)) <= 4, `of 100 calls ${100 - one} and ${100 - two} are let in`)
})

t.test('a call that has waited for more than 4.4 seconds is refused, and its work does not begin', async t => {
  const { call, begun, refused, end } = stage(t)
  await call('slow')
  await call('waiting', login('a'))
  await call('waiting too', registration('b'))
  await end(4401)
  t.strictSame(begun, ['slow'])
  t.strictSame(refused, ['waiting', 'waiting too'])
  // The slow piece of work is a single one: it does not make the gate refuse.
  await call('new')
  t.equal(begun.at(-1), 'new')
  await call('next')
  await end(4399)
  t.equal(begun.at(-1), 'next')
})

t.test('registrations that have waited for too long cost no other registration its turn', async t => {
  const { call, begun, refused, end } = stage(t)
  await call('running')
  for (let i = 0; i < 4; i++) await call(`r${i}`, registration('a'))
  await end(2500)
  await call('r in time', registration('a'))
  for (let i = 0; i < 9; i++) await call('l', login(`${i}`))
  await end(2000)
  for (let i = 0; i < 7; i++) await end()
  t.strictSame(refused, ['r1', 'r2', 'r3'])
  t.strictSame(begun, ['running', 'r0', 'l', 'l', 'l', 'l', 'l', 'l', 'l', 'r in time'])
})

t.test('logins that have waited for too long bring the turn of a registration no nearer', async t => {
  const { call, begun, refused, end } = stage(t)
  await call('running')
  for (let i = 0; i < 9; i++) await call(`l${i}`, login('a'))
  await end(2500)
  for (let i = 0; i < 3; i++) await call('r', registration('b'))
  for (let i = 0; i < 2; i++) await call('l in time', login('a'))
  await end(2000)
  await end()
  t.strictSame(refused, ['l1', 'l2', 'l3', 'l4', 'l5', 'l6', 'l7', 'l8'])
  t.strictSame(begun, ['running', 'l0', 'l in time', 'l in time'])
})

t.test(
  'beside a busy event loop places rest, the shorter the more calls wait, so that all are served in time',
  async t => {
    const { call, refused, rests, end, endAll } = stage(t, { utilization: 1, queue: 1000 })
    const restBeside = async (waiting: number): Promise<number> => {
      await call('running')
      for (let i = 0; i < 30; i++) {
        await call('next')
        await end(20)
      }
      for (let i = 1; i < waiting; i++) await call('waiting')
      await end(20)
      const rest = Number(rests.at(-1))
      await endAll(20)
      return rest
    }
    const [few, many] = [await restBeside(2), await restBeside(64)]
    t.ok(few > 100 && few <= 120, `${few} ms with few calls waiting`)
    t.ok(many > 25 && many < 45, `${many} ms with 64 waiting`)
    t.strictSame(refused, [])
  }
)

t.test(
  'calls are refused that would leave places less rest than half their work, and where work slows down none rests',
  async t => {
    const { call, refused, rests, end } = stage(t, { utilization: 1, queue: 1000 })
    await call('running')
    for (let i = 0; i < 40; i++) {
      await call('next')
      await end(100)
    }
    for (let i = 0; i < 40; i++) await call('waiting')
    const served = 40 - refused.length
    t.ok(served > 22 && served < 28, `${served} are let in`)
    await end(100)
    t.ok(Number(rests.at(-1)) > 40 && Number(rests.at(-1)) < 90, `${rests.at(-1)} ms`)
    const before = rests.length
    await end(2000)
    await end(100)
    t.equal(rests.length, before)
  }
)

t.test('a rest is a quarter of a second at most', async t => {
  const { call, rests, end } = stage(t, { utilization: 1 })
  await call('slow')
  await end(1000)
  t.strictSame(rests, [250])
})

t.test('where nothing is to rest, the next call has its turn at once, however busy the event loop is', async t => {
  const { call, begun, rests, end } = stage(t, { utilization: 1, rest: false })
  await call('first')
  await call('second')
  await end(100)
  t.strictSame(begun, ['first', 'second'])
  t.strictSame(rests, [])
})
