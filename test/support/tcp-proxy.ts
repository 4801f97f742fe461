// A way to a server that a test can make slow or silent.

import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { listenUntilEnd } from './ports.js'

export interface Proxy {
  readonly port: number
  /** Nothing passes in either direction until {@link restore}. Connections stay open, and new ones are taken. */
  swallow(): void
  /** What the server sends arrives so many milliseconds later. */
  delay(milliseconds: number): void
  restore(): void
  /** Breaks the connection over which the given one of the next messages comes from a client, before it is passed on. The first is 1. */
  breakAt(message: number): void
  /** Whether that has come. */
  hasBroken(): boolean
}

export const startProxy = async (t: Pick<Test, 'teardown'>, host: string, port: number): Promise<Proxy> => {
  const sockets = new Set<Socket>()
  let late = 0
  let untilBreak = Number.POSITIVE_INFINITY
  let restored = Promise.resolve()
  let restore = (): void => {}

  const pass = async (from: Socket, to: Socket, answers: boolean): Promise<void> => {
    try {
      for await (const chunk of from) {
        await restored
        if (!answers) untilBreak -= 1
        if (!answers && untilBreak === 0) break
        if (answers && late > 0) await sleep(late)
        to.write(chunk)
      }
    } catch {
      // The connection has broken.
    }
    to.destroy()
  }

  const server = createServer(client => {
    const upstream = connect(port, host)
    for (const socket of [client, upstream]) {
      sockets.add(socket.setNoDelay())
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    void pass(client, upstream, false)
    void pass(upstream, client, true)
  })
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  return {
    port: await listenUntilEnd(t, server),
    swallow() {
      restored = new Promise(resolve => {
        restore = resolve
      })
    },
    delay(milliseconds) {
      late = milliseconds
    },
    restore() {
      late = 0
      restore()
    },
    breakAt(message) {
      untilBreak = message
    },
    hasBroken: () => untilBreak <= 0
  }
}
