import { rmSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { createPasswordHasher } from '../../adapters/crypto/argon2.js'
import { openServer } from '../../adapters/postgres/database.js'
import { type Server, startServer } from '../support/postgres.js'
import { PASSWORD, type Sizes } from './data.js'
import { type Execute, load } from './load.js'
import { cpuSeconds, familyOf, parentOf, reserveHugePages } from './machine.js'
import type { Options } from './options.js'

export interface Clone {
  readonly url: string
  readonly execute: Execute
  /** Runs a statement: the first value of its first row. */
  value(statement: string): Promise<unknown>
  drop(): Promise<void>
}

export interface Postgres {
  /** Says whether it has huge pages. */
  readonly version: string
  /** Makes a database with these rows: a copy of a database that is loaded once. `prepare` changes the database that is copied. */
  clone(sizes: Sizes, prepare?: Prepare): Promise<Clone>
  /** Drops the loaded database that is copied, to free its space on the disk. */
  forget(sizes: Sizes, prepare?: Prepare): Promise<void>
  /** The postmaster and its backends. */
  pids(): readonly number[]
  /** The processor time of the server since its start, in seconds. */
  cpu(): number
  remove(): Promise<void>
}

export interface Prepare {
  readonly name: string
  run(execute: Execute): Promise<void>
}

export const startPostgres = async ({ hugePages }: Pick<Options, 'hugePages'>): Promise<Postgres> => {
  const server = await startServer()
  // Commits stay durable. Only the checkpoints are kept out of the timed runs, and the buffers have the size and the pages
  // that the manual of PostgreSQL advises.
  await configure(server, [
    "max_wal_size = '8GB'",
    "checkpoint_timeout = '1h'",
    `shared_buffers = '${Math.floor(totalmem() / 2 ** 22)}MB'`,
    'huge_pages = off'
  ])
  if (hugePages) {
    reserveHugePages(await hugePagesFor(server))
    await configure(server, ['huge_pages = try'])
  }
  const admin = connect(server.url)
  const [row] = await admin<{ pid: number; version: string }[]>`
    select pg_backend_pid() as pid, current_setting('server_version')
      || case current_setting('huge_pages_status') when 'on' then ' with huge pages' else ' without huge pages' end as version`
  const postmaster = parentOf(row?.pid ?? 0) ?? 0
  const loaded = new Map<string, Promise<string>>()
  let made = 0

  const loadOnce = async (sizes: Sizes, prepare: Prepare | undefined): Promise<string> => {
    const name = `loaded_${made++}`
    await admin.unsafe(`create database ${name} template template0`)
    const url = urlOf(server.url, name)
    const database = await openServer(url, { pool: 1, prepare: true })
    await database.migrate()
    await database.close()
    const sql = connect(url)
    await sql`set work_mem = '256MB'`
    await sql`set maintenance_work_mem = '512MB'`
    const execute: Execute = statement => sql.unsafe(statement)
    // The rows are consistent, and to check ten million foreign keys takes longer than to write them.
    await sql`set session_replication_role = replica`
    await withoutIndexes(sql, sizes.tokens >= 1_000_000, async () => {
      await load(execute, sizes, await createPasswordHasher().hash(PASSWORD))
    })
    await prepare?.run(execute)
    await sql.end()
    return name
  }

  const keyOf = (sizes: Sizes, prepare: Prepare | undefined): string => JSON.stringify([sizes, prepare?.name])

  return {
    version: row?.version ?? '',

    async clone(sizes, prepare) {
      const key = keyOf(sizes, prepare)
      const source = loaded.get(key) ?? loadOnce(sizes, prepare)
      loaded.set(key, source)
      const name = `clone_${made++}`
      await admin.unsafe(`create database ${name} template ${await source} strategy file_copy`)
      await admin`checkpoint`
      const url = urlOf(server.url, name)
      const sql = connect(url)
      return {
        url,
        execute: statement => sql.unsafe(statement),
        value: async statement => Object.values((await sql.unsafe(statement))[0] ?? {})[0],
        async drop() {
          await sql.end()
          await admin.unsafe(`drop database ${name} with (force)`)
        }
      }
    },

    async forget(sizes, prepare) {
      const source = loaded.get(keyOf(sizes, prepare))
      loaded.delete(keyOf(sizes, prepare))
      if (source !== undefined) await admin.unsafe(`drop database ${await source} with (force)`)
    },

    pids: () => familyOf(postmaster),
    cpu: () => cpuSeconds(familyOf(postmaster)),

    async remove() {
      await admin.end({ timeout: 1 })
      await server.remove()
    }
  }
}

/** Makes a folder with an embedded database that holds the rows. */
export const loadEmbedded = async (folder: string, sizes: Sizes): Promise<void> => {
  rmSync(folder, { recursive: true, force: true })
  const { openEmbedded } = await import('../../adapters/postgres/database.js')
  const database = await openEmbedded(folder)
  await database.migrate()
  await database.close()
  const { PGlite } = await import('@electric-sql/pglite')
  const engine = await PGlite.create({ dataDir: join(folder, 'postgres') })
  const execute: Execute = statement => engine.exec(statement)
  await load(execute, sizes, await createPasswordHasher().hash(PASSWORD))
  await engine.close()
}

/** Changes settings of a server and starts it again. */
const configure = async ({ url, stop, start }: Server, settings: readonly string[]): Promise<void> => {
  const sql = connect(url)
  for (const setting of settings) await sql.unsafe(`alter system set ${setting}`)
  await sql.end()
  await stop()
  await start()
}

/** How many huge pages a server would need, as it is configured. */
const hugePagesFor = async ({ url }: Server): Promise<number> => {
  const sql = connect(url)
  const [row] = await sql<{ pages: number }[]>`
    select current_setting('shared_memory_size_in_huge_pages')::int4 as pages`
  await sql.end()
  return row?.pages ?? 0
}

const connect = (url: string): postgres.Sql => postgres(url, { max: 1, onnotice: () => {} })

const urlOf = (server: string, database: string): string => {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}

/** Loads without the secondary indexes and makes them afterwards, which is several times as fast for millions of rows. */
const withoutIndexes = async (sql: postgres.Sql, wanted: boolean, work: () => Promise<void>): Promise<void> => {
  if (!wanted) return work()
  const indexes = await sql<{ name: string; definition: string }[]>`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
    where indrelid in ('token'::regclass, '"grant"'::regclass) and not indisprimary`
  for (const { name } of indexes) await sql.unsafe(`drop index ${name}`)
  await work()
  for (const { definition } of indexes) await sql.unsafe(definition)
  await sql`vacuum analyze`
}
