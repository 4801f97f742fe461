// A run of suites with the folder SECRETS_FOLDER: each service without a log of its own logs at level debug into a file
// there, and each secret that a service works with is noted in another. test/long/at-first/secrets.test.ts searches the one for
// the other.

import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLog, type ProcessLog } from '../../app/serve/log.js'
import type { PasswordHasher, Secrets } from '../../core/index.js'

const folder = process.env.SECRETS_FOLDER
const lines: string[] = []
const noted = new Set<string>()

if (folder !== undefined) {
  process.on('exit', () => {
    appendFileSync(join(folder, 'log'), lines.join(''))
    appendFileSync(join(folder, 'secrets'), [...noted].map(secret => `${JSON.stringify(secret)}\n`).join(''))
  })
}

/** Undefined when secrets are not noted. */
export const wholeRunLog: ProcessLog | undefined =
  folder === undefined ? undefined : createLog('debug', { write: line => lines.push(line) })

interface Crypto {
  readonly passwords: PasswordHasher
  readonly secrets: Secrets
}

/** What notes every password, token, code and client's secret, and the hashes, salts and digests of them. */
export const noteSecrets = (crypto: Crypto): Crypto => {
  if (folder === undefined) return crypto
  const { passwords, secrets } = crypto
  const note = (...texts: readonly string[]): void => {
    for (const text of texts) noted.add(text)
  }
  return {
    passwords: {
      async hash(password, caller) {
        const made = await passwords.hash(password, caller)
        note(password, made.hash, made.salt)
        return made
      },
      verify(password, stored, caller) {
        note(password, ...(stored ? [stored.hash, stored.salt] : []))
        return passwords.verify(password, stored, caller)
      },
      async adopt(old) {
        const made = await passwords.adopt(old)
        note(old.hashedPassword, old.salt, made.hash, made.salt)
        return made
      }
    },
    secrets: {
      ...secrets,
      async random() {
        const text = await secrets.random()
        note(text)
        return text
      },
      async nonce() {
        const nonce = await secrets.nonce()
        note(nonce)
        return nonce
      },
      async digest(text) {
        const digest = await secrets.digest(text)
        note(text, digest)
        return digest
      },
      async successor(token, nonce) {
        const pair = await secrets.successor(token, nonce)
        note(pair.accessToken, pair.refreshToken)
        return pair
      }
    }
  }
}
