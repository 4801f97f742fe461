import { connect } from 'node:net'

export interface FloodAnswer {
  readonly status: number
  readonly milliseconds: number
}

export interface Flood {
  /** What was answered since the last call. */
  take(): FloodAnswer[]
  /** Ends the connections, whatever is under way. */
  stop(): void
}

export interface FloodOptions {
  readonly connections: number
  /** How many requests are under way on a connection. */
  readonly pipelined: number
  /** The whole text of the next request. */
  readonly next: () => string
}

/**
 * Sends requests again and again on raw connections, each answer at once followed by the next request. It takes a fifth
 * of the processor time of load.ts and reads of an answer the status alone.
 */
export const flood = (url: string, { connections, pipelined, next }: FloodOptions): Flood => {
  const { hostname: host, port } = new URL(url)
  let answers: FloodAnswer[] = []
  const sockets = Array.from({ length: connections }, () => {
    const socket = connect({ host, port: Number(port), noDelay: true })
    const askedAt: number[] = []
    let rest = ''
    const ask = (count: number): void => {
      let text = ''
      for (let i = 0; i < count; i++) {
        text += next()
        askedAt.push(performance.now())
      }
      if (text !== '') socket.write(text)
    }
    socket.on('connect', () => ask(pipelined))
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      const text = rest + chunk
      let end = 0
      let count = 0
      for (const found of text.matchAll(/HTTP\/1\.1 (\d{3})/g)) {
        const milliseconds = performance.now() - Number(askedAt.shift())
        answers.push({ status: Number(found[1]), milliseconds })
        end = found.index + found[0].length
        count += 1
      }
      // A status line may be cut in two.
      rest = text.slice(Math.max(end, text.length - 11))
      ask(count)
    })
    // Connections end with requests under way.
    socket.on('error', () => {})
    return socket
  })
  return {
    take() {
      const taken = answers
      answers = []
      return taken
    },
    stop() {
      for (const socket of sockets) socket.destroy()
    }
  }
}
