import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { type Database, openServer } from '../../../adapters/postgres/database.js'
import {
  accessOf,
  at,
  authorize,
  grantTo,
  ODD_TEXTS,
  publicTokenUnder,
  register,
  someDigest,
  someSpend,
  tokenUnder
} from '../../contract/records.js'
import { migratedDatabase } from '../../support/databases.js'
import { createDatabase, execute } from '../../support/postgres.js'

/** What every store keeps has to come back as it was, and as one instant: the essentials of the store's contract. */
const tryStores = async (t: Test, { stores }: Pick<Database, 'stores'>): Promise<void> => {
  const { heroes, users, clients, scopes, grants, codes, tokens, attempts } = stores
  const parties = await register(stores)
  const { user, client } = parties
  t.strictSame(await users.find(user.id), user)
  const changed = { redirectUris: ODD_TEXTS, allowedScopes: ODD_TEXTS, name: 'it\\s' }
  t.strictSame(await clients.update(client.id, changed), { ...client, ...changed })
  t.strictSame(await clients.find(client.id), { ...client, ...changed })
  const stored = await Promise.all(ODD_TEXTS.map(name => heroes.insert({ name })))
  t.strictSame(
    stored.map(hero => hero?.name),
    ODD_TEXTS
  )
  t.match(await heroes.list({ nameContains: 'back\\slash' }), [{ name: 'back\\slash' }])
  for (const text of ODD_TEXTS) await scopes.set({ name: text, text })
  for (const text of ODD_TEXTS) t.strictSame(await scopes.find(text), { name: text, text })

  const code = await authorize(stores, parties, { expiresAt: at(0.001) })
  t.strictSame(await codes.find(code.digest), { ...code, spent: false, ended: false })
  t.equal(await codes.redeem(code.digest, tokenUnder(code.grant)), true)
  const token = tokenUnder(grantTo(parties, { scopes: ODD_TEXTS }), { scopes: ODD_TEXTS, issuedAt: at(0.002) })
  t.equal(await tokens.insert(token, user.generation), true)
  t.strictSame(await tokens.findByAccess(token.accessDigest), accessOf(token))
  const spend = someSpend(1.001)
  const successor = tokenUnder(token.grant, { issuedAt: at(1.001) })
  t.equal(await tokens.rotate(token.refreshDigest, spend, successor), true)
  t.strictSame(await tokens.findByRefresh(token.refreshDigest), { ...token, spent: spend, ended: false })
  // Tokens without a refresh token that come together make lists with nulls.
  const lone = [1, 2, 3].map(() => publicTokenUnder(grantTo(parties)))
  await Promise.all(lone.map(token => tokens.insert(token, user.generation)))
  for (const token of lone) t.strictSame(await tokens.findByAccess(token.accessDigest), accessOf(token))
  t.match(await grants.listOpen(user.id, at(2), 10), { count: 5 })

  const key = someDigest()
  await attempts.take([{ key, most: 1 }], at(0.003), 60)
  t.match(await attempts.take([{ key, most: 1 }], at(1), 60), [{ key, endsAt: at(60.003), countedAt: at(0.003) }])
  await attempts.giveBack([key], undefined, { key, until: at(0.004) })
  t.strictSame(await attempts.findKnown(key), at(0.004))
  await grants.removeExpired(at(0.002), 1000)
  t.strictSame(await tokens.findByAccess(successor.accessDigest), accessOf(successor))
  t.equal(await grants.revoke(token.grant.id, at(2)), true)
}

const HOSTILE = {
  array_nulls: 'off',
  backslash_quote: 'on',
  bytea_output: 'escape',
  DateStyle: 'SQL, DMY',
  default_transaction_isolation: 'serializable',
  enable_indexscan: 'off',
  escape_string_warning: 'on',
  extra_float_digits: '-15',
  gin_fuzzy_search_limit: '1',
  IntervalStyle: 'sql_standard',
  lc_monetary: 'C',
  lc_numeric: 'C',
  lc_time: 'C',
  lock_timeout: '1',
  plan_cache_mode: 'force_custom_plan',
  quote_all_identifiers: 'on',
  row_security: 'off',
  search_path: '"$user", public, pg_temp',
  standard_conforming_strings: 'off',
  statement_timeout: '1',
  synchronous_commit: 'off',
  TimeZone: 'Australia/Lord_Howe',
  timezone_abbreviations: 'India',
  transform_null_equals: 'on',
  xmloption: 'document'
}

t.test("a role's own defaults change nothing that is stored, read or told of the server", async t => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const role = `role_${randomBytes(4).toString('hex')}`
  const settings = Object.entries(HOSTILE).map(([name, value]) => {
    const list = name === 'search_path' ? value : `'${value}'`
    return `alter role ${role} set ${name} = ${list}`
  })
  await execute(url, `create role ${role} superuser login password 'secret'; ${settings.join(';')}`)
  t.teardown(() => execute(url, `drop owned by ${role} cascade; drop role ${role}`))
  const address = new URL(url)
  address.username = role
  address.password = 'secret'
  const database = await openServer(address.href, { pool: 3, prepare: true })
  t.teardown(database.close)
  await database.migrate()
  await database.check()
  await tryStores(t, database)
  const sound = await openServer(url, { pool: 2, prepare: true })
  t.teardown(sound.close)
  const { sharedBufferBytes, connections } = await sound.inspect()
  t.match(await database.inspect(), { sharedBufferBytes, connections: { most: connections.most } })
  t.ok(Math.abs(database.clock?.offsetSeconds() ?? Number.NaN) < 2, 'the clocks are those of one machine')

  const sql = postgres(url, { max: 1 })
  t.teardown(() => sql.end())
  await sql`insert into hero (name, name_lower) select 'Storm ' || i, 'storm ' || i from generate_series(1, 5000) i`
  t.equal((await database.stores.heroes.list({ nameContains: 'storm' })).length, 5000)
})

t.test(
  'while columns have another type than the schema gives them, as amid a migration, every store works',
  async t => {
    const url = await migratedDatabase(t)
    const database = await openServer(url, { pool: 3, prepare: true })
    t.teardown(database.close)
    const { heroes } = database.stores
    const tryAgain = async (): Promise<void> => {
      for (const { id } of await heroes.list({})) await heroes.remove(id)
      await tryStores(t, database)
    }
    await tryAgain()
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    t.teardown(() => sql.end())
    const columns = await sql`
    select table_name as table, column_name as column, data_type as type from information_schema.columns
    where table_schema = 'public' and table_name <> 'heroes_migration' and data_type in ('text', 'ARRAY')`
    for (const { table, column, type } of columns) {
      await sql.unsafe(`alter table "${table}" alter "${column}" type varchar(300)${type === 'ARRAY' ? '[]' : ''}`)
    }
    t.ok(columns.length > 10)
    await tryAgain()
  }
)
