import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { openServer } from '../../../adapters/postgres/database.js'
import { at, register, somePassword } from '../../contract/records.js'
import { migratedDatabase } from '../../support/databases.js'

/** A transaction that removes more tokens than this might not end before the time limit of its statements. */
const MOST_TOKENS = 1000

/** An empty database that keeps, for each token that is removed, the transaction that removed it. */
const open = async (t: Test) => {
  const url = await migratedDatabase(t)
  let statements = 0
  const onStatement = () => {
    statements += 1
  }
  const database = await openServer(url, { pool: 2, prepare: true, onStatement })
  t.teardown(() => database.close())
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  await sql.unsafe(`
    create table removal (transaction xid8);
    create function note_removal() returns trigger language plpgsql as $$
      begin
        insert into removal values (pg_current_xact_id());
        return null;
      end
    $$;
    create trigger note_removal after delete on token for each row execute function note_removal()`)
  const parties = await register(database.stores)

  /** Stores a grant with so many tokens, of which the last one expires at `lastExpiry`, and the others at 10 s. */
  const grantWith = async (tokens: number, lastExpiry = at(10)): Promise<string> => {
    const id = randomUUID()
    await sql`
      insert into "grant" (id, user_id, client_id, scopes, expires_at, sweep_at)
      values (${id}, ${parties.user.id}, ${parties.client.id}, '{}', ${at(60)}, ${at(10)})`
    await sql`
      insert into token (access_digest, grant_id, scopes, issuedate, expirationdate)
      select sha256(${id}::bytea || i::text::bytea), ${id}, '{}', ${at(0)}, ${at(10)}
      from generate_series(1, ${tokens - 1}) as i`
    await sql`
      insert into token (access_digest, grant_id, scopes, issuedate, expirationdate)
      values (sha256(${id}), ${id}, '{}', ${at(0)}, ${lastExpiry})`
    return id
  }

  const left = async () =>
    [...(await sql`select grant_id, count(*)::int from token group by grant_id`)].map(row => [row.grant_id, row.count])

  /** How many tokens went in the transaction that removed most. */
  const mostRemoved = async (): Promise<unknown> => {
    const [row] = await sql`
      select max(count)::int from (select count(*) from removal group by transaction) as removed`
    return row?.max
  }

  return { ...database.stores, sql, parties, grantWith, left, mostRemoved, statements: () => statements }
}

const SIZES = [1, 400, 400, 400, 2500, 1, 1000, 1]

t.test('a sweep removes a thousand tokens in a transaction at most, and in the end every one', async t => {
  const { grants, grantWith, left, mostRemoved } = await open(t)
  for (const size of SIZES) await grantWith(size)
  let calls = 1
  while (calls < 50 && (await grants.removeExpired(at(20), 100)) === 100) calls += 1
  t.strictSame(await left(), [])
  t.ok(Number(await mostRemoved()) <= MOST_TOKENS, `${await mostRemoved()} tokens`)
  t.ok(calls <= 10, `${calls} calls`)
  t.equal(await grants.removeExpired(at(1_000_000), 100), 0, 'no grant is left')
})

t.test('a sweep leaves every token of a grant of which one token lives, and looks at the grant once', async t => {
  const { grants, grantWith, left } = await open(t)
  const living = await grantWith(2500, at(30))
  await grantWith(1)
  t.equal(await grants.removeExpired(at(20), 100), 2)
  t.equal(await grants.removeExpired(at(20), 100), 0)
  t.strictSame(await left(), [[living, 2500]])
  while ((await grants.removeExpired(at(40), 100)) === 100);
  t.strictSame(await left(), [])
})

t.test('a user or a client with many tokens is removed a thousand tokens in a transaction at most', async t => {
  for (const owner of ['user', 'client']) {
    const { users, clients, parties, grantWith, left, mostRemoved } = await open(t)
    for (const size of SIZES) await grantWith(size, at(1_000_000))
    const removed = owner === 'user' ? users.remove(parties.user.username) : clients.remove(parties.client.id)
    t.equal(await removed, true)
    t.strictSame(await left(), [])
    t.ok(Number(await mostRemoved()) <= MOST_TOKENS, `${await mostRemoved()} tokens`)
  }
})

t.test('a user or a client that cannot be changed or removed keeps a few grants with every token', async t => {
  for (const owner of ['user', 'client']) {
    const { users, clients, sql, parties, grantWith } = await open(t)
    for (const size of [1, 400, 20]) await grantWith(size, at(1_000_000))
    await sql.unsafe(`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'refused' using errcode = '53100'; end $$;
      create trigger refuse before update or delete on "${owner}" for each row execute function refuse()`)
    const { username } = parties.user
    const refused =
      owner === 'user'
        ? [users.revoke(username, at(20)), users.setPassword(username, somePassword(), at(20)), users.remove(username)]
        : [clients.remove(parties.client.id)]
    for (const work of refused) await t.rejects(work, { code: 'unavailable' })
    t.match(await sql`select count(*)::int from "grant" where revoked_at is null`, [{ count: 3 }], owner)
    t.match(await sql`select count(*)::int from token`, [{ count: 421 }], owner)
  }
})

t.test('a thousand grants that are ended at once take ten statements at most, and each is ended once', async t => {
  const { grants, grantWith, statements } = await open(t)
  const ids = []
  for (let count = 0; count < 1000; count++) ids.push(await grantWith(1))
  const before = statements()
  const first = await Promise.all(ids.map(id => grants.revoke(id, at(1))))
  t.ok(statements() - before <= 10, `${statements() - before} statements`)
  t.ok(first.every(ended => ended))
  t.notOk((await Promise.all(ids.map(id => grants.revoke(id, at(2))))).some(ended => ended))
})
