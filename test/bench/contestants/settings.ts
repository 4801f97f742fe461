import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ContestantSettings, SETTINGS } from '../data.js'

export const readSettings = (): ContestantSettings => JSON.parse(process.env[SETTINGS] ?? '{}')

/** Writes secrets for the load generator, which cannot make them itself. */
export const writeSecrets = (folder: string, file: string, secrets: readonly string[]): void =>
  writeFileSync(join(folder, file), secrets.map(secret => `${secret}\n`).join(''))

/** Ends the process by itself on SIGTERM. Otherwise --cpu-prof would write no profile. */
export const exitOnSignal = (): void => {
  process.on('SIGTERM', () => process.exit(0))
}
