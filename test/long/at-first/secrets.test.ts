import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { heroes } from '../../support/command.js'
import { serveDatabase } from '../../support/database-service.js'
import { type Answer, ask, type Question, temporaryFolder } from '../../support/process.js'
import { REQUEST_EVENTS } from '../../support/recorded-log.js'
import { isTelling, secretsIn } from '../../support/secret-search.js'
import { basic, bearer, challengeOf, type Headers, type Tokens } from '../../support/service.js'
import { filesIn, together } from '../../support/together.js'
import { dial } from '../../support/wire.js'
import { ADA, SECRET } from '../../support/world.js'

const LOADER = fileURLToPath(new URL('../../support/typescript.mjs', import.meta.url))
/** How many processes run at a time. */
const AT_ONCE = 2
/** It takes the longest and has no secrets. */
const LEFT_OUT = 'test/app/http/routes/long-lists.test.ts'

/**
 * Runs the suites of every endpoint and of every client library, but one, over memory. Resolves to the names of the files that
 * failed.
 */
const runSuites = async (folder: string): Promise<readonly string[]> => {
  const rooms = ['test/app/http/routes', 'test/app/http/pages', 'test/clients']
  const suites = together(
    rooms.flatMap(filesIn).filter(file => file !== LEFT_OUT),
    '.tap/secrets'
  )
  const failed: string[] = []
  const work = async (): Promise<void> => {
    for (let suite = suites.pop(); suite !== undefined; suite = suites.pop()) {
      const child = spawn(process.execPath, [`--import=${LOADER}`, suite], {
        env: { ...process.env, TEST_DATABASE_URL: '', SECRETS_FOLDER: folder, TAP_TIMEOUT: '300' },
        stdio: 'ignore'
      })
      const [code] = await once(child, 'close')
      if (code !== 0) failed.push(suite)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return failed
}

t.test('no secret of a whole run of the suites at level debug comes into the log, and every event does', async t => {
  const folder = temporaryFolder(t)
  t.strictSame(await runSuites(folder), [])
  const log = readFileSync(join(folder, 'log'), 'utf8')
  const lines = log.trimEnd().split('\n')
  const secrets = new Set<string>(
    readFileSync(join(folder, 'secrets'), 'utf8')
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
  )
  const events = new Set(lines.map(line => JSON.parse(line).event))
  t.comment(`${lines.length} lines, ${secrets.size} secrets`)
  for (const event of REQUEST_EVENTS) t.ok(events.has(event), event)
  t.ok(lines.length > 1000 && secrets.size > 1000)

  const [some = ''] = [...secrets].filter(isTelling)
  const leaking = `${log}{"authorization":"Basic ${Buffer.from(`app:${some}`).toString('base64')}"}\n`
  t.strictSame(secretsIn(leaking, [some]), [some], 'one that is there is found')
  t.strictSame(secretsIn(log, secrets), [])
  t.notMatch(log, /(?:Basic|Bearer) \w/i)
})

const createStage = async (t: Test) => {
  const all = new Set<string>()
  const note = (secret: string): string => {
    all.add(secret)
    return secret
  }
  const service = await serveDatabase(t, { LOG_LEVEL: 'debug', LOGIN_ATTEMPTS: '10', REFRESH_GRACE: '30' })
  let stderr = ''
  return {
    service,
    secrets: { all, note },
    /** What the commands have written to stderr. */
    told: () => stderr,
    /** Sends a request, and notes the tokens of its answer and what its headers say. */
    async send(path: string, question: Question): Promise<Answer> {
      const answer = await ask(service.url + path, question)
      for (const [, token = ''] of answer.body.matchAll(/"(?:access|refresh)_token":"(\w+)"/g)) note(token)
      const { authorization } = question.headers ?? {}
      if (authorization !== undefined) note(authorization)
      return answer
    },
    /** Runs a command, and returns its stdout. */
    async command(line: string, input?: string): Promise<string> {
      const ran = await heroes(line, service.env, input)
      if (ran.code !== 0) throw new Error(ran.stderr)
      stderr += ran.stderr
      return ran.stdout
    }
  }
}

t.test(
  'no secret of the process and of commands comes into its log, their stderr or a dump of its database',
  async t => {
    const { service, secrets, send, command, told } = await createStage(t)
    const { url, sql } = service
    const page = (more: Readonly<Record<string, string>>) => ({
      client_id: 'app',
      response_type: 'code',
      state: 'a state',
      ...more
    })
    const basicApp = { ...basic('app', secrets.note(SECRET)) }
    secrets.note(ADA.password)

    // Users and clients.
    const grace = { username: 'grace', password: secrets.note('ein Löwe & "ein" Bär/%2F+=') }
    await send('/register', { body: grace })
    await send('/register', {
      body: { username: 'linus', password: secrets.note('a password with 255'), salt: secrets.note('a salt of mine') }
    })
    await command('user add mary', secrets.note('shelley-was-1797'))
    await command('user set-password mary', secrets.note('wollstonecraft-godwin'))
    const added = JSON.parse(await command('client add generated --confidential --json'))
    secrets.note(added.secret)
    const rotated = JSON.parse(await command('client rotate-secret generated --keep-old 60 --json'))
    secrets.note(rotated.secret)
    await command('client add odd --confidential --secret-stdin', secrets.note('a:secret with &=+%/ "in" it'))

    // Codes, tokens, repeats, thefts.
    const verifier = secrets.note('v'.repeat(20) + randomBytes(20).toString('hex'))
    const signedIn = await send('/auth/code', {
      body: new URLSearchParams(
        page({ ...grace, code_challenge: challengeOf(verifier), code_challenge_method: 'S256' })
      )
    })
    const code = secrets.note(new URL(String(signedIn.headers.location)).searchParams.get('code') ?? '')
    const exchange = { grant_type: 'authorization_code', code, code_verifier: verifier }
    const bought = await send('/auth/token', { headers: basicApp, body: new URLSearchParams(exchange) })
    t.equal(bought.status, 200)
    await send('/auth/token', { headers: basicApp, body: new URLSearchParams(exchange) })
    const logIn = async (user: typeof ADA, headers: Headers = basicApp): Promise<Tokens> => {
      const form = new URLSearchParams({ grant_type: 'password', ...user })
      return JSON.parse((await send('/auth/token', { headers, body: form })).body)
    }
    const { access_token, refresh_token } = await logIn(grace)
    const refresh = { headers: basicApp, body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token }) }
    for (let i = 0; i < 3; i++) await send('/auth/token', refresh)
    await logIn(ADA, basic('generated', added.secret))
    await logIn(ADA, basic('odd', 'a:secret with &=+%/ "in" it'))
    await logIn(ADA, basic('app', secrets.note('a wrong client secret')))
    for (let i = 0; i < 12; i++) await logIn({ ...ADA, password: secrets.note(`a wrong password ${i}`) })
    const other = await logIn(grace)
    for (const token of [other.access_token, other.refresh_token, secrets.note('no-token-at-all-0123456789abcdef')]) {
      await send('/auth/introspect', { headers: basicApp, body: new URLSearchParams({ token }) })
      await send('/auth/revoke', { headers: basicApp, body: new URLSearchParams({ token }) })
    }

    // Secrets in places where they do not belong, and in requests that are malformed.
    await send(`/heroes?access_token=${access_token}`, { headers: bearer(access_token) })
    await send(`/heroes/1?password=${encodeURIComponent(grace.password)}`, { headers: bearer(`${access_token} `) })
    await send('/auth/token', {
      headers: { authorization: `Bearer ${access_token}` },
      body: new URLSearchParams({ ...grace })
    })
    await send('/auth/token', {
      headers: { authorization: `Basic ${SECRET}` },
      body: `grant_type=password&password=%zz${encodeURIComponent(grace.password)}`
    })
    await send('/register', { body: `{"username":"x","password":"${SECRET}` })
    await send('/heroes', { headers: bearer(access_token), body: { name: access_token.repeat(9), [SECRET]: SECRET } })
    for (const text of [
      `GET http://${SECRET}:${SECRET}@a/heroes?${SECRET} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${access_token}\r\nconnection: close\r\n\r\n`,
      `GET /heroes HTTP/1.1\r\nhost: a\r\nauthorization Bearer ${access_token}\r\n\r\n`,
      `GET /heroes HTTP/1.1\r\nhost: a\r\nx: ${SECRET.repeat(2000)}\r\n\r\n`,
      `POST /auth/token HTTP/1.1\r\nhost: a\r\ncontent-length: x${SECRET}\r\n\r\n`
    ]) {
      const { socket, closed } = dial(url)
      socket.write(text)
      await closed
    }

    // Statements that fail: the driver's errors have their parameters.
    for (const table of ['token', 'user', 'client', 'attempt', 'code', 'grant']) {
      await sql`alter table ${sql(table)} rename to elsewhere`
      await send('/heroes/1', { headers: bearer(access_token) })
      await send('/register', { body: { username: 'late', password: grace.password } })
      await logIn(grace)
      await send('/auth/token', { headers: basicApp, body: new URLSearchParams(exchange) })
      await send('/auth/code', { body: new URLSearchParams(page(grace)) })
      await sql`alter table elsewhere rename to ${sql(table)}`
    }
    t.equal((await send('/heroes/1', { headers: bearer((await logIn(grace)).access_token) })).status, 404)

    const tables = await sql`select table_name from information_schema.tables where table_schema = 'public'`
    const dumps = await Promise.all(
      tables.map(async ({ table_name }) =>
        (await sql`select t::text as row from ${sql(table_name)} t`).map(({ row }) => row)
      )
    )
    const dump = dumps.flat().join('\n')
    const hashes = await sql`select hashedpassword, salt from "user"`
    t.equal(await service.stop(), 0)
    const log = service.output()
    t.comment(`${log.split('\n').length} lines, ${dump.length} characters of rows, ${secrets.all.size} secrets`)
    t.ok(tables.length >= 8 && dump.includes(String(hashes[0]?.salt)), 'the dump is one')
    t.match(log, /"status":500/)
    t.match(log, /"event":"grant.stolen"/)
    t.match(told(), /"event":"client.secret_rotated"/)
    t.strictSame(secretsIn(dump, secrets.all), [], 'the dump')
    const stored = hashes.flatMap(({ hashedpassword, salt }) => [hashedpassword, salt])
    t.strictSame(secretsIn(log + told(), [...secrets.all, ...stored]), [], 'the log')
    t.notMatch(log, /(?:Basic|Bearer) \w/i)
  }
)
