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

const A_SECOND = 300
const CONNECTIONS = 64
const TICK_MILLISECONDS = 10
/** Where the reads keep too little, another program may have had the processor, and they are counted anew. */
const ROUNDS = 3
const SECONDS = 2
/**
 * Beside malformed logins of the same rate, since what a request costs the system differs by a factor of two from hour
 * to hour. A throttled login asks the database three times.
 */
const LEAST_KEPT = 0.5
/** An attempt that is counted takes several hundred. */
const MOST_BYTES = 50

t.test(
  'hundreds of throttled logins a second leave 64 readers half of their reads, and write next to nothing',
  async t => {
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

    const tokenRequest = (fields: Readonly<Record<string, string>>): string =>
      requestText('POST', '/auth/token', { ...FORM_TYPE, ...basic('app') }, String(new URLSearchParams(fields)))
    const idle = Array.from({ length: CONNECTIONS }, () => keepConnection(url))
    /** Sends a request {@link A_SECOND} times a second until it is called off, and gives the statuses of the answers. */
    const sendOften = (text: string) => {
      const answered: { readonly status: number }[] = []
      const send = async (): Promise<void> => {
        const connection = idle.shift()
        if (connection === undefined) return
        sent += 1
        const answer = await connection.ask(text)
        answered.push({ status: answer?.status ?? 0 })
        idle.push(connection)
      }
      const startedAt = performance.now()
      let sent = 0
      const timer = setInterval(() => {
        const due = ((performance.now() - startedAt) / 1000) * A_SECOND - sent
        for (let i = 0; i < due; i++) void send()
      }, TICK_MILLISECONDS)
      return () => {
        clearInterval(timer)
        return answered
      }
    }
    const walPosition = async (): Promise<number> => {
      const [row] = await sql<{ position: string }[]>`select pg_current_wal_insert_lsn() - '0/0' as position`
      return Number(row?.position)
    }

    const malformed = tokenRequest({ grant_type: 'password' })
    const throttled = tokenRequest(wrong)
    /** The reads beside a request of this kind, with what is known of its answers. */
    const beside = async (text: string, status: string) => {
      const from = await walPosition()
      const stop = sendOften(text)
      const reads = await countReads()
      const answered = stop()
      t.strictSame(Object.keys(statuses(answered)), [status], `every answer is ${status}`)
      const rate = answered.length / SECONDS
      t.ok(rate > A_SECOND / 2, `${rate.toFixed()} are refused a second`)
      return { reads, bytes: ((await walPosition()) - from) / answered.length }
    }

    await beside(throttled, '429')
    let share = 0
    for (let round = 0; round < ROUNDS && share < LEAST_KEPT; round++) {
      const alone = await countReads()
      const compared = await beside(malformed, '400')
      const { reads, bytes } = await beside(throttled, '429')
      share = reads / compared.reads
      t.comment(
        `throttled logins leave ${(reads / alone).toFixed(2)} of the reads, malformed ones ${(compared.reads / alone).toFixed(2)}`
      )
      t.ok(bytes <= MOST_BYTES, `a refusal writes ${bytes.toFixed()} bytes of WAL`)
    }
    for (const connection of idle) connection.end()
    t.ok(share >= LEAST_KEPT, `the reads keep ${share.toFixed(2)} of what malformed logins leave them`)
  }
)
