import postgres from 'postgres'
import t, { type Test } from 'tap'
import { connectServer } from '../../../adapters/postgres/connection/server.js'
import { openServer } from '../../../adapters/postgres/database.js'
import type { Grant } from '../../../core/index.js'
import { at, grantTo, logIn, register, someSpend, tokenUnder } from '../../contract/records.js'
import { migratedDatabase } from '../../support/databases.js'

// Rows that others have written hold what the service never writes.

const SETTINGS = { pool: 2, prepare: true }

const openStores = async (t: Test) => {
  const url = await migratedDatabase(t)
  const { stores, close } = await openServer(url, SETTINGS)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(async () => {
    await sql.end()
    await close()
  })
  return { ...stores, stores, sql }
}

t.test(
  'an instant that no Date has, or has in a form of its own, is the first or the last one that is taken',
  async t => {
    const SELECT = `select ${['-infinity', '0044-03-15 BC', '12000-01-01Z', '294276-01-01', 'infinity']
      .map(text => `'${text}'::timestamptz`)
      .join()}`
    const [first, last] = ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z']
    const { query, close } = connectServer(await migratedDatabase(t), SETTINGS)
    t.teardown(close)
    const [row = []] = await query(SELECT, [])
    t.strictSame(
      row.map(value => (value instanceof Date ? value.toISOString() : value)),
      [first, first, last, last, last]
    )
    t.same(await query('select $1::timestamptz, null::timestamptz', [at(1)]), [[at(1), null]])
  }
)

/** No token outlives its grant. */
const lasting = (grant: Grant) => tokenUnder(grant, { refreshExpiresAt: grant.expiresAt })

t.test('a grant that never expires fails no refresh of others that travels with it', async t => {
  const { stores, tokens, sql } = await openStores(t)
  const { user, client } = await register(stores)
  const begun = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const token = tokenUnder(grantTo({ user, client }))
      await tokens.insert(token, user.generation)
      return token
    })
  )
  await sql`update "grant" set expires_at = 'infinity' where id = ${String(begun[2]?.grant.id)}`
  const found = await Promise.all(begun.map(({ refreshDigest }) => tokens.findByRefresh(refreshDigest)))
  const rotated = await Promise.all(
    found.map(async token => token && tokens.rotate(String(token.refreshDigest), someSpend(1), lasting(token.grant)))
  )
  t.strictSame(rotated, [true, true, true, true, true])
})

t.test('a list with bounds of its own, and with nulls, is read as its texts', async t => {
  const { stores, clients, sql } = await openStores(t)
  const { client } = await register(stores)
  for (const [literal, texts] of [
    ['[0:1]={a,b}', ['a', 'b']],
    ['{a,NULL,"NULL",null}', ['a', 'NULL']],
    ['[5:6]={NULL,"x,\\"y"}', ['x,"y']],
    ['{NULL}', []],
    ['{}', []]
  ] as const) {
    await sql.unsafe('update client set allowed_scopes = $1::text[] where id = $2', [literal, client.id])
    t.strictSame((await clients.find(client.id))?.allowedScopes, texts)
  }
})

t.test('whoever has a token locked keeps its grant alone from being removed, and for an hour', async t => {
  const { stores, grants, sql } = await openStores(t)
  const parties = await register(stores)
  const tokens = await Promise.all(Array.from({ length: 5 }, () => logIn(stores, parties)))
  const left = async () => (await sql`select from "grant"`).length
  const sweep = async (hours: number): Promise<void> => {
    while ((await grants.removeExpired(at(hours * 3600), 1000)) === 1000);
  }
  const YEARS = 24 * 800
  await sql.begin(async sql => {
    await sql`select from token where grant_id = ${String(tokens[2]?.grant.id)} for update`
    await sweep(YEARS)
    t.equal((await sql`select from "grant"`).length, 1)
  })
  await sweep(YEARS + 0.9)
  t.equal(await left(), 1)
  await sweep(YEARS + 1.1)
  t.equal(await left(), 0)
})

t.test('whoever has the row of a user locked takes no connection from those who do not need it', async t => {
  const { stores, users, heroes, sql } = await openStores(t)
  const { user } = await register(stores)
  await sql.begin(async sql => {
    await sql`select from "user" where id = ${user.id} for share`
    const password = { hash: 'other', salt: 'other' }
    const changes = [
      ...Array.from({ length: 4 }, () => users.setPassword(user.username, password, at(1), user)),
      users.revoke(user.username, at(1))
    ]
    const refused = Promise.allSettled(changes)
    t.match(await heroes.insert({ name: 'beside' }), { name: 'beside' })
    for (const change of await refused) t.match(change, { status: 'rejected', reason: { code: 'unavailable' } })
  })
  t.equal(await users.setPassword(user.username, { hash: 'other', salt: 'other' }, at(1), user), true)
})
