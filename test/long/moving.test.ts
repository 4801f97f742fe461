import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { compose } from '../../app/compose.js'
import { readSettings } from '../../app/settings/settings.js'
import type { UseCases } from '../../core/index.js'
import { madeFolder } from '../support/embedded.js'
import { createDatabase } from '../support/postgres.js'
import { ask, logInAtFirst, serveProcess, startProcess, temporaryFolder } from '../support/process.js'
import { basic, bearer } from '../support/service.js'
import { blankRequest } from '../support/world.js'

const HEROES = 40_000
const LOGINS = 60
const BATCH = 1000

/** Somebody who is logged in through a client of their own. */
interface Login {
  readonly id: string
  readonly secret: string
  readonly username: string
  readonly password: string
  readonly access: string
  readonly refresh: string
}

const logIn = async (useCases: UseCases, number: number): Promise<Login> => {
  const [id, username, password] = [`app-${number}`, `user ${number}`, `password ${number} é`]
  const { client, secret = '' } = await useCases.addClient({
    id,
    secret: { generate: true },
    redirectUris: [`https://${number}.example/cb`],
    allowedScopes: ['a'],
    name: undefined,
    requirePkce: false
  })
  await useCases.registerUser({ username, password })
  const given = await useCases.issueToken(client, {
    ...blankRequest,
    grantType: 'password',
    username,
    password,
    scope: 'a',
    address: `192.0.2.${number % 250}`
  })
  return { id, secret, username, password, access: given.accessToken, refresh: String(given.refreshToken) }
}

/** An embedded database with everything that is to be moved. */
const createFolder = async (t: Test): Promise<{ readonly DATA_DIR: string; readonly logins: readonly Login[] }> => {
  const DATA_DIR = await madeFolder(t)
  const { database, createUseCases } = await compose(readSettings({ DATA_DIR }))
  try {
    await database.migrate()
    const useCases = createUseCases()
    for (let first = 0; first < HEROES; first += BATCH) {
      await useCases.importHeroes(Array.from({ length: BATCH }, (_, i) => ({ name: `Hero ${first + i} "ὈΔΥΣΣΕΎΣ"` })))
    }
    const logins: Login[] = []
    for (let number = 0; number < LOGINS; number++) logins.push(await logIn(useCases, number))
    return { DATA_DIR, logins }
  } finally {
    await database.close()
  }
}

t.test('a database of 40,000 heroes and 60 logins is copied to a server, and everybody is still logged in', async t => {
  const { DATA_DIR, logins } = await createFolder(t)
  const { url: DATABASE_URL, drop } = await createDatabase()
  t.teardown(drop)
  const sql = postgres(DATABASE_URL, { max: 1, onnotice: () => {} })
  t.teardown(() => sql.end())
  const copied = async (): Promise<number> => {
    const [row] = await sql`select count(*)::int4 as count from hero`.catch(() => [])
    return row?.count ?? 0
  }

  const killed = startProcess(t, ['copy', DATABASE_URL], { DATA_DIR })
  while ((await copied()) < HEROES / 2) await sleep(5)
  killed.child.kill('SIGKILL')
  t.equal(await killed.ended, 'SIGKILL')
  const refused = startProcess(t, ['serve'], { DATABASE_URL, PORT: '0' })
  t.equal(await refused.ended, 1)
  t.match(refused.output(), /^heroes: DATABASE_URL cannot be used: a copy into the database is not whole[^\n]*\n$/)
  t.equal(await startProcess(t, ['copy', DATABASE_URL], { DATA_DIR }).ended, 1)

  const begin = performance.now()
  const again = startProcess(t, ['copy', DATABASE_URL, '--again', '--json'], { DATA_DIR })
  t.equal(await again.ended, 0, again.output())
  t.comment(`copied in ${Math.round(performance.now() - begin)} ms`)
  t.match(JSON.parse(again.output()), { hero: HEROES, user: LOGINS, client: LOGINS, grant: LOGINS, token: LOGINS })

  const { url } = await serveProcess(t, { DATABASE_URL, LOGIN_ATTEMPTS: '0' })
  const post = (path: string, { id, secret }: Login, fields: Record<string, string>) =>
    ask(`${url}${path}`, { headers: { ...basic(id, secret) }, body: new URLSearchParams(fields) })
  const wrong: string[] = []
  for (const [index, login] of logins.entries()) {
    const { username, password, access, refresh } = login
    const answers = [
      await ask(`${url}/heroes/${index + 1}`, { headers: { ...bearer(access) } }),
      await ask(`${url}/me`, { headers: { ...bearer(access) } }),
      await post('/auth/token', login, { grant_type: 'refresh_token', refresh_token: refresh }),
      await post('/auth/token', login, { grant_type: 'password', username, password })
    ]
    const [hero, me] = answers.map(({ body }) => JSON.parse(body))
    if (answers.some(({ status }) => status !== 200)) wrong.push(`${username}: ${answers.map(({ status }) => status)}`)
    if (me.id !== index + 1 || me.username !== username) wrong.push(`${username} has become ${JSON.stringify(me)}`)
    if (hero.name !== `Hero ${index} "ὈΔΥΣΣΕΎΣ"`) wrong.push(`the hero ${index + 1} is ${hero.name}`)
  }
  t.strictSame(wrong, [], 'every password, secret, access and refresh token works, and ids are the same')
  const [one] = logins
  const created = await ask(`${url}/heroes`, { headers: { ...bearer(String(one?.access)) }, body: { name: 'New' } })
  t.equal(created.status, 401, 'the access token that was refreshed has ended')
  const fresh = await ask(`${url}/register`, { body: { username: 'new', password: 'a new one' } })
  t.match(JSON.parse(fresh.body), { id: LOGINS + 1 }, 'the next id is free')
})

t.test('a backup under steady writes has every write that was acknowledged before it began', async t => {
  const folder = temporaryFolder(t)
  const DATA_DIR = await madeFolder(t)
  const service = await serveProcess(t, { DATA_DIR })
  const headers = await logInAtFirst(service)
  const acknowledged: string[] = []
  const statuses = new Set<number>()
  let written = 0
  let writing = true
  const write = async (): Promise<void> => {
    while (writing) {
      const name = `hero ${written++}`
      const { status } = await ask(`${service.url}/heroes`, { headers, body: { name } })
      statuses.add(status)
      if (status === 200) acknowledged.push(name)
    }
  }
  const writers = Promise.all(Array.from({ length: 64 }, write))
  while (acknowledged.length < 2000) await sleep(5)
  const before = [...acknowledged]
  const file = join(folder, 'backup')
  const backup = startProcess(t, ['backup', file], { DATA_DIR })
  t.equal(await backup.ended, 0, backup.output())
  t.ok(acknowledged.length > before.length, 'the writes go on meanwhile')
  writing = false
  await writers
  const restored = { DATA_DIR: join(folder, 'restored') }
  t.equal(await startProcess(t, ['restore', file], restored).ended, 0)
  const exported = startProcess(t, ['export'], restored)
  t.equal(await exported.ended, 0)
  const names = new Set(
    exported
      .output()
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).name)
  )
  t.strictSame(
    before.filter(name => !names.has(name)),
    [],
    `of ${before.length} none is missing`
  )
  t.ok(
    [...statuses].every(status => status === 200 || status === 503),
    [...statuses].join()
  )
  const again = await serveProcess(t, restored)
  t.equal((await ask(`${again.url}/heroes/1`, { headers })).status, 200, 'whoever was logged in still is')
  t.equal(await startProcess(t, ['user', 'revoke', '--all'], restored).ended, 0)
  t.equal((await ask(`${again.url}/heroes/1`, { headers })).status, 401, 'until all logins are ended')
})
