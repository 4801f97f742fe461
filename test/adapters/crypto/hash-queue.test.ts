import t, { type Test } from 'tap'
import { createHashQueue, type HashQueueOptions } from '../../../adapters/crypto/hash-queue.js'
import type { HashCaller } from '../../../core/index.js'

const OVERLOADED = { name: 'DomainError', code: 'overloaded', retryAfterSeconds: 1 }

const turn = () => new Promise<void>(resolve => setImmediate(resolve))

/** `a1`: the address a1 in the network a. */
const caller =
  (priority: HashCaller['priority']) =>
  (address?: string): HashCaller => ({ address, network: address?.slice(0, 1), priority })
const [known, login, registration, rehash] = [
  caller('known_login'),
  caller('login'),
  caller('registration'),
  caller('rehash')
]

interface Stage {
  /** Calls with a name each, in the order in which their work began. */
  readonly begun: string[]
  /** The names of the calls that were refused. */
  readonly refused: string[]
  /** Calls the queue. Resolves once the queue has had time to refuse a call. */
  call(name: string, caller?: HashCaller): Promise<void>
  callInSpareTime(name: string): void
  /** Ends the oldest work under way after so many milliseconds, and lets the queue go on. */
  end(milliseconds?: number): Promise<void>
  /** Ends work, each piece after so many milliseconds, until no call waits. */
  endAll(milliseconds?: number): Promise<void>
  /** The pauses that places made, in milliseconds. */
  readonly pauses: number[]
}

interface StageOptions extends Partial<HashQueueOptions> {
  /** Of the event loop. */
  readonly utilization?: number
}

/** A queue with a clock that only the test moves. */
const stage = (t: Test, { utilization = 0, ...options }: StageOptions = {}): Stage => {
  let now = 0
  const pauses: number[] = []
  t.intercept(globalThis, 'setTimeout', {
    // A suite that ran before in this process may still close a connection of postgres.js, whose timer gets an argument.
    value: (work: (...given: unknown[]) => void, milliseconds: number, ...given: unknown[]) => {
      pauses.push(milliseconds)
      now += milliseconds
      return setImmediate(work, ...given)
    }
  })
  const eventLoopUtilization = () => ({ idle: 0, active: 0, utilization })
  const gauge = { now: () => now, eventLoopUtilization }
  const { run, runInSpareTime } = createHashQueue({ concurrency: 1, capacity: 64, pauses: true, gauge, ...options })
  const begun: string[] = []
  const refused: string[] = []
  const finish: (() => void)[] = []
  const end = async (milliseconds = 0): Promise<void> => {
    now += milliseconds
    finish.shift()?.()
    // The work ends, its place pauses and the next work begins.
    for (let i = 0; i < 3; i++) await turn()
  }
  const workOf = (name: string) => () => {
    begun.push(name)
    return new Promise<void>(resolve => finish.push(resolve))
  }
  return {
    begun,
    refused,
    pauses,
    end,
    async call(name, caller) {
      run(workOf(name), caller).catch((error: unknown) => {
        t.match(error, OVERLOADED)
        refused.push(name)
      })
      await turn()
    },
    callInSpareTime(name) {
      void runInSpareTime(workOf(name))
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
  const { call, begun, refused, endAll } = stage(t, { capacity: 4 })
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

t.test('in a full queue registrations give way to logins, the last one first', async t => {
  const { call, begun, refused, endAll } = stage(t, { capacity: 8 })
  await call('running')
  for (let i = 0; i < 8; i++) await call(`r${i}`, registration(`${i}`))
  await call('r8', registration('8'))
  for (let i = 0; i < 4; i++) await call(`l${i}`, login(`l${i}`))
  t.strictSame(refused, ['r8', 'r7', 'r6', 'r5', 'r4'])
  await endAll()
  t.strictSame(begun, ['running', 'l0', 'l1', 'l2', 'l3', 'r0', 'r1', 'r2', 'r3'])
})

t.test('in a full queue of one network a registration gives way before the logins of another address', async t => {
  const { call, refused, endAll } = stage(t, { capacity: 5 })
  await call('running')
  for (const name of ['a0', 'a1', 'a2']) await call(name, { ...login('a'), network: 'n' })
  await call('r', { ...registration('b'), network: 'n' })
  await call('c', login('c'))
  await call('d', login('d'))
  await endAll()
  t.strictSame(refused, ['r'])
})

t.test('in a full queue a registration takes the place of an address with several logins, and of no other', async t => {
  const { call, refused } = stage(t, { capacity: 8 })
  await call('running')
  for (let i = 0; i < 8; i++) await call(`a${i}`, login('a'))
  await call('r0', registration('r'))
  t.strictSame(refused, ['a7'])
  const others = stage(t, { capacity: 8 })
  await others.call('running')
  for (let i = 0; i < 8; i++) await others.call(`l${i}`, login(`${i}`))
  await others.call('r', registration('r'))
  t.strictSame(others.refused, ['r'])
})

t.test('networks take turns, and the addresses of a network within its turns', async t => {
  const { call, begun, endAll } = stage(t)
  await call('running')
  for (const address of ['a1', 'a1', 'a1', 'a2', 'b1', 'b1', 'b1', 'b1']) await call(address, login(address))
  await endAll()
  t.strictSame(begun, ['running', 'a1', 'b1', 'a2', 'b1', 'a1', 'b1', 'a1', 'b1'])
})

t.test('a caller without a network is a network of its own', async t => {
  const { call, begun, endAll } = stage(t)
  await call('running')
  for (const address of ['a1', 'a1', 'a2']) await call(address, { address, priority: 'login' })
  await endAll()
  t.strictSame(begun, ['running', 'a1', 'a2', 'a1'])
})

t.test(
  'known logins come before other logins, and these before registrations, but for a turn of each in eight',
  async t => {
    const { call, begun, endAll } = stage(t)
    await call('running')
    for (let i = 0; i < 5; i++) await call('r', registration(`${i}`))
    for (let i = 0; i < 5; i++) await call('l', login(`${i}`))
    for (let i = 0; i < 10; i++) await call('k', known(`${i % 3}`))
    await endAll()
    t.equal(begun.slice(1).join(''), 'kkklkkkrkkklkllrlrrr')
  }
)

t.test('in each class a network has its own turns, whatever it is served in another class', async t => {
  const { call, begun, end } = stage(t)
  await call('running')
  for (let i = 0; i < 4; i++) await call('a', login('a1'))
  for (let i = 0; i < 4; i++) await call('b', login('b1'))
  for (let i = 0; i < 6; i++) {
    await end()
    await call('A', known('a1'))
    await end()
  }
  t.match(begun.slice(1).join('').replaceAll('A', ''), /^(?:ab){2,}a?$/)
})

t.test(
  'in a full queue a newcomer takes a place of the network that has most, and there the last one of the last class',
  async t => {
    const { call, refused } = stage(t, { capacity: 6 })
    await call('running')
    for (const each of [login('a1'), registration('a2'), known('a3'), login('a4')]) await call(`${each.address}`, each)
    for (const address of ['b1', 'b2']) await call(address, login(address))
    await call('c1', login('c1'))
    t.strictSame(refused, ['a2'])
    await call('d1', registration('d1'))
    t.strictSame(refused, ['a2', 'a4'])
    await call('e1', known('e1'))
    t.strictSame(refused, ['a2', 'a4', 'b2'])
  }
)

t.test('256 addresses of one network have one place in a full queue when every other network has one', async t => {
  const { call, refused, begun, endAll } = stage(t, { capacity: 8 })
  await call('running')
  for (let i = 0; i < 256; i++) await call(`a${i}`, login(`a${i}`))
  t.equal(refused.length, 248)
  for (const address of ['b', 'c', 'd', 'e', 'f', 'g', 'h']) await call(address, login(address))
  t.equal(refused.length, 255)
  await endAll()
  t.strictSame(begun, ['running', 'a0', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
})

t.test('in a full queue a known login takes a place, also where no network has more than one', async t => {
  const { call, begun, refused, endAll } = stage(t, { capacity: 3 })
  await call('running')
  for (const address of ['a', 'b', 'c']) await call(address, login(address))
  await call('d', login('d'))
  t.strictSame(refused, ['d'])
  for (const address of ['e', 'a', 'f']) await call(`known ${address}`, known(address))
  t.equal(refused.length, 4)
  await call('known g', known('g'))
  t.equal(refused.at(-1), 'known g')
  await endAll()
  t.strictSame(begun, ['running', 'known e', 'known a', 'known f'])
})

t.test('work for spare time waits for everybody else, however long, and counts as nobody', async t => {
  const { call, callInSpareTime, begun, refused, end, endAll } = stage(t, { capacity: 1 })
  await call('running')
  callInSpareTime('spare')
  callInSpareTime('spare too')
  await call('r', registration('r'))
  await end(4000)
  await call('l', login('l'))
  await end(5000)
  t.strictSame(refused, ['l'], 'it waited for too long')
  t.strictSame(begun, ['running', 'r', 'spare'])
  await endAll()
  t.strictSame(begun, ['running', 'r', 'spare', 'spare too'])
})

t.test('a rehash waits only where nobody else does, and gives way to whoever comes', async t => {
  const { call, begun, refused, end, endAll } = stage(t)
  await call('rehash 0', rehash('a'))
  await call('rehash 1', rehash('a'))
  await call('rehash 2', rehash('a'))
  t.strictSame(refused, ['rehash 2'])
  await call('r', registration('b'))
  t.strictSame(refused, ['rehash 2', 'rehash 1'])
  await call('rehash 3', rehash('a'))
  t.strictSame(refused, ['rehash 2', 'rehash 1', 'rehash 3'])
  await end()
  await call('rehash 4', rehash('a'))
  await endAll()
  t.strictSame(begun, ['rehash 0', 'r', 'rehash 4'])
})

t.test('a call that has waited for more than 4.4 seconds is refused, and its work does not begin', async t => {
  const { call, begun, refused, end } = stage(t)
  await call('slow')
  await call('waiting', login('a'))
  await call('waiting too', registration('b'))
  await end(4401)
  t.strictSame(begun, ['slow'])
  t.strictSame(refused, ['waiting', 'waiting too'])
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
  t.strictSame(begun, ['running', 'r0', 'l', 'l', 'l', 'l', 'l', 'l', 'r in time', 'l'])
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
  'beside a busy event loop places pause, the shorter the more calls wait, so that all are served in time',
  async t => {
    const { call, refused, pauses, end, endAll } = stage(t, { utilization: 1, capacity: 1000 })
    const pauseBeside = async (waiting: number): Promise<number> => {
      await call('running')
      for (let i = 0; i < 30; i++) {
        await call('next')
        await end(20)
      }
      for (let i = 1; i < waiting; i++) await call('waiting')
      await end(20)
      const pause = Number(pauses.at(-1))
      await endAll(20)
      return pause
    }
    const [few, many] = [await pauseBeside(2), await pauseBeside(64)]
    t.ok(few > 100 && few <= 120, `${few} ms with few calls waiting`)
    t.ok(many > 25 && many < 45, `${many} ms with 64 waiting`)
    t.strictSame(refused, [])
  }
)

t.test('while the event loop is seldom busy, a place does not pause', async t => {
  const { call, pauses, endAll } = stage(t, { utilization: 0.3 })
  for (let i = 0; i < 8; i++) await call('next')
  await endAll(40)
  t.strictSame(pauses, [])
})

t.test('a pause is a quarter of a second at most', async t => {
  const { call, pauses, end } = stage(t, { utilization: 1 })
  await call('slow')
  await end(1000)
  t.strictSame(pauses, [250])
})

t.test('where nothing is to pause, the next call has its turn at once, however busy the event loop is', async t => {
  const { call, begun, pauses, end } = stage(t, { utilization: 1, pauses: false })
  await call('first')
  await call('second')
  await end(100)
  t.strictSame(begun, ['first', 'second'])
  t.strictSame(pauses, [])
})
