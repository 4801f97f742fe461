import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { administer } from '../../support/command.js'
import { serveDatabase } from '../../support/database-service.js'
import { load, quantile, statuses, type Timed } from '../../support/load.js'
import { ask, startProcess } from '../../support/process.js'
import { basic, bearer, LOGIN } from '../../support/service.js'
import { SECRET } from '../../support/world.js'

const GRANTS = 100_000
const SAMPLE = 200

t.test("while a client's 100,000 grants are removed, the requests of other clients are answered as before", async t => {
  const { url, sql, env, logIn, form } = await serveDatabase(t)
  await administer('client add leaving --confidential --secret-stdin', env, SECRET)
  const { headers } = await logIn()
  await ask(`${url}/heroes`, { headers, body: { name: 'the first' } })
  // A token is a text of 32 characters, of which only the SHA-256 is stored.
  await sql.unsafe(`
    insert into "grant" (id, user_id, client_id, scopes, expires_at, sweep_at)
      select md5(i::text)::uuid, 1, 'leaving', '{}', now() + interval '1 day', now() + interval '1 day'
      from generate_series(1, ${GRANTS}) i;
    insert into token (access_digest, refresh_digest, grant_id, scopes, issuedate, expirationdate, refresh_expirationdate)
      select sha256(lpad('a' || i, 32, '0')::bytea), sha256(lpad('r' || i, 32, '0')::bytea), md5(i::text)::uuid, '{}',
        now(), now() + interval '1 hour', now() + interval '1 day'
      from generate_series(1, ${GRANTS}) i;
    analyze`)
  const sample = Array.from({ length: SAMPLE }, (_, index) => `a${1 + index * (GRANTS / SAMPLE)}`.padStart(32, '0'))
  t.equal((await ask(`${url}/heroes/1`, { headers: bearer(sample[0] ?? '') })).status, 200)

  const logins = await Promise.all(Array.from({ length: 8 }, logIn))
  let created = 0
  const loads = {
    read: load(16, () => [`${url}/heroes/1`, { headers }]),
    create: load(2, () => [`${url}/heroes`, { headers, body: { name: `hero ${created++}` } }]),
    refresh: load(8, (last, connection) => {
      const refresh = last?.status === 200 ? JSON.parse(last.body).refresh_token : logins[connection]?.refresh
      return [`${url}/auth/token`, form({ grant_type: 'refresh_token', refresh_token: refresh })]
    })
  }
  const leaving = load(24, () => [
    `${url}/auth/token`,
    { headers: { ...basic('leaving') }, body: new URLSearchParams(LOGIN) }
  ])
  const take = (): Record<string, Timed[]> =>
    Object.fromEntries(Object.entries(loads).map(([name, { take }]) => [name, take()]))

  await sleep(2000)
  take()
  await sleep(3000)
  const before = take()
  const removal = startProcess(t, ['client', 'remove', 'leaving'], env)
  t.equal(await removal.ended, 0, removal.output())
  const during = take()
  const dead = await Promise.all(sample.map(token => ask(`${url}/heroes/1`, { headers: bearer(token) })))
  t.ok(
    dead.every(({ status }) => status === 401),
    'every token of the client is dead from the answer on'
  )
  await Promise.all([...Object.values(loads), leaving].map(({ stop }) => stop()))

  for (const [name, answers] of Object.entries(during)) {
    const [p99, without] = [quantile(answers, 0.99), quantile(before[name] ?? [], 0.99)]
    t.comment(`${name}: ${JSON.stringify(statuses(answers))}, p99 ${p99} ms, without the removal ${without} ms`)
    t.ok(answers.length > 0 && answers.every(({ status }) => status === 200), `${name}: every answer is a 200`)
    t.ok(p99 <= 3 * without, `${name}: the p99 is at most three times the p99 without the removal`)
  }
  t.strictSame([...(await sql`select from "grant" where client_id = 'leaving'`)], [])
})
