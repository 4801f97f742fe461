import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { openServer } from '../../../adapters/postgres/database.js'
import { at, clientWith, codeUnder, grantTo, logIn, register, tokenUnder } from '../../contract/records.js'
import { createDatabase, execute } from '../../support/postgres.js'

/** The stores of an empty database, and another client of it. */
const open = async (t: Test, prepare = async (_url: string): Promise<void> => {}) => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  await prepare(url)
  const database = await openServer(url, { pool: 10, prepare: true })
  t.teardown(() => database.close())
  await database.migrate()
  const sql = postgres(url, { max: 2, onnotice: () => {} })
  t.teardown(() => sql.end())

  /** Resolves when so many of the database's sessions wait for a lock, or when `done` resolves. */
  const waiting = async (sessions: number, done: Promise<unknown>): Promise<void> => {
    let isDone = false
    const note = () => {
      isDone = true
    }
    done.then(note, note)
    while (!isDone) {
      const [row] = await sql`
        select count(*)::int from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      if (row?.count >= sessions) return
      await sleep(5)
    }
  }
  return { url, sql, stores: database.stores, waiting }
}

t.test('whoever observes a server gets each statement, and each wait for a connection, in vain too', async t => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const [waits, statements]: number[][] = [[], []]
  const observer = {
    onWait: (seconds: number) => void waits?.push(seconds),
    onStatement: (seconds: number) => void statements?.push(seconds)
  }
  const database = await openServer(url, { pool: 1, prepare: true, ...observer })
  t.teardown(() => database.close())
  await database.migrate()
  const before = [Number(waits?.length), Number(statements?.length)]
  t.ok(before.every(count => count > 0))
  const holding = postgres(url, { max: 1, onnotice: () => {} })
  await holding.begin(async locked => {
    await locked`lock table hero in access exclusive mode`
    const [first, second] = [database.stores.heroes.find(1), database.stores.users.find(1)]
    await Promise.allSettled([first, second])
  })
  await holding.end()
  t.ok(Number(waits?.length) >= Number(before[0]) + 2)
  t.ok([waits, statements].flat().every(seconds => Number(seconds) >= 0 && Number(seconds) < 60))
})

// The update is that of a revocation and of a new password, held open: what does not wait for its end has not seen it.
t.test('a login that meets the end of all logins of its user waits for it, and is not stored', async t => {
  const { sql, stores, waiting } = await open(t)
  const endings: readonly ['insert' | 'code', number][] = [
    ['insert', 1],
    ['insert', 3],
    ['code', 1]
  ]
  for (const [what, count] of endings) {
    const parties = await register(stores)
    const grants = Array.from({ length: count }, () => grantTo(parties))
    let stored: readonly boolean[] = []
    await sql
      .begin(async ending => {
        await ending`update "user" set generation = generation + 1 where id = ${parties.user.id}`
        const insert = Promise.all(
          grants.map(grant =>
            what === 'code' ? stores.codes.insert(codeUnder(grant), 0) : stores.tokens.insert(tokenUnder(grant), 0)
          )
        ).then(answers => {
          stored = answers
        })
        await waiting(1, insert)
        t.strictSame(stored, [], 'it waits')
        return { insert }
      })
      .then(({ insert }) => insert)
    t.strictSame(stored, Array(count).fill(false), `${count} × ${what}`)
  }
})

t.test('the end of all logins of a user holds others up for a few of them at a time', async t => {
  const { sql, stores, waiting } = await open(t)
  const parties = await register(stores)
  const held = await logIn(stores, parties)
  await sql`
    insert into "grant" (id, user_id, client_id, scopes, expires_at, sweep_at)
    select gen_random_uuid(), ${parties.user.id}, ${parties.client.id}, '{}', ${at(60)}, ${at(60)}
    from generate_series(1, 1000)`
  await sql.unsafe(`
    create table ending (transaction xid8);
    create function note_ending() returns trigger language plpgsql as $$
      begin
        insert into ending values (pg_current_xact_id());
        return null;
      end
    $$;
    create trigger note_ending after update of revoked_at on "grant" for each row execute function note_ending()`)
  let revocation: Promise<unknown> = Promise.resolve()
  await sql.begin(async other => {
    await other`select from "grant" where id = ${held.grant.id} for update`
    revocation = stores.users.revoke(parties.user.username, at(1))
    await waiting(1, revocation)
    const [row] = await sql`select count(*)::int from "grant" where revoked_at is null`
    t.equal(row?.count, 1, 'all but the one that another transaction holds have ended')
  })
  t.equal(await revocation, true)
  const [most] = await sql`select max(count)::int from (select count(*) from ending group by transaction) as ended`
  t.ok(most?.max <= 500, `${most?.max} grants in a transaction`)
  t.equal(await stores.grants.find(held.grant.id), undefined)
})

t.test('a sweep passes over a grant that another transaction holds, and removes the others', async t => {
  const { sql, stores, waiting } = await open(t)
  const parties = await register(stores)
  const expired = { expiresAt: at(10), refreshExpiresAt: at(20) }
  const [held, ...others] = [await logIn(stores, parties, expired), await logIn(stores, parties, expired)]
  let sweep: Promise<unknown> = Promise.resolve()
  await sql.begin(async other => {
    await other`select from "grant" where id = ${held?.grant.id ?? ''} for update`
    sweep = stores.grants.removeExpired(at(100), 10)
    await waiting(1, sweep)
    const left = await sql`select id from "grant"`
    t.strictSame(
      left.map(({ id }) => id),
      [held?.grant.id]
    )
  })
  t.equal(await sweep, others.length)
  t.equal(await stores.grants.removeExpired(at(100), 10), 1, 'the next sweep removes it')
})

t.test('clients and scopes are listed by code points, whatever the collation of the database', async t => {
  const { sql, stores } = await open(t, async url => {
    const name = new URL(url).pathname.slice(1)
    const server = new URL(url)
    server.pathname = '/postgres'
    await execute(server.href, `drop database ${name}`)
    await execute(
      server.href,
      `create database ${name} template template0 encoding 'UTF8' locale_provider icu icu_locale 'en-US' locale 'C'`
    )
  })
  const ids = ['B', 'a', '_', 'b', 'A', 'a-b', 'ab', 'a_b', '1']
  const [row] = await sql`select array_agg(id order by id) as ids from unnest(${ids}::text[]) as id`
  t.notSame(row?.ids, ids.toSorted(), 'this database sorts otherwise')
  for (const id of ids) {
    await stores.clients.insert(clientWith({ id }))
    await stores.scopes.set({ name: id, text: randomUUID() })
  }
  t.strictSame(
    (await stores.clients.list()).map(({ id }) => id),
    ids.toSorted()
  )
  t.strictSame(
    (await stores.scopes.list()).map(({ name }) => name),
    ids.toSorted()
  )
})
