import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { DomainError, type Events } from '../../core/index.js'
import { version } from '../version.js'
import { readFrames, sendFrame } from './frames.js'
import type { Administration, Greeting, Method, Reply } from './protocol.js'
import { openSocketPath } from './socket-path.js'

/** The use cases of the service that runs on a folder. */
export interface RunningService {
  readonly useCases: Administration
  close(): void
}

/** A service that is stopped with SIGSTOP accepts connections, and says nothing. */
const GREETING_MILLISECONDS = 10_000

/**
 * Calls the service that runs on the folder. Its events are told here as well. Undefined when nobody listens there.
 * Rejects when the service has another version, and when it says nothing for `patience` milliseconds.
 */
export const callService = async (
  folder: string,
  events: Events,
  patience = GREETING_MILLISECONDS
): Promise<RunningService | undefined> => {
  const place = openSocketPath(folder)
  const socket = place && (await connect(place.path).finally(place.release))
  if (socket === undefined) return undefined
  // What goes wrong with the connection ends the iteration over its messages.
  socket.on('error', () => {})
  const messages = readFrames(socket)
  const next = async (otherwise: string) => {
    const { value } = await messages.next().catch(() => ({ value: undefined }))
    if (value === undefined) throw new Error(otherwise)
    return value
  }
  socket.setTimeout(patience, () => socket.destroy())
  const greeting: Greeting = await next('the service that runs does not answer: see whether it is stopped, or end it')
  socket.setTimeout(0)
  if (greeting.version !== version) {
    socket.destroy()
    throw new Error(`the service that runs is version ${greeting.version}, and this is ${version}: stop it first`)
  }
  const call = async <Result>(method: Method, args: readonly unknown[]): Promise<Result> => {
    sendFrame(socket, { method, args })
    for (;;) {
      const reply: Reply<Result> = await next('the service has ended, and may or may not have done this; try again')
      if ('event' in reply) events.emit(reply.event)
      else if ('refusal' in reply) throw new DomainError(reply.refusal.code, reply.refusal.message)
      else if ('failure' in reply) throw new Error(reply.failure)
      else return reply.value
    }
  }
  return { useCases: remoteUseCases(call), close: () => socket.destroy() }
}

/** Undefined when nobody listens. */
const connect = async (path: string): Promise<Socket | undefined> => {
  const socket = createConnection(path)
  try {
    await once(socket, 'connect')
    return socket
  } catch {
    return undefined
  }
}

type CallMethod = <Result>(method: Method, args: readonly unknown[]) => Promise<Result>

const remoteUseCases = (call: CallMethod): Administration => ({
  addClient: (...args) => call('addClient', args),
  changeClient: (...args) => call('changeClient', args),
  findClient: (...args) => call('findClient', args),
  heroPage: (...args) => call('heroPage', args),
  importHeroes: (...args) => call('importHeroes', args),
  importUsers: (...args) => call('importUsers', args),
  listClients: (...args) => call('listClients', args),
  listScopeTexts: (...args) => call('listScopeTexts', args),
  registerUser: (...args) => call('registerUser', args),
  removeClient: (...args) => call('removeClient', args),
  removeScopeText: (...args) => call('removeScopeText', args),
  removeUser: (...args) => call('removeUser', args),
  revokeUser: (...args) => call('revokeUser', args),
  rotateSecret: (...args) => call('rotateSecret', args),
  setPassword: (...args) => call('setPassword', args),
  setScopeText: (...args) => call('setScopeText', args),
  userPage: (...args) => call('userPage', args)
})
