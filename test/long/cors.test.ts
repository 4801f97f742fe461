import { createServer } from 'node:http'
import type { Browser, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { findChromium, openBrowser, openTab } from '../support/browser.js'
import { type Listening, startService } from '../support/listening-service.js'
import { submitLogin } from '../support/page-states.js'
import { listenUntilEnd } from '../support/ports.js'
import { addClient } from '../support/world.js'

/** The script of an application on an origin of its own. `SERVICE` stands for the address of the service. */
const SCRIPT = `
const SERVICE = 'THE SERVICE'
const encoded = bytes => btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
const redirect_uri = location.origin + '/'

// RFC 7636: what is sent is the digest of what stays here.
async function signIn() {
  const verifier = encoded(crypto.getRandomValues(new Uint8Array(32)))
  const state = encoded(crypto.getRandomValues(new Uint8Array(16)))
  Object.assign(sessionStorage, { verifier, state })
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  const code_challenge = encoded(new Uint8Array(digest))
  const { authorization_endpoint } = await (await fetch(SERVICE + '/.well-known/oauth-authorization-server')).json()
  location.href = authorization_endpoint + '?' + new URLSearchParams({
    client_id: 'app', response_type: 'code', redirect_uri, state, code_challenge, code_challenge_method: 'S256'
  })
}

async function redeem(code = new URLSearchParams(location.search).get('code')) {
  const body = new URLSearchParams({
    grant_type: 'authorization_code', client_id: 'app', code, redirect_uri, code_verifier: sessionStorage.verifier
  })
  const answer = await fetch(SERVICE + '/auth/token', { method: 'POST', body })
  return { status: answer.status, ...await answer.json() }
}

// RFC 8288: the next page is where the service says.
async function list(token) {
  const pages = []
  for (let url = SERVICE + '/heroes?limit=2'; url;) {
    const answer = await fetch(url, { headers: { Authorization: 'Bearer ' + token } })
    pages.push((await answer.json()).map(({ name }) => name))
    url = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]
  }
  return pages
}

// What a page can learn of an answer. 'nothing' is what the browser says of an answer that it keeps from the page.
async function ask(path, options) {
  try {
    const answer = await fetch(SERVICE + path, options)
    const header = name => answer.headers.get(name) ?? undefined
    return {
      status: answer.status, challenge: header('www-authenticate'), wait: header('retry-after'),
      text: (await answer.json()).error
    }
  } catch {
    return 'nothing'
  }
}
`

interface Application {
  readonly service: Listening
  readonly origin: string
  readonly page: Page
  readonly console: readonly string[]
}

/** Starts an application on another origin, to which the service is open or not, and opens it in a tab. */
const embark = async (t: Test, browser: Browser, open: boolean): Promise<Application> => {
  let script = ''
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(
      `<!doctype html><html lang="en"><title>App</title><link rel="icon" href="data:,"><script>${script}</script>`
    )
  })
  // To a browser `localhost` is another site than 127.0.0.1, where the service is.
  const origin = `http://localhost:${await listenUntilEnd(t, server, 'localhost')}`
  const service = await startService(t, { ...(open && { corsOrigins: [origin] }), policy: { loginAttempts: 1 } })
  await addClient(service, 'app', { secret: undefined, redirectUris: [`${origin}/`], requirePkce: true })
  for (const name of ['Starling', 'Heron', 'Kite', 'Wren', 'Swift']) await service.useCases.createHero({ name })
  script = SCRIPT.replace('THE SERVICE', service.url)
  const { page, console } = await openTab(t, browser)
  await page.goto(origin)
  return { service, origin, page, console }
}

const suite = async (executablePath: string): Promise<void> => {
  const browser = await openBrowser(executablePath)
  t.teardown(() => browser.close())

  t.test(
    'wire 7.5: a page of a listed origin signs in with PKCE, redeems the code and lists heroes page by page',
    async t => {
      const { service, origin, page, console } = await embark(t, browser, true)
      await page.evaluate('signIn()')
      await page.waitForURL(`${service.url}/auth/code?*`)
      t.equal(await submitLogin(page), 302)
      await page.waitForURL(`${origin}/?*`)
      t.equal(await page.evaluate('new URLSearchParams(location.search).get("state") === sessionStorage.state'), true)
      const { status, access_token: token } = await page.evaluate<Record<string, unknown>>('redeem()')
      t.equal(status, 200)
      t.strictSame(await page.evaluate(`list('${token}')`), [['Starling', 'Heron'], ['Kite', 'Wren'], ['Swift']])
      t.strictSame(console, [])
    }
  )

  t.test('wire 7.5: a page of a listed origin is told why it is refused', async t => {
    const { page } = await embark(t, browser, true)
    const ask = (path: string, options: object = {}) =>
      page.evaluate(`ask(${JSON.stringify(path)}, ${JSON.stringify(options)})`)
    const bearer = { headers: { Authorization: 'Bearer x' } }
    const challenge = /^Bearer realm="heroes", resource_metadata="[^"]+"$/
    t.match(await ask('/heroes'), { status: 401, challenge, text: /./ })
    t.match(await ask('/heroes', bearer), { status: 401, challenge: /", error="invalid_token"$/, text: /./ })
    t.match(await ask('/heroes', { ...bearer, method: 'DELETE' }), 'nothing', 'the preflight does not allow it')
    t.match(await ask('/register', { method: 'POST', body: 'x' }), { status: 415, text: /./ })
    const json = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' }
    t.match(await ask('/register', json), { status: 400, text: /username/ })
    t.match(await page.evaluate('redeem("x")'), { status: 400, error: 'invalid_grant', error_description: /./ })
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const guess = { method: 'POST', headers, body: 'client_id=app&grant_type=password&username=ada&password=wrong' }
    t.match(await ask('/auth/token', guess), { status: 400, text: 'invalid_grant' })
    t.match(await ask('/auth/token', guess), { status: 429, wait: /^\d+$/, text: 'temporarily_unavailable' })
    t.equal(await ask('/auth/introspect', guess), 'nothing')
    t.equal(await ask('/health/live'), 'nothing')
  })

  t.test('wire 5.13: a page of any other origin learns nothing and spends nothing', async t => {
    const { service, page } = await embark(t, browser, false)
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const guess = { method: 'POST', headers, body: 'client_id=app&grant_type=password&username=ada&password=wrong' }
    for (const [path, options] of [
      ['/heroes', {}],
      ['/.well-known/oauth-authorization-server', {}],
      ['/register', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' }],
      ['/auth/token', guess],
      ['/auth/token', guess],
      ['/auth/token', guess]
    ] as const) {
      t.equal(await page.evaluate(`ask('${path}', ${JSON.stringify(options)})`), 'nothing', path)
    }
    const right = { grant_type: 'password', client_id: 'app', username: 'ada', password: 'correct horse' }
    t.equal((await service.form('/auth/token', right)).statusCode, 200, 'no attempt was counted')
  })
}

const chromium = findChromium()
if (chromium === undefined) t.plan(0, 'there is no Chromium: install one or name it in CHROMIUM_PATH')
else await suite(chromium)
