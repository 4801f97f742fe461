import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { serveDatabase } from '../support/database-service.js'
import { flood, requestText } from '../support/flood.js'
import { statuses } from '../support/load.js'
import { ask } from '../support/process.js'
import { loopSeconds } from '../support/resident.js'
import { basic, encodeForm } from '../support/service.js'
import { dial, FORM_TYPE, statusesIn } from '../support/wire.js'
import { ADA } from '../support/world.js'

const READERS = 64
const ROUNDS = 5
const MILLISECONDS = 1500
/** For each second of processor time of the event loop, which a service at its limit has once a second on a core of its own. */
const LOGINS_A_SECOND = 3000
const CONNECTIONS = 32
const LEAST_KEPT = 0.75
/** How many of the refused logins may write to the database, as a part. */
const MOST_WRITES = 0.05

t.test('3,000 throttled logins a second leave reads most of their rate and write next to nothing', async t => {
  const service = await serveDatabase(t, { LOGIN_ATTEMPTS: '10' })
  // The log is read and forgotten.
  service.child.stdout?.removeAllListeners('data').resume()
  const { url, logIn, form, sql } = service
  const { headers } = await logIn()
  await ask(`${url}/heroes`, { headers, body: { name: 'the first' } })
  const wrong = { grant_type: 'password', ...ADA, password: 'wrong' }
  for (let attempt = 0; attempt < 10; attempt++) await ask(`${url}/auth/token`, form(wrong))
  const read = requestText('GET', '/heroes/1', headers)
  const readers = flood(url, { connections: READERS, pipelined: 1, next: () => read })
  t.teardown(() => readers.stop())

  const login = requestText('POST', '/auth/token', { ...FORM_TYPE, ...basic('app') }, encodeForm(wrong))
  const statusesFound = new Set<number>()
  /** Sends logins at their rate. The function that it returns resolves to their number once all are answered. */
  const sendLogins = (): (() => Promise<number>) => {
    let sent = 0
    let answered = 0
    const sockets = Array.from({ length: CONNECTIONS }, () => {
      const { socket } = dial(url)
      socket.on('data', (text: string) => {
        // No answer is cut in two: each fits a packet, and so do those to several at once.
        for (const status of statusesIn(text)) {
          statusesFound.add(status)
          answered += 1
        }
      })
      return socket
    })
    const before = loopSeconds(service)
    const sending = setInterval(() => {
      const due = Math.floor((loopSeconds(service) - before) * LOGINS_A_SECOND)
      for (; sent < due; sent++) sockets[sent % CONNECTIONS]?.write(login)
    }, 5)
    return async () => {
      clearInterval(sending)
      while (answered < sent) await sleep(10)
      for (const socket of sockets) socket.destroy()
      return sent
    }
  }

  /** How many reads are answered in a second of the event loop's processor time, and in a second. */
  const measure = async () => {
    readers.take()
    const before = loopSeconds(service)
    const startedAt = performance.now()
    await sleep(MILLISECONDS)
    const answers = readers.take()
    if (Object.keys(statuses(answers)).join() !== '200') throw new Error(JSON.stringify(statuses(answers)))
    const seconds = (performance.now() - startedAt) / 1000
    return [answers.length / (loopSeconds(service) - before), answers.length / seconds] as const
  }
  const writes = async (): Promise<number> => {
    // A connection tells its figures when it has been idle for a second.
    await sleep(1500)
    const [row] = await sql`select n_tup_ins + n_tup_upd as writes from pg_stat_user_tables where relname = 'attempt'`
    return Number(row?.writes)
  }

  await measure()
  const writtenBefore = await writes()
  let sent = 0
  const kept: number[] = []
  const keptBySecond: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const control = await measure()
    const stop = sendLogins()
    const during = await measure()
    sent += await stop()
    kept.push(during[0] / control[0])
    keptBySecond.push(during[1] / control[1])
  }
  readers.stop()
  const written = (await writes()) - writtenBefore
  const share = kept.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0
  t.comment(`${sent} logins, ${written} writes; reads keep ${kept.map(part => part.toFixed(2))}`)
  t.comment(`by the clock ${keptBySecond.map(part => part.toFixed(2))}`)
  t.strictSame([...statusesFound], [429])
  t.ok(sent > 1000, `${sent} logins are sent`)
  t.ok(written <= MOST_WRITES * sent, `${written} writes for ${sent} logins`)
  t.ok(share >= LEAST_KEPT, `reads keep ${share.toFixed(2)}`)
})
