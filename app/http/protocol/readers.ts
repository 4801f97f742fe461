import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { READER_CHECK } from './limits.js'

/** Node's count of the bytes that it has not been able to hand to the system. Node's own timeout of sockets reads it too. */
type Queue = { readonly _handle?: { readonly writeQueueSize?: number } | null }

/** How far a client had read when it was last seen to read. */
interface Progress {
  readonly written: number
  readonly queued: number | undefined
  /** In milliseconds, on the clock of `performance.now()`. */
  readonly at: number
}

/**
 * Resets every connection whose client has taken none of what it was sent for `milliseconds`, or at most a tenth of them
 * longer. One timer looks at all connections: a timer for each answer would cost every read something.
 */
export const cutOffReaders = (server: Server, milliseconds: number): void => {
  const open = new Set<Socket>()
  /** The connections with bytes that the system had not taken at the last check. */
  let unread = new Map<Socket, Progress>()

  const check = (): void => {
    const at = performance.now()
    const before = unread
    unread = new Map()
    for (const socket of open) {
      if (socket.writableLength === 0) continue
      const progress = progressOf(socket, at, before.get(socket))
      if (at - progress.at < milliseconds) unread.set(socket, progress)
      else socket.resetAndDestroy()
    }
  }

  server.on('connection', socket => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  server.on('listening', () => {
    const timer = setInterval(check, milliseconds * READER_CHECK).unref()
    server.once('close', () => clearInterval(timer))
  })
}

const progressOf = (socket: Socket & Queue, at: number, last: Progress | undefined): Progress => {
  const written = socket.bytesWritten
  const queued = socket._handle?.writeQueueSize
  return last !== undefined && last.written === written && last.queued === queued ? last : { written, queued, at }
}
