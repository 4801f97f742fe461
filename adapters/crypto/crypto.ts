import type { Clock, Ports } from '../../core/ports.js'
import { createPasswordHasher, type PasswordHasherOptions } from './argon2.js'
import { createSecrets } from './secrets.js'

export type { Argon2Parameters, PasswordHasherOptions } from './argon2.js'

export const createCrypto = (options?: PasswordHasherOptions): Pick<Ports, 'passwords' | 'secrets'> => ({
  passwords: createPasswordHasher(options),
  secrets: createSecrets()
})

export const systemClock: Clock = { now: () => new Date() }
