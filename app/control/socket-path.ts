import { closeSync, existsSync, openSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Where the socket of a folder is, for as long as it is wanted. */
export interface SocketPath {
  readonly path: string
  release(): void
}

/** In bytes: macOS takes so many, Linux four more. */
const LONGEST = 103

/**
 * The path of the socket in the folder. Where that is too long for a socket, it leads through a descriptor of the
 * folder, as Linux has it. Undefined where neither is possible.
 */
export const openSocketPath = (folder: string, descriptors = '/proc/self/fd'): SocketPath | undefined => {
  const path = join(resolve(folder), 'socket')
  if (Buffer.byteLength(path) <= LONGEST) return { path, release: () => {} }
  if (!existsSync(descriptors)) return undefined
  const descriptor = openSync(folder, 'r')
  return { path: join(descriptors, String(descriptor), 'socket'), release: () => closeSync(descriptor) }
}
