import postgres from 'postgres'
import t from 'tap'
import { createAttemptStore } from '../../../adapters/postgres/attempts.js'
import { createClientStore } from '../../../adapters/postgres/clients.js'
import { createCodeStore } from '../../../adapters/postgres/codes.js'
import type { Driver, Run } from '../../../adapters/postgres/connection/driver.js'
import { PLANNING } from '../../../adapters/postgres/connection/planning.js'
import { connectServer } from '../../../adapters/postgres/connection/server.js'
import { createGrantStore } from '../../../adapters/postgres/grants.js'
import { createHeroStore } from '../../../adapters/postgres/heroes.js'
import { createLookups } from '../../../adapters/postgres/lookups.js'
import { createScopeStore } from '../../../adapters/postgres/scopes.js'
import { createTokenStore } from '../../../adapters/postgres/tokens.js'
import { createUserStore } from '../../../adapters/postgres/users.js'
import {
  at,
  authorize,
  clientWith,
  grantTo,
  logIn,
  publicTokenUnder,
  register,
  someDigest,
  somePassword,
  someSpend,
  tokenUnder
} from '../../contract/records.js'
import { migratedDatabase } from '../../support/databases.js'
import { createDatabase } from '../../support/postgres.js'

const ROWS = 20_000
const SETTINGS = { pool: 2, prepare: true }

/** As many rows in every table. Housekeeping has to remove one in a hundred. */
const LOAD = `
insert into hero (name, name_lower) select 'hero ' || i, 'hero ' || i from generate_series(1, ${ROWS}) i;
insert into "user" (username, hashedpassword, salt) select 'user ' || i, '', '' from generate_series(1, ${ROWS}) i;
insert into client (id, allowed_scopes, require_pkce) select 'client ' || i, '{}', false from generate_series(1, ${ROWS}) i;
insert into scope (name, text) select 'scope' || i, 'words' from generate_series(1, ${ROWS}) i;
insert into "grant" (id, user_id, client_id, scopes, expires_at, sweep_at)
  select md5(i::text)::uuid, i, 'client ' || i, '{}', now(), now() + i % 100 * interval '1 day' from generate_series(1, ${ROWS}) i;
insert into token (access_digest, refresh_digest, grant_id, scopes, issuedate, expirationdate, spent_at, nonce)
  select sha256(('a' || i)::bytea), sha256(('r' || i)::bytea), md5(i::text)::uuid, '{}', now(), now(),
    case when i % 100 = 0 then now() end, case when i % 100 = 0 then sha256(('n' || i)::bytea) end
  from generate_series(1, ${ROWS}) i;
insert into code (digest, grant_id, issuedate, expirationdate)
  select sha256(('c' || i)::bytea), md5(i::text)::uuid, now(), now() from generate_series(1, ${ROWS}) i;
insert into attempt (key, count, ends_at)
  select sha256(i::text::bytea), 1, now() + i % 100 * interval '1 day' from generate_series(1, ${ROWS}) i;
insert into known_login (key, known_until)
  select sha256(i::text::bytea), now() + i % 100 * interval '1 day' from generate_series(1, ${ROWS}) i;
`

const PLANNED = Object.entries(PLANNING)
  .map(([setting, value]) => `set ${setting} = ${value};`)
  .join(' ')

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Recheck Cond'?: string
  readonly 'TID Cond'?: string
  readonly Plans?: readonly Plan[]
}

/** The tables that the plan reads whole, by a sequential scan or all along an index. */
const wholeReads = (plan: Plan): string[] => {
  const table = plan['Relation Name']
  const bounded = (plan['Index Cond'] ?? plan['Recheck Cond'] ?? plan['TID Cond']) !== undefined
  const whole = /Scan/.test(plan['Node Type']) && table !== undefined && !bounded ? [table] : []
  return [...whole, ...(plan.Plans ?? []).flatMap(wholeReads)]
}

t.test('every connection plans a statement once for all values', async t => {
  const { url, drop } = await createDatabase()
  const driver = connectServer(url, SETTINGS)
  t.teardown(async () => {
    await driver.close()
    await drop()
  })
  for (const run of [driver.lookUp, driver.query, driver.probe]) {
    t.same(await run('show plan_cache_mode', []), [['force_generic_plan']])
  }
})

t.test('no statement reads a table whole, except the lists of clients and of scopes', async t => {
  const url = await migratedDatabase(t)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  await sql.unsafe('set session_replication_role = replica')
  await sql.unsafe(LOAD)
  await sql.unsafe('set session_replication_role = origin')
  await sql.unsafe('vacuum analyze')

  /** The statements by the store's method that runs them. */
  const statements = new Map<string, Set<string>>()
  let method = ''
  const noting =
    (run: Run): Run =>
    (text, values) => {
      statements.set(method, (statements.get(method) ?? new Set<string>()).add(text))
      return run(text, values)
    }
  const driver = connectServer(url, SETTINGS)
  t.teardown(() => driver.close())
  const noted: Driver = {
    ...driver,
    lookUp: noting(driver.lookUp),
    query: noting(driver.query),
    probe: driver.probe,
    transaction: (transaction, work) => driver.transaction(transaction, run => work(noting(run))),
    close: driver.close
  }
  const lookups = createLookups(noted)
  const heroes = createHeroStore(noted, lookups)
  const users = createUserStore(noted, lookups)
  const clients = createClientStore(noted, lookups)
  const scopes = createScopeStore(noted, lookups)
  const grants = createGrantStore(noted, lookups)
  const codes = createCodeStore(noted, lookups)
  const tokens = createTokenStore(noted, lookups)
  const attempts = createAttemptStore(noted, lookups)

  const stores = { heroes, users, clients, scopes, grants, codes, tokens, attempts }
  method = 'inserts'
  const parties = await register(stores)
  const token = await logIn(stores, parties)
  const [code, burnt] = [await authorize(stores, parties), await authorize(stores, parties)]
  await tokens.insert(publicTokenUnder(grantTo(parties, { userId: undefined })), undefined)
  const { user, client } = parties
  const { refreshDigest, accessDigest, grant } = token

  const methods: Readonly<Record<string, () => Promise<unknown>>> = {
    'heroes.find': () => heroes.find(1),
    'heroes.find of several': () => Promise.all([heroes.find(1), heroes.find(2)]),
    'heroes.list': () => heroes.list({ nameContains: undefined, after: undefined, limit: undefined }),
    'heroes.list of a page': () => heroes.list({ nameContains: undefined, after: undefined, limit: 100 }),
    'heroes.insert': () => heroes.insert({ name: 'a new hero' }),
    'heroes.replace': () => heroes.replace(1, { name: 'a new name' }),
    'heroes.remove': () => heroes.remove(1),
    'users.find': () => users.find(user.id),
    'users.findByUsername': () => users.findByUsername(user.username),
    'users.list': () => users.list({}),
    'users.rehash': () => users.rehash(user.id, user.password, somePassword()),
    'users.setPassword': () => users.setPassword('user 1', somePassword(), at(0)),
    'users.revoke': () => users.revoke('user 2', at(0)),
    'users.remove': () => users.remove('user 3'),
    'clients.find': () => clients.find(client.id),
    'clients.insert': () => clients.insert(clientWith()),
    'clients.list': () => clients.list(),
    'clients.update': () => clients.update(client.id, { name: 'new' }),
    'clients.rotateSecret': () => clients.rotateSecret(client.id, someDigest(), at(0)),
    'clients.remove': () => clients.remove('client 4'),
    'scopes.set': () => scopes.set({ name: 'scope1', text: 'new words' }),
    'scopes.find': () => scopes.find('scope1'),
    'scopes.list': () => scopes.list(),
    'scopes.remove': () => scopes.remove('scope2'),
    'codes.find': () => codes.find(code.digest),
    'codes.redeem': () => codes.redeem(code.digest, tokenUnder(code.grant)),
    'codes.burn': () => codes.burn(burnt.digest),
    'tokens.findByAccess': () => tokens.findByAccess(accessDigest),
    'tokens.findByAccess of several': () => Promise.all([tokens.findByAccess(accessDigest), tokens.findByAccess('')]),
    'tokens.findByAccess with heroes.find': () => Promise.all([tokens.findByAccess(accessDigest), heroes.find(2)]),
    'tokens.findByAccess with several of heroes.find': () =>
      Promise.all([tokens.findByAccess(accessDigest), heroes.find(1), heroes.find(2)]),
    'grants.find': () => grants.find(grant.id),
    'grants.listOpen': () => grants.listOpen(user.id, at(0), 10),
    'tokens.findByRefresh': () => tokens.findByRefresh(refreshDigest),
    'tokens.rotate': () => tokens.rotate(refreshDigest, someSpend(), tokenUnder(grant)),
    'tokens.revokeAccess': () => tokens.revokeAccess(accessDigest, at(0)),
    'grants.revoke': () => grants.revoke(grant.id, at(0)),
    'tokens.eraseNonces': () => tokens.eraseNonces(new Date()),
    'grants.removeExpired': () => grants.removeExpired(new Date(), 1000),
    'attempts.take': () => attempts.take([{ key: someDigest(), most: 1 }], at(0), 60),
    'attempts.fail': () => attempts.fail([someDigest()]),
    'attempts.giveBack': () => attempts.giveBack([someDigest()], someDigest()),
    'attempts.giveBack with a known login': () =>
      attempts.giveBack([someDigest()], someDigest(), { key: someDigest(), until: at(0) }),
    'attempts.findKnown': () => attempts.findKnown(someDigest()),
    'attempts.removeExpired': () => attempts.removeExpired(new Date(), 1000)
  }
  for (const [name, call] of Object.entries(methods)) {
    method = name
    t.ok((await call()) !== false, name)
  }
  for (const [name, store] of Object.entries(stores)) {
    for (const each of Object.keys(store)) {
      t.ok(methods[`${name}.${each}`] || each.startsWith('insert'), `${name}.${each} is looked at`)
    }
  }

  await sql.unsafe(PLANNED)
  const explain = async (text: string): Promise<string[]> => {
    const count = Math.max(0, ...Array.from(text.matchAll(/\$(\d+)/g), ([, number]) => Number(number)))
    const values = count === 0 ? '' : `(${Array(count).fill('null').join()})`
    await sql.unsafe(`prepare asked as ${text}`)
    const [row] = await sql.unsafe(`explain (format json) execute asked${values}`)
    await sql.unsafe('deallocate asked')
    return wholeReads(row?.['QUERY PLAN'][0].Plan)
  }
  const found = new Map<string, string[]>()
  for (const [name, texts] of statements) {
    for (const text of texts) {
      const whole = await explain(text)
      if (whole.length > 0) found.set(name, whole)
    }
  }
  t.strictSame(
    found,
    new Map([
      ['clients.list', ['client']],
      ['scopes.list', ['scope']]
    ])
  )
})
