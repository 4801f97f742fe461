import { type IncomingMessage, type RequestOptions, request } from 'node:http'
import { deserialize, serialize } from 'node:v8'
import { DomainError, type Events } from '../../core/index.js'
import { version } from '../version.js'
import {
  ADMINISTRATION,
  type Administration,
  type Answer,
  BACKUP,
  openSocketPath,
  readBody,
  VERSION_HEADER
} from './protocol.js'

/** The use cases of the service that runs on a folder. */
export interface RunningService {
  readonly useCases: Administration
  /** The whole database of the service as a tar. */
  backup(): Promise<AsyncIterable<Uint8Array>>
  close(): void
}

/** A service that is stopped with SIGSTOP accepts connections, and says nothing. */
const GREETING_MILLISECONDS = 10_000

/**
 * Finds the service that runs on the folder. What its use cases emit is emitted here as well. Undefined when nobody
 * listens there. Rejects when the service has another version, and when it says nothing for `patience` milliseconds.
 */
export const callService = async (
  folder: string,
  events: Events,
  patience = GREETING_MILLISECONDS,
  descriptors?: string
): Promise<RunningService | undefined> => {
  const place = openSocketPath(folder, descriptors)
  if (place === undefined) return undefined
  try {
    await requireVersion(place.path, patience)
  } catch (error) {
    place.release()
    if (isNobodyThere(error)) return undefined
    throw error
  }
  const call = async (name: string, args: readonly unknown[]): Promise<unknown> => {
    const options = { socketPath: place.path, method: 'POST', path: `/${name}` }
    const { body } = await exchange(options, serialize(args)).catch(() => {
      throw new Error('the service has ended, and may or may not have done this; try again')
    })
    const { events: emitted, outcome }: Answer = deserialize(body)
    for (const event of emitted) events.emit(event)
    if ('refusal' in outcome) throw new DomainError(outcome.refusal.code, outcome.refusal.message)
    if ('failure' in outcome) throw new Error(outcome.failure)
    return outcome.result
  }
  // `unknown[]`, as each use case has a type of its own. What it returns there is what its call returns here.
  const entries = ADMINISTRATION.map((name): unknown[] => [name, (...args: unknown[]) => call(name, args)])
  return {
    useCases: Object.fromEntries(entries),
    async backup() {
      const answer = await send({ socketPath: place.path, method: 'POST', path: BACKUP })
      if (answer.statusCode !== 200) throw new Error(String(await readBody(answer)))
      return answer
    },
    close: place.release
  }
}

const isNobodyThere = (error: unknown): boolean => Object(error).syscall === 'connect'

const requireVersion = async (socketPath: string, patience: number): Promise<void> => {
  const signal = AbortSignal.timeout(patience)
  const found = await exchange({ socketPath, signal }).catch((error: unknown) => {
    if (isNobodyThere(error)) throw error
    throw new Error('the service that runs does not answer: see whether it is stopped, or end it')
  })
  if (found.version === version) return
  throw new Error(`the service that runs is version ${found.version}, and this is ${version}: stop it first`)
}

/** One request on a connection of its own. Rejects when no whole answer comes. */
const exchange = async (options: RequestOptions, body?: Buffer): Promise<{ version: string; body: Buffer }> => {
  const answer = await send(options, body)
  return { version: String(answer.headers[VERSION_HEADER]), body: await readBody(answer) }
}

/** Resolves with an answer whose body has yet to come. */
const send = (options: RequestOptions, body?: Buffer): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request({ ...options, agent: false }, resolve)
      .on('error', reject)
      .end(body)
  })
