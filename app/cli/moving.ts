import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { readFile, rename, rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip, gunzip } from 'node:zlib'
import { Option } from 'commander'
import { copyDatabase, restoreDatabase } from '../compose.js'
import { databaseUrl } from '../settings/database-url.js'
import type { LastingDatabase } from '../settings/settings.js'
import { backUp, lastingSettings, NOT_EMBEDDED, requireDatabase } from './administer.js'
import type { CommandContext, CommandEntry, JsonOption } from './command.js'
import { toTable } from './printable.js'
import { readHidden, UsageError } from './terminal.js'

export const movingCommands = ({ env, terminal, status, print }: CommandContext): readonly CommandEntry[] => [
  {
    words: 'backup <file>',
    description: 'saves the whole embedded database in a file, also while the service runs',
    example: 'backup heroes.tar',
    action: async (file: string, options: JsonOption) => {
      // A device or a pipe would be replaced by a file.
      const found = await stat(file).catch(() => undefined)
      if (found?.isFile() === false) throw new Error(`${file} is no regular file: a backup replaces none`)
      await backUp(env, status, tar => save(tar, file))
      const { size } = await stat(file)
      await print(options, [{ file, bytes: size }, [`The database is saved in ${file}, ${size} bytes.`]])
    }
  },
  {
    words: 'restore <file>',
    description: 'makes the embedded database of a backup, where there is none',
    example: 'restore heroes.tar',
    action: async (file: string, options: JsonOption) => {
      const { database } = lastingSettings(env)
      if (database.kind === 'server') throw new Error(NOT_EMBEDDED)
      const { folder } = database
      await restoreDatabase(folder, new Blob([await readBackup(file)]))
      const advice =
        'Whoever was revoked since the backup is not any more: `npx heroes user revoke --all` ends all logins.'
      await print(options, [{ folder }, [`The database of ${file} is in ${folder}.`, advice]])
    }
  },
  {
    words: 'copy <target>',
    description: 'copies everything into an empty database: a postgres:// URL or a folder; - reads which from stdin',
    example: 'copy - < target.txt',
    options: [new Option('--again', 'empty a target whose copy is not whole, and begin anew')],
    action: async (given: string, options: JsonOption & { readonly again?: true }) => {
      const settings = lastingSettings(env)
      const target = toTarget(given === '-' ? await readHidden(terminal, 'Target') : given)
      await requireDatabase(settings)
      const copied = await copyDatabase(settings, target, {
        again: options.again === true,
        onBatch: ({ table, rows }) => status.show(() => `${table}: ${rows}`)
      }).finally(status.clear)
      const lines = copied.map(({ table, rows }) => [table, String(rows)])
      const counts = Object.fromEntries(copied.map(({ table, rows }) => [table, rows]))
      await print(options, [counts, toTable(['COPIED', 'ROWS'], lines, '')])
    }
  }
]

/** Writes the tar, compressed, for the owner alone. A file of that name is replaced once the new one is whole. */
const save = async (tar: AsyncIterable<Uint8Array>, file: string): Promise<void> => {
  // Another backup to the same file may be under way.
  const part = `${file}.${randomUUID()}.part`
  try {
    await pipeline(tar, createGzip(), createWriteStream(part, { flags: 'wx', mode: 0o600, flush: true }))
    await rename(part, file)
  } catch (error) {
    await rm(part, { force: true }).catch(() => {})
    throw new Error(`the backup is not whole, and ${file} is as it was: ${Object(error).message}`)
  }
}

/** The end of the name of a file that each database has. */
const CONTROL_FILE = 'global/pg_control\0'

/** The tar in the file. */
const readBackup = async (file: string): Promise<Buffer<ArrayBuffer>> => {
  try {
    const tar = await promisify(gunzip)(await readFile(file))
    if (tar.includes(CONTROL_FILE)) return tar
    throw new Error('it holds no database')
  } catch (error) {
    throw new Error(`${file} cannot be restored: ${Object(error).message}`)
  }
}

/** Throws {@link UsageError}. Nothing of the target is repeated, as it may be a password. */
const toTarget = (given: string): LastingDatabase => {
  const text = given.trim()
  try {
    const target = /^postgres(?:ql)?:\/\//.test(text) ? databaseUrl(text) : text
    if (typeof target !== 'string') return { kind: 'server', ...target, pool: 1, prepare: true }
    // A letter before the colon is a drive on Windows.
    if (target === '' || /^\w{2,}:/.test(target)) throw new Error('must be a postgres:// URL or a folder')
    return { kind: 'embedded', folder: target }
  } catch (error) {
    throw new UsageError(`TARGET ${Object(error).message}`)
  }
}
