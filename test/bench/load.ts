import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Job, Outcome, Timing } from './generator.js'
import { type Plan, requestsOf } from './requests.js'

// The process that sends the requests. It lives as long as the bench, so that V8 has compiled it for every contestant alike. It
// writes to sockets and reads from them itself: an HTTP client takes longer for a request than the servers that are measured.

/** In milliseconds. */
const PATIENCE = 30_000

/** Runs the plans at once. Nothing is sent once the time is over, and what is under way then is waited for and counts. */
const run = async ({ port, seconds, plans }: Job): Promise<readonly Timing[]> => {
  const sockets = await Promise.all(
    plans.map(({ connections }) => Promise.all(Array.from({ length: connections }, () => open(port))))
  )
  const begun = performance.now()
  const end = begun + seconds * 1000
  try {
    return await Promise.all(
      plans.map(async (plan, index): Promise<Timing> => {
        const tally: Tally = { times: [], refused: 0 }
        await Promise.all((sockets[index] ?? []).map((socket, number) => drive(socket, plan, number, end, tally)))
        const elapsed = (performance.now() - begun) / 1000
        const sorted = Float64Array.from(tally.times).sort()
        const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? Number.NaN
        return { plan, rate: sorted.length / elapsed, p50: at(0.5), p99: at(0.99), refused: tally.refused }
      })
    )
  } finally {
    for (const socket of sockets.flat()) socket.destroy()
  }
}

interface Tally {
  /** Of the requests that were answered, in milliseconds. */
  readonly times: number[]
  refused: number
}

const open = async (port: number): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1').setNoDelay().setEncoding('latin1')
  await once(socket, 'connect')
  return socket
}

/** Sends request after request over one connection until the time is over. Rejects when an answer is wrong or missing. */
const drive = (socket: Socket, plan: Plan, number: number, end: number, tally: Tally): Promise<void> =>
  new Promise((resolve, reject) => {
    const next = requestsOf(plan, number)
    let request = next()
    let sent = 0
    let answer = new Answer()
    const send = (): void => {
      sent = performance.now()
      socket.write(request.text, 'latin1')
    }
    const take = (): void => {
      const now = performance.now()
      const isRefused = plan.kind === 'logins' && (answer.status === 429 || answer.status === 503)
      if (!isRefused && (answer.status !== 200 || !request.isRight(answer.body))) {
        throw new Error(
          `${request.text.split('\r\n')[0]} was answered wrongly: ${answer.status} ${answer.body.slice(0, 200)}`
        )
      }
      if (isRefused) tally.refused += 1
      else tally.times.push(now - sent)
      if (now >= end) {
        resolve()
        return
      }
      answer = new Answer()
      request = next()
      send()
    }
    socket.on('data', (chunk: string) => {
      try {
        if (answer.add(chunk)) take()
      } catch (error) {
        reject(error)
      }
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('a connection was ended before its answer came')))
    socket.setTimeout(PATIENCE, () => reject(new Error(`no answer within ${PATIENCE} ms`)))
    send()
  })

/** An answer with a Content-Length. Nothing comes behind it, as there is one request under way on a connection. */
class Answer {
  status = 0
  body = ''
  #head = ''
  #length = 0

  /** True when the answer is whole. `chunk` has a character for each byte. */
  add(chunk: string): boolean {
    if (this.status !== 0) {
      this.body += chunk
    } else {
      this.#head += chunk
      const end = this.#head.indexOf('\r\n\r\n')
      if (end < 0) return false
      const length = /\r\ncontent-length: (\d+)\r\n/i.exec(this.#head.slice(0, end + 2))?.[1]
      if (length === undefined) throw new Error(`an answer has no length: ${this.#head}`)
      this.#length = Number(length)
      this.status = Number(this.#head.slice(9, 12))
      this.body = this.#head.slice(end + 4)
    }
    return this.body.length >= this.#length
  }
}

process.on('message', (job: Job) => {
  const tell = (outcome: Outcome): void => {
    process.send?.(outcome)
  }
  run(job).then(
    timings => tell({ timings }),
    error => tell({ error: error instanceof Error ? error.message : String(error) })
  )
})
process.on('disconnect', () => process.exit())
