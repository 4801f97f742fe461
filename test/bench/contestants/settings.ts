import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ContestantSettings, SETTINGS } from '../data.js'

export const readSettings = (): ContestantSettings => JSON.parse(process.env[SETTINGS] ?? '{}')

/** For the load generator, which cannot make them by itself. */
export const writeSecrets = (folder: string, file: string, secrets: readonly string[]): void =>
  writeFileSync(join(folder, file), secrets.map(secret => `${secret}\n`).join(''))

/** A profile of --cpu-prof is written at a process's own exit, not when a signal ends it. */
export const exitOnSignal = (): void => {
  process.on('SIGTERM', () => process.exit(0))
}
