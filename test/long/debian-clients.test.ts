import { spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { signIn } from '../support/client-libraries.js'
import { type Listening, startService } from '../support/listening-service.js'
import { temporaryFolder } from '../support/process.js'
import { ADA, addClient, blankRequest, SECRET } from '../support/world.js'

const runs = (command: string, ...args: readonly string[]): boolean => spawnSync(command, args).status === 0
const present =
  runs('/usr/bin/python3', '-c', 'import requests_oauthlib, authlib') &&
  runs('/usr/bin/ruby', '-e', 'require "omniauth-oauth2"') &&
  runs('sh', '-c', 'command -v git-credential-oauth && command -v w3m')
const options = present ? {} : { skip: 'there are no OAuth clients of Debian' }

const HOME = 'http://127.0.0.1:4000'

const startWithClient = async (t: Test, callback: string, client = {}): Promise<Listening> => {
  const service = await startService(t)
  await addClient(service, 'app', { redirectUris: [callback], allowedScopes: ['heroes'], ...client })
  return service
}

/** Programs of test/clients/debian, each with the lines of app/http/CLIENTS.md: what runs them, and where they return to. */
const PROGRAMS = [
  ['/usr/bin/python3', 'requests-oauthlib.py', '/callback'],
  ['/usr/bin/python3', 'authlib-client.py', '/callback'],
  ['/usr/bin/ruby', 'omniauth.rb', '/auth/heroes/callback']
] as const

for (const [interpreter, program, path] of PROGRAMS) {
  t.test(`${program}: a person signs in, and the program learns who it is`, options, async t => {
    const callback = `${HOME}${path}`
    const { url } = await startWithClient(t, callback)
    const file = fileURLToPath(new URL(`../clients/debian/${program}`, import.meta.url))
    const child = spawn(interpreter, [file, url, callback, 'app', SECRET], {
      env: { ...process.env, OAUTHLIB_INSECURE_TRANSPORT: '1', OAUTHLIB_RELAX_TOKEN_SCOPE: '1' }
    })
    t.teardown(() => child.kill('SIGKILL'))
    const complaints = text(child.stderr)
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    const { value: address } = await lines.next()
    child.stdin.end(`${await signIn(String(address))}\n`)
    const { value: name } = await lines.next()
    t.equal(name, 'ada', await complaints)
  })
}

t.test(
  'git-credential-oauth, whose verifier has characters of base64, gets a token that git can send',
  options,
  async t => {
    const { url, useCases } = await startWithClient(t, 'http://127.0.0.1')
    const folder = temporaryFolder(t)
    const settings = ['ClientId = app', `ClientSecret = ${SECRET}`, 'AuthURL = /auth/code', 'TokenURL = /auth/token']
    const lines = [...settings, 'Scopes = heroes'].map(line => `  oauth${line}\n`)
    writeFileSync(join(folder, '.gitconfig'), `[credential "${url}"]\n${lines.join('')}`)
    const child = spawn('git-credential-oauth', ['get'], { env: { PATH: process.env.PATH, HOME: folder } })
    t.teardown(() => child.kill('SIGKILL'))
    child.stdin.end(`protocol=http\nhost=${new URL(url).host}\n\n`)
    const answer = text(child.stdout)
    let said = ''
    for await (const line of createInterface(child.stderr)) {
      said += line
      const [address] = /^http\S+/.exec(line) ?? []
      if (address !== undefined) await fetch(await signIn(address))
    }
    const [, password = ''] = /^password=(\w+)$/m.exec(await answer) ?? []
    t.match(await useCases.whoAmI(password), { username: 'ada' }, said)
  }
)

t.test('a person with w3m, a browser of text, ends a login and changes the password', options, async t => {
  const { url, useCases } = await startWithClient(t, `${HOME}/callback`)
  await addClient({ useCases }, 'shop')
  const logIn = async (id: string, password = ADA.password) =>
    useCases.issueToken(await useCases.findClient(id), { ...blankRequest, grantType: 'password', ...ADA, password })
  const [app, shop] = [await logIn('app'), await logIn('shop')]
  const w3m = async (...args: readonly string[]): Promise<string> => {
    const child = spawn('w3m', ['-T', 'text/html', ...args, `${url}/account`], {
      env: { PATH: process.env.PATH, HOME: temporaryFolder(t) }
    })
    child.stdin.end()
    return text(child.stdout)
  }
  t.match(await w3m('-dump'), /Your account at Heroes.*Username.*Password.*Show my logins/s)
  const form = join(temporaryFolder(t), 'form')
  const send = (fields: Readonly<Record<string, string>>): Promise<string> => {
    writeFileSync(form, new URLSearchParams({ ...ADA, ...fields }).toString())
    return w3m('-dump', '-post', form)
  }
  t.match(await send({}), /You are logged in 2 times.*\bapp\b/s)
  const page = await fetch(`${url}/account`, { method: 'POST', body: new URLSearchParams(ADA) })
  const [, end = ''] = /name="end" value="([^"]+)"> <bdi>app</.exec(await page.text()) ?? []
  t.match(await send({ end }), /1 login was ended\..*You are logged in once/s)
  await t.rejects(useCases.verifyBearer(app.accessToken), { code: 'invalid_token' })
  await useCases.verifyBearer(shop.accessToken)

  t.match(await send({ new_password: 'battery staple' }), /Your password was changed.*not logged in anywhere/s)
  const refresh = { ...blankRequest, grantType: 'refresh_token', refreshToken: shop.refreshToken }
  await t.rejects(useCases.issueToken(await useCases.findClient('shop'), refresh), { code: 'invalid_grant' })
  t.ok(await logIn('shop', 'battery staple'))
})
