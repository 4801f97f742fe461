import { once } from 'node:events'
import { lstatSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { deserialize, serialize } from 'node:v8'
import { DomainError, type Events, type SecurityEvent, type UseCases } from '../../core/index.js'
import { version } from '../version.js'
import { ADMINISTRATION, type Answer, BACKUP, openSocketPath, readBody, VERSION_HEADER } from './protocol.js'

/** How long a call that is under way may take once the service ends. */
const LAST_CALL_MILLISECONDS = 5000

/** What commands reach. */
export interface Reached {
  createUseCases(events: Events): UseCases
  /** The whole database as a tar. */
  readonly backup: (() => Promise<AsyncIterable<Uint8Array>>) | undefined
}

/**
 * Takes calls of commands through a socket in the folder, which its owner alone can open. The caller has the folder for
 * itself. Resolves to what ends that: calls under way are answered before. Rejects where no socket can be made.
 */
export const listenForCommands = async (
  folder: string,
  { createUseCases, backup }: Reached,
  events: Events,
  { lastCall = LAST_CALL_MILLISECONDS, descriptors }: { readonly lastCall?: number; readonly descriptors?: string } = {}
): Promise<() => Promise<void>> => {
  const place = openSocketPath(folder, descriptors)
  if (place === undefined) throw new Error(`the path of the folder ${folder} is too long for a socket`)
  const server = createServer((request, response) => {
    const answering =
      request.url === BACKUP && backup !== undefined
        ? answerBackup(response, backup)
        : answer(request, response, createUseCases, events)
    // A body that is none, is too long or is cut off.
    answering.catch(() => response.writeHead(400).end())
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
    const cutOff = setTimeout(() => server.closeAllConnections(), lastCall)
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
}

/** Answers a call, and a GET with the version alone. Rejects when the body holds no arguments. */
const answer = async (
  request: IncomingMessage,
  response: ServerResponse,
  createUseCases: (events: Events) => UseCases,
  events: Events
): Promise<void> => {
  response.setHeader(VERSION_HEADER, version)
  const called = ADMINISTRATION.find(name => request.url === `/${name}`)
  if (called === undefined || request.method !== 'POST') {
    response.writeHead(request.url === '/' ? 200 : 404).end()
    return
  }
  const emitted: SecurityEvent[] = []
  const useCases = createUseCases({
    emit(event) {
      events.emit(event)
      emitted.push(event)
    }
  })
  const args: unknown = deserialize(await readBody(request))
  if (!Array.isArray(args)) throw new TypeError('the body holds no arguments')
  const outcome = await carryOut(useCases[called], args)
  const whole: Answer = { events: emitted, outcome }
  response.end(serialize(whole))
}

/** Sends the tar. A caller that leaves meanwhile, and a service that ends, cut it off. */
const answerBackup = async (response: ServerResponse, backup: NonNullable<Reached['backup']>): Promise<void> => {
  const tar = await backup().catch((error: unknown) => void response.writeHead(503).end(messageOf(error)))
  if (tar) await pipeline(tar, response).catch(() => {})
}

const messageOf = (error: unknown): string => {
  const { message, cause } = Object(error)
  return [message, Object(cause).message].filter(text => text !== undefined).join(': ')
}

const carryOut = async (useCase: CallableFunction, args: readonly unknown[]): Promise<Answer['outcome']> => {
  try {
    return { result: await Reflect.apply(useCase, undefined, args) }
  } catch (error) {
    const message = messageOf(error)
    return error instanceof DomainError ? { refusal: { code: error.code, message } } : { failure: message }
  }
}
