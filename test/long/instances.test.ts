import { connect, createServer } from 'node:net'
import postgres from 'postgres'
import t from 'tap'
import { administer } from '../support/command.js'
import { listenUntilEnd } from '../support/ports.js'
import { createDatabase } from '../support/postgres.js'
import { type Answer, ask, serveProcess, startProcess } from '../support/process.js'
import { basic, bearer, parametersOf, REQUEST, type Tokens } from '../support/service.js'

const ADA = { username: 'ada', password: 'correct horse battery' }
const APP = 'a secret of the application'

const { url: DATABASE_URL, drop } = await createDatabase()
t.teardown(drop)
const env = { DATABASE_URL, LOGIN_ATTEMPTS: '0', HASH_CONCURRENCY: '1' }
const sql = postgres(DATABASE_URL, { max: 2, onnotice: () => {} })
t.teardown(() => sql.end())

const started = await Promise.allSettled([
  serveProcess(t, env),
  serveProcess(t, env),
  serveProcess(t, { ...env, REFRESH_GRACE: '1' })
])
const services = started.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
const [one = '', other = '', strict = ''] = services.map(({ url }) => url)

const command = (line: string, stdin?: string): Promise<void> => administer(line, env, stdin)
await command('client add app --confidential --secret-stdin --redirect-uri https://app.example/cb', APP)
await command(`user add ${ADA.username}`, ADA.password)

const post = (url: string, path: string, fields: Record<string, string>, password = APP): Promise<Answer> =>
  ask(`${url}${path}`, { headers: { ...basic('app', password) }, body: new URLSearchParams(fields) })
const logIn = (url: string, user = ADA): Promise<Answer> =>
  post(url, '/auth/token', { grant_type: 'password', ...user })
const tokensOf = async (answer: Promise<Answer>): Promise<Tokens> => JSON.parse((await answer).body)
const refresh = (url: string, { refresh_token }: Tokens): Promise<Answer> =>
  post(url, '/auth/token', { grant_type: 'refresh_token', refresh_token })
const getCode = async (url: string): Promise<string> => {
  const { headers } = await ask(`${url}/auth/code`, { body: new URLSearchParams({ ...REQUEST, ...ADA }) })
  return parametersOf(headers.location, 'https://app.example/cb').code ?? ''
}
const opens = async (url: string, { access_token }: Tokens): Promise<number> =>
  (await ask(`${url}/heroes`, { headers: { ...bearer(access_token) } })).status
/** Does the same twenty times at once, by turns on two instances. */
const twenty = <T>(work: (url: string) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: 20 }, (_, rival) => work(rival % 2 ? one : other)))
/** The statuses in ascending order. */
const statuses = (answers: readonly Answer[]): string =>
  answers
    .map(({ status }) => status)
    .sort()
    .join(' ')

t.test('instances that start at once on an empty database all become ready', async t => {
  t.strictSame(
    started.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'fulfilled']
  )
  for (const url of [one, other, strict]) t.match(await ask(`${url}/health/ready`), { status: 200 })
})

t.test('a code that is redeemed twenty times at once gives one token, which the other attempts end', async t => {
  for (let round = 0; round < 10; round++) {
    const code = await getCode(one)
    const answers = await twenty(url => post(url, '/auth/token', { grant_type: 'authorization_code', code }))
    t.equal(statuses(answers), ['200', ...Array(19).fill('400')].join(' '))
    const bought: Tokens = JSON.parse(answers.find(({ status }) => status === 200)?.body ?? '{}')
    t.strictSame([await opens(one, bought), await opens(other, bought)], [401, 401])
    t.equal((await refresh(one, bought)).status, 400)
  }
})

t.test('a refresh token that is used twenty times at once gives the same pair every time', async t => {
  const pairs = new Set<string>()
  for (let round = 0; round < 10; round++) {
    const tokens = await tokensOf(logIn(one))
    const answers = await twenty(url => refresh(url, tokens))
    t.equal(statuses(answers), Array(20).fill('200').join(' '))
    const got = new Set(
      answers.map(({ body }) => {
        const { access_token, refresh_token }: Tokens = JSON.parse(body)
        return `${access_token} ${refresh_token}`
      })
    )
    t.equal(got.size, 1)
    for (const pair of got) pairs.add(pair)
    t.equal(await opens(other, JSON.parse(answers[0]?.body ?? '{}')), 200)
  }
  t.equal(pairs.size, 10)
})

t.test('a refresh whose answer is lost on the way can be repeated on another instance', async t => {
  // Passes requests on, and closes both connections when the answer comes.
  const lossy = createServer(client => {
    const service = connect(Number(new URL(one).port), '127.0.0.1')
    client.pipe(service)
    service.once('data', () => {
      client.destroy()
      service.destroy()
    })
  })
  const port = await listenUntilEnd(t, lossy)
  const before = await tokensOf(logIn(one))
  await t.rejects(refresh(`http://127.0.0.1:${port}`, before), { code: 'ECONNRESET' })
  t.equal(await opens(other, before), 401, 'the service has carried out the refresh')
  const again = await tokensOf(refresh(other, before))
  t.equal(await opens(one, again), 200)
  t.equal((await refresh(one, again)).status, 200)
})

t.test('a refresh token that is used again after the grace ends its grant on every instance', async t => {
  const first = await tokensOf(logIn(one))
  const second = await tokensOf(refresh(strict, first))
  t.equal(await opens(one, second), 200)
  await sql`select pg_sleep(1.1)`
  t.match(await refresh(strict, first), { status: 400, body: /invalid_grant/ })
  t.strictSame([await opens(one, second), await opens(other, second)], [401, 401])
  t.match(await refresh(one, second), { status: 400, body: /invalid_grant/ })
})

t.test('once an instance has answered a revocation, no other instance accepts the token', async t => {
  for (let round = 0; round < 10; round++) {
    const tokens = await tokensOf(logIn(one))
    t.equal(await opens(other, tokens), 200)
    const before = Promise.all([opens(other, tokens), opens(other, tokens), opens(other, tokens)])
    const token = round % 2 ? tokens.access_token : tokens.refresh_token
    t.equal((await post(one, '/auth/revoke', { token })).status, 200)
    const after = await Promise.all(Array.from({ length: 20 }, () => opens(other, tokens)))
    t.strictSame(new Set(after), new Set([401]))
    await before
  }
})

t.test('user revoke leaves no live token of a login that was under way', async t => {
  let live = 0
  for (let round = 0; round < 50; round++) {
    const logins = [logIn(one), logIn(one), logIn(one)]
    // Only one password is hashed at a time: when the first login is answered, the others have looked up their user and wait.
    await Promise.race(logins)
    await command('user revoke ada')
    const answers = await Promise.all(logins)
    const got = answers.filter(({ status }) => status === 200).map(({ body }): Tokens => JSON.parse(body))
    live += (await Promise.all(got.map(tokens => opens(other, tokens)))).filter(status => status !== 401).length
  }
  t.equal(live, 0)
})

t.test('what a command changes holds for the next request', async t => {
  await command('user add eve', 'the first password')
  const eve = { username: 'eve', password: 'the first password' }
  const changed = { username: 'eve', password: 'the second password' }

  const before = await tokensOf(logIn(one, eve))
  await command('user set-password eve', changed.password)
  t.equal(await opens(one, before), 401)
  t.match(await logIn(one, eve), { status: 400, body: /invalid_grant/ })
  const after = await tokensOf(logIn(other, changed))
  await command('user revoke eve')
  t.equal(await opens(one, after), 401)
  const last = await tokensOf(logIn(one, changed))
  await command('user remove eve')
  t.equal(await opens(other, last), 401)
  t.equal((await logIn(other, changed)).status, 400)

  const tokens = await tokensOf(logIn(one))
  t.match(await post(one, '/auth/token', { grant_type: 'password', ...ADA, scope: 'a' }), { body: /invalid_scope/ })
  await command('client set app --scope a')
  t.match(await post(one, '/auth/token', { grant_type: 'password', ...ADA, scope: 'a' }), { body: /"scope":"a"/ })

  const NEW = 'a new secret of the application'
  await command('client rotate-secret app --keep-old 60 --secret-stdin', NEW)
  const introspect = (password: string): Promise<Answer> =>
    post(one, '/auth/introspect', { token: tokens.access_token }, password)
  t.match([await introspect(APP), await introspect(NEW)], [{ body: /"active":true/ }, { body: /"active":true/ }])
  const LAST = 'the last secret of the application'
  await command('client rotate-secret app --secret-stdin', LAST)
  t.match(
    [await introspect(APP), await introspect(NEW), await introspect(LAST)],
    [{ status: 401 }, { status: 401 }, { status: 200 }]
  )
  t.equal(await opens(one, tokens), 200)
  await command('client remove app')
  t.equal(await opens(one, tokens), 401)
  t.equal((await introspect(LAST)).status, 401)
})

t.test('an instance that waits for the migration of another one ends on SIGTERM', async t => {
  const { url: DATABASE_URL, drop } = await createDatabase()
  t.teardown(drop)
  const blocking = postgres(DATABASE_URL, { max: 1, onnotice: () => {} })
  await blocking.unsafe('begin; create table heroes_migration (hash text primary key)')
  const waiting = startProcess(t, ['serve'], { DATABASE_URL, PORT: '0' })
  const isWaiting = async (): Promise<boolean> =>
    (
      await sql`select 1 from pg_stat_activity where datname = ${new URL(DATABASE_URL).pathname.slice(1)} and wait_event_type = 'Lock'`
    ).length > 0
  while (!(await isWaiting()));
  waiting.child.kill('SIGTERM')
  t.equal(await waiting.ended, 0)
  t.equal(waiting.output(), '')
  await blocking.end()
})
