import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { serveDatabase } from '../../support/database-service.js'
import { flood } from '../../support/flood.js'
import { statuses } from '../../support/load.js'
import { ask } from '../../support/process.js'
import { loopSeconds } from '../../support/resident.js'
import { basic } from '../../support/service.js'
import { startStopwatch } from '../../support/stopwatch.js'
import { type Connection, dial, FORM_TYPE, requestText, statusesIn } from '../../support/wire.js'

/** Of each kind, of which there are two: 2,000 idle connections and 2,000 that send a byte now and then. */
const CONNECTIONS = 1000
/**
 * How many are opened at once. When more wait than the kernel's queue holds, it forgets some that count as connected for
 * the client, and a client that is silent never learns of that.
 */
const AT_ONCE = 200
/** How many of them send at a time. */
const PART = 50
const READERS = 16
/** A machine changes its speed within seconds, so the reads are compared with those before and behind. */
const CALM_SECONDS = 3
/** The reads keep nine tenths or more, and 0.7 where the machine slowed down meanwhile. */
const LEAST_KEPT = 0.6
const LONGEST_SECONDS = 1
/** The time for the headers of a request, in seconds, and how late the service may notice that it is over. */
const HEAD_SECONDS = 20
const LATE_SECONDS = 5

t.test(
  '2,000 idle connections and 2,000 that send a byte now and then keep nobody out, and end by the rules',
  async t => {
    const service = await serveDatabase(t)
    const { url, logIn } = service
    const { headers } = await logIn()
    await ask(`${url}/heroes`, { headers, body: { name: 'the first' } })
    const read = requestText('GET', '/heroes/1', headers)
    const readers = flood(url, { connections: READERS, pipelined: 1, next: () => read })
    t.teardown(() => readers.stop())

    const open: Connection[] = []
    t.teardown(() => {
      for (const { socket } of open) socket.destroy()
    })
    const connectMany = async (text: string): Promise<readonly Connection[]> => {
      const all: Connection[] = []
      while (all.length < CONNECTIONS) {
        const opened = Array.from({ length: AT_ONCE }, () => dial(url))
        all.push(...opened)
        open.push(...opened)
        await Promise.all(opened.map(({ socket }) => once(socket, 'connect')))
        // Connections are accepted in their order, so that an answer to a later one tells that these are.
        await ask(`${url}/health/live`)
        if (text !== '') for (const { socket } of opened) socket.write(text)
      }
      return all
    }
    /** Every second sends each of the connections the text. */
    const dribble = (connections: readonly Connection[], text: string): void => {
      let next = 0
      const dribbling = setInterval(() => {
        for (const { socket } of connections.slice(next, next + PART)) if (socket.writable) socket.write(text)
        next = (next + PART) % CONNECTIONS
      }, 50)
      t.teardown(() => clearInterval(dribbling))
    }

    const measure = async (until: Promise<unknown>) => {
      readers.take()
      const before = loopSeconds(service)
      let longest = 0
      let over = false
      const ending = until.then(() => {
        over = true
      })
      while (!over) {
        // A connection of its own for each request, because newcomers are to be let in.
        const answer = await ask(`${url}/heroes/1`, { headers })
        if (answer.status !== 200) throw new Error(`a sound client gets ${answer.status}`)
        longest = Math.max(longest, answer.seconds)
        await sleep(20)
      }
      await ending
      const answers = readers.take()
      t.strictSame(Object.keys(statuses(answers)), ['200'])
      return { rate: answers.length / (loopSeconds(service) - before), longest }
    }

    await measure(sleep(1000))
    const before = await measure(sleep(CALM_SECONDS * 1000))
    const used = await connectMany(requestText('GET', '/health/live', {}))
    const startedAt = performance.now()
    const counted = startStopwatch()
    const silent = await connectMany('')
    const heads = await connectMany('GET /heroes/1 HTTP/1.1\r\nhost: a\r\nx-slow: ')
    const bodies = await connectMany(
      requestText('POST', '/auth/token', { ...FORM_TYPE, ...basic('app'), 'content-length': '60000' })
    )
    dribble(heads, 'x')
    dribble(bodies, 'x')
    const slow = [...silent, ...heads]
    const firstEnd = Promise.race(slow.map(({ closed }) => closed)).then(() => (performance.now() - startedAt) / 1000)
    const during = await measure(firstEnd)
    t.ok(during.longest <= LONGEST_SECONDS, `newcomers wait ${during.longest} s at most`)

    const ended = (await firstEnd).toFixed(1)
    t.ok(Number(ended) >= HEAD_SECONDS, `the first connection ends after ${ended} s`)
    const answers = await Promise.all(slow.map(({ closed }) => closed))
    t.ok(counted() <= HEAD_SECONDS + LATE_SECONDS, `the last one ends after ${counted()} s`)
    t.ok(
      answers.every(text => statusesIn(text).join() === '408'),
      'each of them gets 408'
    )
    t.ok(
      used.every(({ received, socket }) => statusesIn(received()).join() === '200' && !socket.destroyed),
      'connections that have had an answer stay'
    )
    t.ok(
      bodies.every(({ received, socket }) => received() === '' && !socket.destroyed),
      'bodies have more time'
    )

    for (const { socket } of open) socket.destroy()
    await Promise.all(open.map(({ closed }) => closed))
    const after = await measure(sleep(CALM_SECONDS * 1000))
    const kept = (2 * during.rate) / (before.rate + after.rate)
    const rates = [before, during, after].map(({ rate }) => rate.toFixed()).join(', ')
    t.ok(kept >= LEAST_KEPT, `reads keep ${kept.toFixed(2)}: ${rates} for a second of the loop`)
  }
)
