import { once } from 'node:events'
import { lstatSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { DomainError, type Events, type UseCases } from '../../core/index.js'
import { version } from '../version.js'
import { readFrames, sendFrame } from './frames.js'
import { type Call, METHODS, type Reply } from './protocol.js'
import { openSocketPath } from './socket-path.js'

/** In milliseconds. How long a call that is under way may take once the service ends. */
const LAST_CALL = 5000

/**
 * Takes calls of commands through a socket in the folder, which its owner alone can open. The caller has the folder for
 * itself. Resolves to what ends that: calls under way are answered before. Rejects where no socket can be made.
 */
export const listenForCommands = async (
  folder: string,
  createUseCases: (events: Events) => UseCases,
  events: Events,
  { lastCall = LAST_CALL, descriptors }: { readonly lastCall?: number; readonly descriptors?: string } = {}
): Promise<() => Promise<void>> => {
  const place = openSocketPath(folder, descriptors)
  if (place === undefined) throw new Error(`the path of the folder ${folder} is too long for a socket`)
  const connections = new Set<Connection>()
  const server = createServer(socket => {
    const connection = serveConnection(socket, createUseCases, events)
    connections.add(connection)
    socket.on('close', () => connections.delete(connection))
  })
  try {
    removeStale(place.path)
    await bind(server, place.path)
  } catch (error) {
    place.release()
    throw error
  }
  const end = async (): Promise<void> => {
    const closed = once(server, 'close')
    server.close()
    for (const { finish } of connections) finish()
    const cutOff = setTimeout(() => connections.forEach(({ socket }) => void socket.destroy()), lastCall)
    await closed
    clearTimeout(cutOff)
    place.release()
  }
  let ending: Promise<void> | undefined
  return () => {
    ending ??= end()
    return ending
  }
}

/** A service that was killed leaves its socket behind. Anything else of that name stays. */
const removeStale = (path: string): void => {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket()) rmSync(path)
}

const bind = async (server: Server, path: string): Promise<void> => {
  const listening = once(server, 'listening')
  // `listen` makes the socket before it returns, so that nobody else could ever open it.
  const before = process.umask(0o177)
  try {
    server.listen(path)
  } finally {
    process.umask(before)
  }
  await listening
  // What goes wrong with a single connection ends that connection alone.
  server.on('error', () => {})
}

interface Connection {
  readonly socket: Socket
  /** Ends the connection, after the answer to the call that is under way. */
  finish(): void
}

const serveConnection = (socket: Socket, createUseCases: (events: Events) => UseCases, events: Events): Connection => {
  let isBusy = false
  let isEnding = false
  const useCases = createUseCases({
    emit(event) {
      events.emit(event)
      reply({ event })
    }
  })
  const reply = (message: Reply<unknown>): void => {
    // The command may have been interrupted.
    if (socket.writable) sendFrame(socket, message)
  }
  const answer = async (): Promise<void> => {
    for await (const message of readFrames(socket)) {
      isBusy = true
      reply(await carryOut(useCases, message))
      isBusy = false
      if (isEnding) socket.end()
    }
  }
  socket.on('error', () => {})
  sendFrame(socket, { version })
  answer().catch(() => socket.destroy())
  return {
    socket,
    finish() {
      isEnding = true
      if (!isBusy) socket.destroy()
    }
  }
}

const carryOut = async (useCases: UseCases, message: unknown): Promise<Reply<unknown>> => {
  const { method, args }: Partial<Call> = Object(message)
  try {
    const known = METHODS.find(each => each === method)
    if (known === undefined) throw new Error('there is no such method')
    return { value: await Reflect.apply(useCases[known], undefined, [...Object(args)]) }
  } catch (error) {
    const { message, cause } = Object(error)
    const told = [message, Object(cause).message].filter(text => text !== undefined).join(': ')
    return error instanceof DomainError ? { refusal: { code: error.code, message: told } } : { failure: told }
  }
}
