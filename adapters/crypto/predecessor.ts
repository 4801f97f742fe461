import { pbkdf2 } from 'node:crypto'
import { promisify } from 'node:util'
import type { PasswordHash } from '../../core/model.js'

/** A hash of what the predecessor stored, and the salt that leads from the password to it. */
interface Adopted {
  readonly salt: string
  /** Takes the predecessor's hash in place of the password. */
  readonly inner: string
}

const ROUNDS = 1000
const BYTES = 32
const PREFIX = '$pbkdf2-sha256-argon2id$'

/** The hash that the predecessor stored for the password: 32 bytes in base64. */
export const hashAsPredecessor = async (password: string, salt: string): Promise<string> =>
  (await derive(password, salt, ROUNDS, BYTES, 'sha256')).toString('base64')

const derive = promisify(pbkdf2)

/** The text that is stored: the predecessor's salt in base64url, then the hash of its hash. */
export const joinAdopted = ({ salt, inner }: Adopted): string =>
  `${PREFIX}${Buffer.from(salt).toString('base64url')}${inner}`

/** Undefined for a hash that has nothing of the predecessor. */
export const splitAdopted = ({ hash }: PasswordHash): Adopted | undefined => {
  if (!hash.startsWith(PREFIX)) return undefined
  const end = hash.indexOf('$', PREFIX.length)
  return { salt: Buffer.from(hash.slice(PREFIX.length, end), 'base64url').toString(), inner: hash.slice(end) }
}
