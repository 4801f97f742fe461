import type { Clock, Secrets } from '../../core/ports.js'
import { type Argon2Hasher, createPasswordHasher, type PasswordHasherOptions } from './argon2.js'
import { createSecrets } from './secrets.js'

export type { Argon2Hasher, Argon2Parameters, PasswordHasherOptions } from './argon2.js'

/** The hasher of passwords and the maker of secrets that the core needs. */
export const createCrypto = (
  options?: PasswordHasherOptions
): { readonly passwords: Argon2Hasher; readonly secrets: Secrets } => ({
  passwords: createPasswordHasher(options),
  secrets: createSecrets()
})

/** The clock of this machine. */
export const systemClock: Clock = { now: () => new Date() }
