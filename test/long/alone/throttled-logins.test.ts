import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { serveDatabase } from '../../support/database-service.js'
import { flood } from '../../support/flood.js'
import { statuses } from '../../support/load.js'
import { ask } from '../../support/process.js'
import { loopSeconds } from '../../support/resident.js'
import { basic } from '../../support/service.js'
import { FORM_TYPE, keepConnection, requestText } from '../../support/wire.js'
import { ADA } from '../../support/world.js'

const A_SECOND = 3000
const CONNECTIONS = 64
const TICK_MILLISECONDS = 10
const SECONDS = 6
/** Rounds on a machine that has nothing else to do give 0.8. */
const LEAST_KEPT = 0.65
/** An attempt that is counted takes several hundred. */
const MOST_BYTES = 50

t.test('3,000 throttled logins a second leave 64 readers most of their reads, and write next to nothing', async t => {
  const service = await serveDatabase(t, { LOGIN_ATTEMPTS: '10' })
  const { url, sql, logIn, form } = service
  const { headers } = await logIn()
  await ask(`${url}/heroes`, { headers, body: { name: 'the first' } })
  const wrong = { grant_type: 'password', username: ADA.username, password: 'a guess' }
  let guesses = 0
  while ((await ask(`${url}/auth/token`, form(wrong))).status !== 429) guesses += 1
  t.equal(guesses, 10)

  const read = requestText('GET', '/heroes/1', headers)
  const readers = flood(url, { connections: 64, pipelined: 1, next: () => read })
  t.teardown(() => readers.stop())
  /** Resolves to the reads for each second of processor time that the event loop got. */
  const countReads = async (): Promise<number> => {
    readers.take()
    const before = loopSeconds(service)
    await sleep(SECONDS * 1000)
    const answers = readers.take()
    t.strictSame(Object.keys(statuses(answers)), ['200'], 'every read is answered')
    return answers.length / (loopSeconds(service) - before)
  }

  const guess = requestText(
    'POST',
    '/auth/token',
    { ...FORM_TYPE, ...basic('app') },
    String(new URLSearchParams(wrong))
  )
  const idle = Array.from({ length: CONNECTIONS }, () => keepConnection(url))
  const answered: { readonly status: number }[] = []
  let sent = 0
  const send = async (): Promise<void> => {
    const connection = idle.shift()
    if (connection === undefined) return
    sent += 1
    const answer = await connection.ask(guess)
    answered.push({ status: answer?.status ?? 0 })
    idle.push(connection)
  }
  const flooding = () => {
    const startedAt = performance.now()
    sent = 0
    const timer = setInterval(() => {
      const due = ((performance.now() - startedAt) / 1000) * A_SECOND - sent
      for (let i = 0; i < due; i++) void send()
    }, TICK_MILLISECONDS)
    return () => clearInterval(timer)
  }
  const walPosition = async (): Promise<string> => {
    const [row] = await sql<{ position: string }[]>`select pg_current_wal_insert_lsn() - '0/0' as position`
    return String(row?.position)
  }

  const warmUp = flooding()
  await sleep(2000)
  warmUp()
  const before = await countReads()
  answered.length = 0
  const from = await walPosition()
  const stop = flooding()
  const during = await countReads()
  stop()
  const written = Number(await walPosition()) - Number(from)
  const after = await countReads()
  for (const connection of idle) connection.end()

  t.strictSame(Object.keys(statuses(answered)), ['429'], 'every login is refused')
  const kept = during / ((before + after) / 2)
  const rate = answered.length / SECONDS
  t.comment(`${rate.toFixed()} refused logins a second leave ${kept.toFixed(2)} of the reads`)
  t.ok(rate > A_SECOND / 2, `${rate.toFixed()} logins a second are refused`)
  t.ok(kept >= LEAST_KEPT, `the reads keep ${kept.toFixed(2)}`)
  t.ok(written <= MOST_BYTES * answered.length, `${written} bytes of WAL for ${answered.length} refusals`)
})
