import { closeSync, existsSync, openSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ErrorCode, SecurityEvent, UseCases } from '../../core/index.js'

// A call of a command to a running service: POST /USE-CASE over a socket in DATA_DIR, with the arguments in its body. Bodies
// are what node:v8 makes of values: JSON has neither the dates nor the `undefined` that use cases take and return.

/** The use cases of the command line. The service answers calls of these and of no other. */
export const ADMINISTRATION = [
  'addClient',
  'changeClient',
  'findClient',
  'heroPage',
  'importHeroes',
  'importUsers',
  'listClients',
  'listScopeTexts',
  'registerUser',
  'removeClient',
  'removeScopeText',
  'removeUser',
  'revokeUser',
  'rotateSecret',
  'setPassword',
  'setScopeText',
  'userPage'
] as const

/** The path under which the service gives the whole database as a tar, in place of what node:v8 makes. */
export const BACKUP = '/backup'

/** What an operator may do. */
export type Administration = Pick<UseCases, (typeof ADMINISTRATION)[number]>

/** What came of a call, and what happened meanwhile. */
export interface Answer {
  readonly events: readonly SecurityEvent[]
  readonly outcome:
    | { readonly result: unknown }
    | { readonly refusal: { readonly code: ErrorCode; readonly message: string } }
    | { readonly failure: string }
}

/** The header of an answer that says which version runs. Another one may understand calls in another way. */
export const VERSION_HEADER = 'heroes-version'

/** In bytes. A batch of an import is the longest body by far, and has less. */
const LONGEST_BODY = 134_217_728

/** The body of a request or an answer. Rejects when it is cut off or too long. */
export const readBody = async (message: AsyncIterable<Buffer>): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of message) {
    length += chunk.length
    if (length > LONGEST_BODY) throw new Error('the message is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Where the socket of a folder is, for as long as it is wanted. */
interface SocketPath {
  readonly path: string
  release(): void
}

/** In bytes: macOS takes so many, Linux four more. */
const LONGEST_PATH = 103

/**
 * The path of the socket in the folder. Where that is too long for a socket, it leads through a descriptor of the
 * folder, as Linux has it. Undefined where neither is possible.
 */
export const openSocketPath = (folder: string, descriptors = '/proc/self/fd'): SocketPath | undefined => {
  const path = join(resolve(folder), 'socket')
  if (Buffer.byteLength(path) <= LONGEST_PATH) return { path, release: () => {} }
  if (!existsSync(descriptors)) return undefined
  const descriptor = openSync(folder, 'r')
  return { path: join(descriptors, String(descriptor), 'socket'), release: () => closeSync(descriptor) }
}
