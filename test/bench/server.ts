import { totalmem } from 'node:os'
import postgres from 'postgres'
import { startServer } from '../support/postgres.js'
import { runCommand } from './contestants.js'
import { CLIENT, expiredToken, PASSWORD, revokedToken, type Sizes, sqlDigest, USERS, username } from './data.js'

/** A database for contestants. */
export interface Database {
  readonly url: string
  /** The first value of the first row that a query finds. */
  value(query: string): Promise<unknown>
  /** Ends what was done with it. A copy is dropped. */
  close(): Promise<void>
}

/** A durable PostgreSQL server. */
export interface Server {
  readonly version: string
  /** The database with these rows. It is made once, and everybody who asks for the same sizes shares it. */
  load(sizes: Sizes): Promise<Database>
  /** A copy of that database, to which nobody may be connected meanwhile. */
  copy(sizes: Sizes): Promise<Database>
  remove(): Promise<void>
}

/** `before` is another checkout whose service is to run on the databases as well. */
export const startDurableServer = async (before: string | undefined): Promise<Server> => {
  const server = await startServer()
  const connectTo = (database: string): { url: string; sql: postgres.Sql } => {
    const url = new URL(server.url)
    url.pathname = `/${database}`
    return { url: url.href, sql: postgres(url.href, { max: 1, onnotice: () => {} }) }
  }
  // fsync and synchronous_commit stay on. Only checkpoints are kept out of the timed runs, and the buffers have the size that
  // PostgreSQL's manual advises.
  const { sql: admin } = connectTo('postgres')
  const buffers = `${Math.floor(totalmem() / 2 ** 22)}MB`
  for (const setting of ["max_wal_size = '8GB'", "checkpoint_timeout = '1h'", `shared_buffers = '${buffers}'`]) {
    await admin.unsafe(`alter system set ${setting}`)
  }
  await server.stop()
  await server.start()

  const [row] = await admin<{ version: string }[]>`select current_setting('server_version') as version`
  const loaded = new Map<string, Promise<string>>()
  let made = 0

  const open = (name: string, isCopy: boolean): Database => {
    const { url, sql } = connectTo(name)
    return {
      url,
      value: async query => Object.values((await sql.unsafe(query))[0] ?? {})[0],
      async close() {
        await sql.end()
        if (isCopy) await admin.unsafe(`drop database ${name} with (force)`)
      }
    }
  }

  const loadOnce = (sizes: Sizes): Promise<string> => {
    const key = JSON.stringify(sizes)
    const earlier = loaded.get(key)
    if (earlier !== undefined) return earlier
    const name = `loaded_${made++}`
    const loading = admin.unsafe(`create database ${name} template template0`).then(async () => {
      const { url, sql } = connectTo(name)
      // An earlier version cannot read what a later one recorded, and a later one takes over what it finds.
      if (before !== undefined) await runCommand(url, ['migrate'], '', before)
      await fill(url, sql, sizes)
      await sql.end()
      return name
    })
    loaded.set(key, loading)
    return loading
  }

  return {
    version: row?.version ?? '',
    load: async sizes => open(await loadOnce(sizes), false),
    async copy(sizes) {
      const source = await loadOnce(sizes)
      const name = `copy_${made++}`
      await admin.unsafe(`create database ${name} template ${source} strategy file_copy`)
      await admin`checkpoint`
      return open(name, true)
    },
    async remove() {
      await admin.end({ timeout: 1 })
      await server.remove()
    }
  }
}

/** The schema, the client and a user come from the service's own commands, and the many rows from SQL. */
const fill = async (url: string, sql: postgres.Sql, sizes: Sizes): Promise<void> => {
  const client = ['client', 'add', CLIENT.id, '--confidential', '--secret-stdin']
  await runCommand(url, [...client, '--redirect-uri', 'https://bench.example/callback'], CLIENT.secret)
  await runCommand(url, ['user', 'add', username(1)], PASSWORD)
  await sql.unsafe(`
    insert into "user" (username, hashedpassword, salt)
    select 'user ' || i, hashedpassword, salt from "user", generate_series(2, ${USERS}) i`)
  await sql.unsafe(`
    insert into hero (id, name, name_lower) overriding system value
    select i, 'hero ' || i, 'hero ' || i from generate_series(1, ${sizes.heroes}) i`)
  await sql.unsafe(`select setval('hero_id_seq', ${sizes.heroes})`)
  await fillTokens(sql, revokedToken(sizes))
  await sql.unsafe(`
    update token set expirationdate = now() - interval '1 minute'
    where access_digest = ${sqlDigest('access', `${expiredToken(sizes)}`)}`)
  await sql.unsafe(`
    update "grant" set revoked_at = now() from token where token.grant_id = "grant".id
      and access_digest = ${sqlDigest('access', `${revokedToken(sizes)}`)}`)
  await sql.unsafe('vacuum analyze')
}

/** Each token has a grant of its own. Rows come in the order of their keys, and secondary indexes last: so millions load in minutes. */
const fillTokens = async (sql: postgres.Sql, count: number): Promise<void> => {
  const indexes = await sql<{ name: string; definition: string }[]>`
    select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
    where indrelid in ('token'::regclass, '"grant"'::regclass) and not indisprimary`
  // Foreign keys are not checked: to do so takes longer than to write the rows.
  await sql.unsafe("set session_replication_role = replica; set work_mem = '256MB'; set maintenance_work_mem = '512MB'")
  for (const { name } of indexes) await sql.unsafe(`drop index ${name}`)
  await sql.unsafe(`
    insert into "grant" (id, user_id, client_id, scopes, expires_at, sweep_at)
    select md5(i::text)::uuid, 1 + i % ${USERS}, '${CLIENT.id}', '{}', now() + interval '1 year', now() + interval '1 month'
    from generate_series(1, ${count}) i order by 1`)
  await sql.unsafe(`
    insert into token
      (access_digest, refresh_digest, grant_id, scopes, issuedate, expirationdate, refresh_expirationdate)
    select ${sqlDigest('access', 'i')}, ${sqlDigest('refresh', 'i')}, md5(i::text)::uuid, '{}',
      now(), now() + interval '1 month', now() + interval '1 month'
    from generate_series(1, ${count}) i order by 1`)
  for (const { definition } of indexes) await sql.unsafe(definition)
}
