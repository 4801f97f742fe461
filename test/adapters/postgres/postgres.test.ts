import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { getTableConfig } from 'drizzle-orm/pg-core'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import {
  EncryptionError,
  isRefusal,
  StatementError,
  translate,
  unavailable
} from '../../../adapters/postgres/connection/errors.js'
import { TYPES } from '../../../adapters/postgres/connection/postgres-js.js'
import { openServer } from '../../../adapters/postgres/database.js'
import { lockTables } from '../../../adapters/postgres/migrations.js'
import * as schema from '../../../adapters/postgres/schema.js'
import { DomainError } from '../../../core/errors.js'
import { defaultGrantTypes } from '../../../core/grant-types.js'
import {
  accessOf,
  at,
  authorize,
  grantTo,
  logIn,
  publicTokenUnder,
  register,
  somePassword,
  someSpend,
  tokenUnder
} from '../../contract/records.js'
import { migratedDatabase } from '../../support/databases.js'
import { createEarlierDatabase } from '../../support/earlier-database.js'
import { createDatabase, execute } from '../../support/postgres.js'

const SETTINGS = { pool: 2, prepare: true }
const UNAVAILABLE = { name: 'DomainError', code: 'unavailable', retryAfterSeconds: 1 }

/** An empty, migrated database, and a connection of the test's own to it. */
const open = async (t: Test, settings = SETTINGS) => {
  const url = await migratedDatabase(t)
  const database = await openServer(url, settings)
  t.teardown(() => database.close())
  const sql = postgres(url, { max: 2, onnotice: () => {} })
  t.teardown(() => sql.end())
  return { ...database, url, sql }
}

const lockedBy = async (sql: postgres.Sql, query: string): Promise<() => Promise<void>> => {
  const reserved = await sql.reserve()
  await reserved.unsafe('begin')
  await reserved.unsafe(query)
  return async () => {
    await reserved.unsafe('commit')
    reserved.release()
  }
}

/** Resolves when a statement of the database waits for a lock, with the process that runs it. */
const waiting = async (sql: postgres.Sql): Promise<number> => {
  for (;;) {
    const [row] = await sql`
      select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    if (row) return row.pid
    await sleep(5)
  }
}

t.test('an error that means that the database cannot be reached is unavailable, whatever reports it', async t => {
  const codes =
    'ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH ENOTFOUND EAI_AGAIN ENOENT ' +
    'CONNECTION_CLOSED CONNECTION_DESTROYED CONNECTION_ENDED CONNECT_TIMEOUT SASL_SIGNATURE_MISMATCH ' +
    'DEPTH_ZERO_SELF_SIGNED_CERT CERT_HAS_EXPIRED ERR_TLS_CERT_ALTNAME_INVALID ERR_OUT_OF_RANGE ' +
    '57P01 57P02 57P03 25P03 25P04 57014 55P03 08000 08006 53300 53100 28P01 3D000 25006 26000 0A000 40P01 40001'
  for (const code of codes.split(' ')) {
    const cause = Object.assign(new Error('why'), { code })
    t.match(translate(cause), { ...UNAVAILABLE, cause: { message: 'why', code } }, code)
  }
  for (const code of ['23505', '42P01', '22P02', 'MAX_PARAMETERS_EXCEEDED', 'ERR_INVALID_ARG_TYPE', undefined]) {
    const error = translate(Object.assign(new Error('why'), { code }))
    t.ok(error instanceof StatementError && error.code === code, `${code} is a bug`)
  }
  t.match(translate({ name: 'ErrnoError', errno: 44 }).message, /errno: 44/, 'an object that is not an Error is shown')
  const known = new DomainError('unavailable', 'known')
  t.equal(translate(known), known)
})

t.test('TLS that fails is a refusal, whatever the reason, unless the connection was lost', async t => {
  for (const code of ['INVALID_PURPOSE', 'ERROR_IN_CERT_NOT_AFTER_FIELD', 'EPROTO', 'ERR_TLS_CERT_ALTNAME_INVALID']) {
    t.ok(isRefusal(unavailable(new EncryptionError('why', code))), code)
  }
  for (const code of ['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE']) {
    t.notOk(isRefusal(unavailable(new EncryptionError('why', code))), code)
  }
})

t.test('an error contains neither the values nor the text of the statement', async t => {
  const { stores, sql } = await open(t)
  const secret = 'swordfish'
  const failing: (() => Promise<unknown>)[] = [
    () => stores.grants.revoke(secret, at(0)),
    () => stores.heroes.insert({ name: `${secret}\0` })
  ]
  await sql`alter table hero add constraint short check (length(name) < 6)`
  const hero = await stores.heroes.insert({ name: 'short' })
  failing.push(
    () => stores.heroes.insert({ name: secret }),
    () => stores.heroes.replace(hero?.id ?? 0, { name: secret })
  )
  await sql`drop table client cascade`
  failing.push(() => stores.clients.find(secret))
  for (const fail of failing) {
    const error: unknown = await fail().catch((error: unknown) => error)
    t.type(error, StatementError)
    t.notMatch(inspect(error, { showHidden: true, depth: Infinity }), new RegExp(`${secret}|insert into|select`))
  }
})

t.test('the token table has the columns issuedate and expirationdate', async t => {
  const { sql } = await open(t)
  const columns = await sql`
    select column_name, data_type from information_schema.columns
    where table_name = 'token' and column_name in ('issuedate', 'expirationdate') order by 1`
  t.strictSame(
    [...columns],
    [
      { column_name: 'expirationdate', data_type: 'timestamp with time zone' },
      { column_name: 'issuedate', data_type: 'timestamp with time zone' }
    ]
  )
})

t.test('the migrations make every index, check and reference of the schema', async t => {
  const { sql } = await open(t)
  const indexes = (await sql`select indexname from pg_indexes where schemaname = 'public'`).map(row => row.indexname)
  const constraints = (await sql`select conname from pg_constraint`).map(row => row.conname)
  for (const table of Object.values(schema)) {
    const { name, indexes: declared, checks, foreignKeys } = getTableConfig(table)
    t.strictSame(
      declared.map(({ config }) => config.name).filter(index => !indexes.includes(index)),
      [],
      `indexes of ${name}`
    )
    t.strictSame(
      [...checks.map(check => check.name), ...foreignKeys.map(key => key.getName())].filter(
        constraint => !constraints.includes(constraint)
      ),
      [],
      `constraints of ${name}`
    )
  }
})

t.test('a client of an earlier version keeps its redirect URI and the grants that it had', async t => {
  const { url, sql } = await createEarlierDatabase(t, 2)
  await sql`insert into client (id, redirect_uri, allowed_scopes, require_pkce) values
    ('one', 'https://one.example/', '{a}', true), ('none', null, '{}', false)`
  const { stores, migrate, close } = await openServer(url, SETTINGS)
  t.teardown(close)
  await migrate()
  t.strictSame(await stores.clients.find('one'), {
    id: 'one',
    secretDigest: undefined,
    previousSecret: undefined,
    redirectUris: ['https://one.example/'],
    allowedScopes: ['a'],
    grantTypes: [...defaultGrantTypes],
    name: undefined,
    requirePkce: true,
    requireState: true
  })
  t.strictSame((await stores.clients.find('none'))?.redirectUris, [])
})

for (const [first, second] of [
  ['client', 'grant'],
  ['grant', 'client']
]) {
  t.test(`a transaction that has locked ${first} goes on to ${second} while a migration waits for both`, async t => {
    const { url, sql } = await createEarlierDatabase(t, 1)
    const login = await sql.reserve()
    await login.unsafe(`begin; set local lock_timeout = 3000; lock table "${first}" in row share mode`)
    const { migrate, close } = await openServer(url, SETTINGS)
    t.teardown(close)
    const migrating = migrate()
    await waiting(sql)
    await login.unsafe(`lock table "${second}" in row exclusive mode; commit`)
    login.release()
    await migrating
    t.strictSame([...(await sql`select further_redirect_uris from client`)], [])
  })
}

t.test('while a migration waits for a long transaction, others read and write the table', async t => {
  const { url, sql } = await createEarlierDatabase(t, 1)
  const dump = await lockedBy(sql, 'lock table client in access share mode')
  const { migrate, close } = await openServer(url, SETTINGS)
  t.teardown(close)
  const migrating = migrate()
  const other = postgres(url, { max: 1, connection: { lock_timeout: 3000 } })
  t.teardown(() => other.end())
  for (const id of ['first', 'second']) {
    await waiting(sql)
    await other`insert into client (id, redirect_uri, allowed_scopes, require_pkce) values (${id}, null, '{}', true)`
  }
  await dump()
  await migrating
  t.equal((await sql`select further_redirect_uris from client`).length, 2)
})

t.test(
  'a migration gives up after five hundred attempts to lock, and at once when the attempt fails for another reason',
  async t => {
    for (const [code, attempts] of [
      ['57014', 500],
      ['42501', 1]
    ] as const) {
      const refused = new StatementError('refused', code)
      let tried = 0
      const run = async (text: string) => {
        if (text.startsWith('select tablename')) return [['hero']]
        if (!text.startsWith('lock table')) return []
        tried += 1
        throw refused
      }
      await t.rejects(lockTables(run, [{ statements: ['alter table "hero" add column a text'] }]), refused)
      t.equal(tried, attempts)
    }
  }
)

t.test('what an instance of an earlier version writes beside this one is honoured', async t => {
  const { stores, sql } = await open(t)
  const find = async () => {
    const { redirectUris, grantTypes } = (await stores.clients.find('app')) ?? {}
    return { redirectUris, grantTypes }
  }
  await sql`insert into client (id, redirect_uri, allowed_scopes, require_pkce) values ('app', 'a:', '{}', false)`
  t.strictSame(await find(), { redirectUris: ['a:'], grantTypes: [...defaultGrantTypes] })
  await stores.clients.update('app', { redirectUris: ['b:', 'c:'], grantTypes: ['password'] })
  const [row] = await sql`select redirect_uri from client`
  t.equal(row?.redirect_uri, 'b:', 'an earlier version has the first one')
  await sql`update client set redirect_uri = 'd:'`
  t.strictSame(await find(), { redirectUris: ['d:', 'c:'], grantTypes: ['password'] })
  await sql`update client set redirect_uri = null`
  t.strictSame(await find(), { redirectUris: [], grantTypes: ['password'] })
})

t.test('a token whose client is removed while it is being stored is not stored, with a user or without', async t => {
  const { stores, sql } = await open(t)
  for (const withUser of [true, false]) {
    const parties = await register(stores)
    const { user, client } = parties
    const token = publicTokenUnder(grantTo(parties, { userId: withUser ? user.id : undefined }))
    const commit = await lockedBy(sql, `delete from client where id = '${client.id}'`)
    const stored = stores.tokens.insert(token, withUser ? user.generation : undefined)
    await waiting(sql)
    await commit()
    t.equal(await stored, false)
  }
})

t.test('a grant that has neither code nor token is removed', async t => {
  const { stores, sql } = await open(t)
  const { user, client } = await register(stores)
  await sql`
    insert into "grant" (id, user_id, client_id, scopes, expires_at, sweep_at)
    select gen_random_uuid(), ${user.id}, ${client.id}, '{}', ${at(60)}, ${at(0)} from generate_series(1, 3)`
  t.equal(await stores.grants.removeExpired(at(1), 2), 2)
  t.equal(await stores.grants.removeExpired(at(1), 2), 1)
  t.equal(await stores.grants.removeExpired(at(1), 2), 0)
  t.strictSame([...(await sql`select from "grant"`)], [])
})

t.test('more nonces than one statement erases are all erased', async t => {
  const { stores, sql } = await open(t)
  const token = await logIn(stores, await register(stores))
  await sql`
    insert into token (access_digest, grant_id, scopes, issuedate, expirationdate, spent_at, nonce)
    select sha256(i::text::bytea), ${token.grant.id}, '{}', now(), now(), ${at(0)}, 'nonce'
    from generate_series(1, 5001) as i`
  t.equal(await stores.tokens.eraseNonces(at(1)), 5001)
})

t.test('a token that is locked does not keep other nonces from being erased', async t => {
  const { stores, sql } = await open(t)
  const parties = await register(stores)
  const spend = { ...someSpend(), at: at(0) }
  const tokens = [await logIn(stores, parties), await logIn(stores, parties)]
  for (const { refreshDigest, grant } of tokens) await stores.tokens.rotate(refreshDigest, spend, tokenUnder(grant))
  const unlock = await lockedBy(sql, 'select from token where nonce is not null limit 1 for update')
  t.equal(await stores.tokens.eraseNonces(at(1)), 1)
  await unlock()
  t.equal(await stores.tokens.eraseNonces(at(1)), 1)
})

t.test('a notice of the server is not printed', async t => {
  const { stores, sql } = await open(t)
  await sql.unsafe(`
    create function notify() returns trigger language plpgsql as $$ begin raise notice 'noise'; return new; end $$;
    create trigger noise before insert on hero for each row execute function notify()`)
  const printed = t.capture(console, 'log')
  t.ok(await stores.heroes.insert({ name: 'quiet' }))
  t.strictSame(printed(), [])
})

t.test('when several instances migrate an empty database at once, each migration is applied once', async t => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const instances = await Promise.all(Array.from({ length: 5 }, () => openServer(url, SETTINGS)))
  await Promise.all(instances.map(instance => instance.migrate()))
  await Promise.all(instances.map(instance => instance.migrate()))
  const sql = postgres(url, { max: 1 })
  const [row] = await sql`select count(*)::int4 from heroes_migration`
  t.equal(row?.count, readdirSync('drizzle').filter(name => name.endsWith('.sql')).length)
  for (const { stores } of instances) t.ok(await stores.heroes.insert({ name: randomUUID() }))
  await Promise.all([sql.end(), ...instances.map(instance => instance.close())])
})

t.test('the connection for look-ups is one of those that a process may open', async t => {
  const { stores, sql } = await open(t, { pool: 3, prepare: true })
  await Promise.all(Array.from({ length: 20 }, () => [stores.heroes.list({}), stores.heroes.find(1)]).flat())
  const activity = await sql`
    select from pg_stat_activity where application_name = 'heroes' and datname = current_database()`
  t.equal(activity.length, 3)
})

t.test('without prepared statements the stores work the same', async t => {
  const { stores, sql } = await open(t, { pool: 2, prepare: false })
  const parties = await register(stores)
  const token = await logIn(stores, parties, { scopes: ['a', 'b:c'] })
  t.strictSame(await stores.tokens.findByAccess(token.accessDigest), accessOf(token))
  const code = await authorize(stores, parties)
  t.strictSame(await stores.codes.find(code.digest), { ...code, spent: false, ended: false })
  const activity = await sql`
    select from pg_stat_activity where application_name = 'heroes' and datname = current_database()`
  t.ok(activity.length <= 2, 'look-ups share the pool')
})

t.test('settings of a database that change how values are written change no record', async t => {
  for (const prepare of [true, false]) {
    const { url, drop } = await createDatabase()
    t.teardown(drop)
    const name = new URL(url).pathname.slice(1)
    await execute(url, `alter database ${name} set bytea_output = 'escape'`)
    if (prepare) await execute(url, `alter database ${name} set array_nulls = off`)
    const database = await openServer(url, { pool: 2, prepare })
    t.teardown(() => database.close())
    await database.migrate()
    const { stores } = database
    const parties = await register(stores)
    t.strictSame(await stores.clients.find(parties.client.id), parties.client)
    const token = await logIn(stores, parties)
    t.strictSame(await stores.tokens.findByAccess(token.accessDigest), accessOf(token))
    const code = await authorize(stores, parties)
    t.strictSame(await stores.codes.find(code.digest), { ...code, spent: false, ended: false })
    // Without a refresh token the lists of a statement have nulls. A token that comes alone has no list.
    const lone = publicTokenUnder(grantTo(parties))
    const others = [1, 2, 3].map(() => publicTokenUnder(grantTo(parties)))
    const { generation } = parties.user
    await Promise.all([lone, ...others].map(token => stores.tokens.insert(token, generation)))
    t.strictSame(await stores.tokens.findByAccess(lone.accessDigest), accessOf(lone))
  }
})

t.test('bytes are read alike in either form of bytea_output', async t => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
  for (const form of ['hex', 'escape']) {
    const sql = postgres(url, { max: 1, types: TYPES, connection: { bytea_output: form } })
    t.teardown(() => sql.end())
    for (const bytes of [all, Buffer.from('\\x41'), Buffer.from('\\\\101'), Buffer.alloc(0)]) {
      const [row] = await sql`select ${bytes}::bytea as bytes`
      t.strictSame(row?.bytes, bytes, form)
    }
  }
})

t.test('the tables are made in the first schema of the search path', async t => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  await execute(url, 'create schema mine')
  await execute(url, `alter database ${new URL(url).pathname.slice(1)} set search_path = mine`)
  const database = await openServer(url, SETTINGS)
  t.teardown(() => database.close())
  await database.migrate()
  const parties = await register(database.stores)
  const token = await logIn(database.stores, parties)
  t.strictSame(await database.stores.tokens.findByAccess(token.accessDigest), accessOf(token))
  await database.check()
})

t.test('where the search path begins with the schema of the role and has none, that schema is made', async t => {
  for (const path of ['"$user",public', '$User,public']) {
    const { url, drop } = await createDatabase()
    t.teardown(drop)
    await execute(url, 'drop schema public')
    const database = await openServer(`${url}?options=${encodeURIComponent(`-c search_path=${path}`)}`, SETTINGS)
    t.teardown(() => database.close())
    await database.migrate()
    const sql = postgres(url, { max: 1 })
    t.teardown(() => sql.end())
    t.match(await sql`select current_schema() = current_user as its_own`, [{ its_own: true }], path)
  }
})

t.test('a call that PostgreSQL ends because of a deadlock is tried again', async t => {
  const { stores, sql, url } = await open(t)
  await sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} set deadlock_timeout = '50ms'`)
  const parties = await register(stores)
  const token = await logIn(stores, parties)
  const reserved = await sql.reserve()
  await reserved.unsafe('begin')
  // This side looks for a deadlock later than the other, so PostgreSQL ends the other.
  await reserved.unsafe("set local deadlock_timeout = '10s'")
  await reserved`select from "grant" where id = ${token.grant.id} for update`
  const revoked = stores.users.revoke(parties.user.username, at(0))
  await waiting(sql)
  await reserved`update "user" set salt = salt where id = ${parties.user.id}`
  await reserved.unsafe('commit')
  reserved.release()
  t.equal(await revoked, true)
  t.equal((await stores.users.find(parties.user.id))?.generation, 1, 'and counts once')
  t.equal(await stores.tokens.findByAccess(token.accessDigest), undefined)
})

t.test('a statement that takes too long is unavailable, and harms no other', async t => {
  const { stores, sql } = await open(t)
  const { user } = await register(stores)
  await sql.unsafe(`
    create function dawdle() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return new; end $$;
    create trigger slow before update on "user" for each row execute function dawdle()`)
  const rehash = () => stores.users.rehash(user.id, user.password, somePassword())
  // All statements but look-ups share a single connection.
  const [first, second, third] = [rehash(), rehash(), stores.heroes.insert({ name: 'too late' })]
  await Promise.all([
    t.rejects(first, { ...UNAVAILABLE, cause: { code: '57014' } }, 'the server ends it'),
    t.rejects(second, { ...UNAVAILABLE, cause: { message: /no answer/ } }, 'it began when the first was ended'),
    t.rejects(third, { ...UNAVAILABLE, cause: { message: /no (?:answer|connection)/ } }, 'it never got a connection')
  ])
  t.ok(await stores.heroes.insert({ name: 'in time' }), 'the connection serves on')
  const heroes = await stores.heroes.list({ nameContains: undefined, after: undefined, limit: undefined })
  t.strictSame(
    heroes.map(({ name }) => name),
    ['in time'],
    'a call that was answered before it began never begins'
  )
})

t.test('the work of an operator may take longer than the usual limits', async t => {
  const { stores, sql } = await open(t, { pool: 3, prepare: true })
  const { user, client } = await register(stores)
  const unlock = await lockedBy(sql, 'select from "user", client for update')
  const removed = Promise.all([stores.users.remove(user.username), stores.clients.remove(client.id)])
  await sleep(4500)
  await unlock()
  t.strictSame(await removed, [true, true])
})

t.test('hundreds of grants are ended or removed in pieces, and none is left', async t => {
  const { stores, sql } = await open(t)
  const { user, client } = await register(stores)
  const other = await register(stores)
  const kept = await logIn(stores, other)
  const grant = async (owner: typeof user, of: typeof client) => {
    await sql`
      with begun as (
        insert into "grant" (id, user_id, client_id, scopes, expires_at, sweep_at)
        select gen_random_uuid(), ${owner.id}, ${of.id}, '{}', ${at(60)}, ${at(60)} from generate_series(1, 450)
        returning id
      )
      insert into token (access_digest, grant_id, scopes, issuedate, expirationdate)
      select sha256(id::text::bytea), id, '{}', now(), now() from begun`
  }
  const count = async (condition: string) =>
    (await sql.unsafe(`select count(*)::int4 from "grant" where ${condition}`))[0]?.count

  await grant(user, other.client)
  t.equal(await stores.users.revoke(user.username, at(0)), true)
  t.equal(await count(`user_id = ${user.id} and revoked_at is null`), 0)
  t.equal(await count(`user_id = ${user.id}`), 450)
  t.equal(await stores.users.remove(user.username), true)
  t.equal(await count(`user_id = ${user.id}`), 0)

  // A locked grant is left to the last statement, which waits for it.
  await grant(other.user, client)
  const unlock = await lockedBy(sql, `select from "grant" where client_id = '${client.id}' limit 1 for key share`)
  const removed = stores.clients.remove(client.id)
  await waiting(sql)
  t.ok((await count(`client_id = '${client.id}'`)) < 200, 'the last go with the client')
  await unlock()
  t.equal(await removed, true)
  t.equal(await count(`client_id = '${client.id}'`), 0)
  t.ok(await stores.tokens.findByAccess(kept.accessDigest), 'grants of other clients stay')
})

t.test('thousands of spent tokens of a grant that lives on are removed in pieces', async t => {
  const { stores, sql } = await open(t)
  const now = at(31 * 86_400)
  const lives = { expiresAt: at(40 * 86_400), refreshExpiresAt: at(40 * 86_400) }
  const token = await logIn(stores, await register(stores), lives)
  await sql`
    insert into token (access_digest, refresh_digest, grant_id, scopes, issuedate, expirationdate, refresh_expirationdate, spent_at)
    select sha256(number::text::bytea), sha256(('r' || number)::bytea), ${token.grant.id}, '{}', ${at(0)}, ${at(1)}, ${at(2)}, ${at(1)}
    from generate_series(1, 2500) as number`
  await sql`update "grant" set sweep_at = ${at(2)}`
  let calls = 1
  while ((await stores.grants.removeExpired(now, 10)) >= 10) calls += 1
  t.equal(calls, 3)
  t.strictSame([...(await sql`select count(*)::int4 from token`)], [{ count: 1 }])
  t.ok(await stores.tokens.findByRefresh(token.refreshDigest))
})

t.test('a transaction whose connection is lost has no effect and is not tried again', async t => {
  const { stores, sql } = await open(t)
  const parties = await register(stores)
  const token = await logIn(stores, parties)
  const unlock = await lockedBy(sql, 'select from "grant" for update')
  const revoked = stores.users.revoke(parties.user.username, at(0))
  const pid = await waiting(sql)
  const refused = t.rejects(revoked, UNAVAILABLE)
  await sql`select pg_terminate_backend(${pid})`
  await refused
  await unlock()
  t.equal((await stores.users.find(parties.user.id))?.generation, 0)
  t.ok(await stores.tokens.findByAccess(token.accessDigest))
})
