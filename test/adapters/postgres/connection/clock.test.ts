import t, { type Test } from 'tap'
import { createDatabaseClock } from '../../../../adapters/postgres/connection/clock.js'
import { connectServer } from '../../../../adapters/postgres/connection/server.js'
import { startFakeServer } from '../../../support/fake-server.js'

/** In milliseconds. */
const SERVER = Date.UTC(2030, 0, 1)
const MACHINE = Date.UTC(2030, 0, 2)

/** A clock on a machine whose two clocks the test moves, and the turns of the clock's timer. */
const open = (t: Test, refresh = async () => {}) => {
  const machine = { own: MACHINE, monotonic: 5000 }
  const turns: (() => void)[] = []
  const ended: unknown[] = []
  const timer = { unref: () => timer }
  const intercepted = [
    t.intercept(globalThis, 'setInterval', { value: (turn: () => void) => turns.push(turn) && timer }),
    t.intercept(globalThis, 'clearInterval', { value: (each: unknown) => ended.push(each) })
  ]
  let refreshes = 0
  const clock = createDatabaseClock(
    () => {
      refreshes += 1
      return refresh()
    },
    { now: () => machine.own, monotonic: () => machine.monotonic }
  )
  const pass = (milliseconds: number): void => {
    machine.own += milliseconds
    machine.monotonic += milliseconds
  }
  return {
    machine,
    clock,
    pass,
    turns,
    ended,
    timer,
    refreshes: () => refreshes,
    restore: () => {
      for (const { restore } of intercepted) restore()
    },
    /** A reading whose question and answer travel for so long, while the server's clock shows `time`. */
    read: (time: number, there = 0, back = 0) =>
      clock.read(async () => {
        pass(there)
        pass(back)
        return [[String(time * 1000)]]
      })
  }
}

t.test("before the first reading it is this machine's own time", async t => {
  const { clock, pass, restore } = open(t)
  restore()
  t.strictSame(clock.now(), new Date(MACHINE))
  t.equal(clock.offsetSeconds(), 0)
  pass(1500)
  t.strictSame(clock.now(), new Date(MACHINE + 1500))
})

t.test('the server showed its time in the middle of the round trip, and the monotonic clock carries it on', async t => {
  const { clock, machine, pass, read, restore } = open(t)
  restore()
  await read(SERVER, 300, 100)
  t.strictSame(clock.now(), new Date(SERVER + 200))
  pass(60_000)
  t.strictSame(clock.now(), new Date(SERVER + 60_200))
  machine.own += 3_600_000
  t.strictSame(clock.now(), new Date(SERVER + 60_200), "this machine's own clock has no say")
  t.equal(clock.offsetSeconds(), (SERVER - MACHINE - 200 - 3_600_000) / 1000)
})

t.test('the latest reading counts, also when the clock goes back by it', async t => {
  const { clock, read, restore } = open(t)
  restore()
  await read(SERVER)
  await read(SERVER - 40_000)
  t.strictSame(clock.now(), new Date(SERVER - 40_000))
  t.equal(clock.offsetSeconds(), (SERVER - 40_000 - MACHINE) / 1000)
})

t.test('a server that takes no writes leaves the clock as it is', async t => {
  const { clock, read, restore } = open(t)
  restore()
  await read(SERVER)
  await clock.read(async () => [])
  t.strictSame(clock.now(), new Date(SERVER))
})

t.test("it is read anew each minute, and once each time this machine's own clock parts by a second", async t => {
  const { clock, machine, pass, turns, ended, timer, refreshes, restore } = open(t, () =>
    Promise.reject(new Error('away'))
  )
  t.equal(turns.length, 1)
  for (const turn of turns) turn()
  t.equal(refreshes(), 1, 'each minute, and after a failure as well')

  pass(3_600_000)
  clock.now()
  machine.own += 999
  clock.now()
  t.equal(refreshes(), 1)
  machine.own += 1
  clock.now()
  clock.now()
  t.equal(refreshes(), 2, 'set forward')
  machine.own -= 1000
  clock.offsetSeconds()
  clock.now()
  t.equal(refreshes(), 3, 'set back')

  clock.close()
  t.strictSame(ended, [timer])
  restore()
})

const WRITE = 'insert'

/** Two servers with clocks of their own, of which a driver uses the first. */
const connect = async (t: Test, target: 'any' | 'read-write') => {
  const [first, second] = [await startFakeServer(t), await startFakeServer(t)]
  const hosts = [first.address, second.address]
  const driver = connectServer(first.url, { hosts, target, pool: 2, prepare: true })
  t.teardown(() => driver.close())
  const isNear = (time: number): boolean => Math.abs(Number(driver.clock?.now()) - time) < 60_000
  return { first, second, driver, isNear }
}

t.test('every new connection reads the clock, so that after a failover the new server’s holds', async t => {
  const { first, second, driver, isNear } = await connect(t, 'read-write')
  t.ok(isNear(Date.now()))
  first.time = SERVER
  second.time = MACHINE
  await driver.query(WRITE, [])
  t.ok(isNear(SERVER))
  first.time = SERVER - 3_600_000
  await driver.lookUp(WRITE, [])
  t.ok(isNear(SERVER - 3_600_000), 'another connection to the same server')
  first.failure = '25006'
  await t.rejects(driver.query(WRITE, []), { code: 'unavailable' })
  await driver.query(WRITE, [])
  t.ok(isNear(MACHINE))
})

t.test('when this machine’s own clock is set, the server is asked for its time', async t => {
  const { first, driver, isNear } = await connect(t, 'read-write')
  first.time = SERVER
  await driver.lookUp(WRITE, [])
  const { now } = Date
  const intercepted = t.intercept(Date, 'now', { value: () => now() + 40 * 86_400_000 })
  first.time = SERVER + 3_600_000
  t.ok(isNear(SERVER))
  await driver.probe(WRITE, [])
  intercepted.restore()
  t.ok(isNear(SERVER + 3_600_000), 'the statement behind the question finds it answered')
})

t.test('a server without writes is asked and has no say', async t => {
  const { first, driver, isNear } = await connect(t, 'any')
  Object.assign(first, { time: SERVER, standby: true, readOnly: true })
  await driver.query(WRITE, [])
  t.ok(isNear(Date.now()))
})
