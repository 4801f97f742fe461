// Every page that a person can come to see, for the tests in a browser and for screenshots.

import { createServer } from 'node:http'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { createMemoryStores } from '../../adapters/memory/stores.js'
import { DomainError } from '../../core/index.js'
import { autofocused } from './browser.js'
import { type Listening, startService } from './listening-service.js'
import { listenUntilEnd } from './ports.js'
import { loginPath } from './service.js'
import { ADA, addClient, blankRequest, SECRET } from './world.js'

export interface PageState {
  readonly name: string
  readonly status: number
  /** Brings a tab to the page. Returns the status of the answer. */
  open(page: Page): Promise<number | undefined>
}

const SCOPES = ['heroes', 'heroes:top_ten.readonly', 'https://scopes.example/profile.read']
const WORDS = {
  heroes: 'Create, rename and remove heroes',
  'heroes:top_ten.readonly': 'See the list of the top ten heroes'
}
const LONG_SCOPES = ['heroes:of-a-very-long-kind:that_has_many_parts:and_each_of_them_counts.readonly', 'x'.repeat(200)]

/** Starts a service, and lists every page of it that a person can come to see. */
export const pageStates = async (t: Pick<Test, 'teardown'>): Promise<readonly PageState[]> => {
  const stores = createMemoryStores()
  const find: typeof stores.clients.find = async id => {
    if (id === 'unreachable') throw new DomainError('unavailable', 'the database cannot be reached')
    return stores.clients.find(id)
  }
  const service = await startService(t, {
    stores: { ...stores, clients: { ...stores.clients, find } },
    policy: { loginAttempts: 2 },
    callbackPage: true
  })
  await addClient(service, 'viewer', { name: 'Hero Viewer', allowedScopes: SCOPES })
  const name = `Mount${'ain'.repeat(60)} Hero Viewer`
  await addClient(service, 'a-client-with-an-id-that-goes-on-and-on', { name, allowedScopes: LONG_SCOPES })
  await addClient(service, 'native', { redirectUris: ['com.example.hero-viewer:/callback'] })
  await addClient(service, 'souk', { name: 'متجر الأبطال', allowedScopes: LONG_SCOPES })
  const whole = await startService(t, {
    serviceName: 'Bundesheldenverzeichnis',
    signupUrl: 'https://heroes.example/join',
    resetUrl: 'https://heroes.example/forgotten'
  })
  await addClient(whole, 'viewer', { name: 'Hero Viewer', allowedScopes: SCOPES })
  for (const [name, text] of Object.entries(WORDS)) await whole.useCases.setScopeText({ name, text })
  const elsewhere = await serveForgery(t, address(service, 'viewer'))

  /** Signs in with a wrong password so many times: the status of the last page. */
  const fail = async (page: Page, times: number): Promise<number | undefined> => {
    service.clock.advance(service.policy.loginWindowSeconds)
    await page.goto(address(service, 'viewer', SCOPES))
    let status: number | undefined
    for (let count = 0; count < times; count++) status = await submitLogin(page, { ...ADA, password: 'wrong' })
    return status
  }
  /** Signs ada in for two applications, and then at the account page. */
  const openAccount = async (page: Page, password = ADA.password): Promise<number | undefined> => {
    service.clock.advance(service.policy.loginWindowSeconds)
    for (const id of ['viewer', 'souk']) {
      const client = await service.useCases.authenticateClient([{ id, secret: SECRET }])
      const scope = id === 'viewer' ? SCOPES.join(' ') : LONG_SCOPES.join(' ')
      await service.useCases.issueToken(client, { ...blankRequest, ...ADA, grantType: 'password', scope })
    }
    await page.goto(`${service.url}/account`)
    return submitLogin(page, { ...ADA, password })
  }
  const goto = (url: string) => async (page: Page) => (await page.goto(url))?.status()

  return [
    { name: 'login', status: 200, open: goto(address(service, 'viewer', SCOPES)) },
    { name: 'login-without-scopes', status: 200, open: goto(address(service, 'viewer')) },
    {
      name: 'login-with-long-names',
      status: 200,
      open: goto(address(service, 'a-client-with-an-id-that-goes-on-and-on', LONG_SCOPES))
    },
    { name: 'login-with-words-and-links', status: 200, open: goto(address(whole, 'viewer', SCOPES)) },
    { name: 'login-for-a-native-application', status: 200, open: goto(address(service, 'native', ['a'])) },
    { name: 'failed-login', status: 403, open: page => fail(page, 1) },
    { name: 'throttled-login', status: 429, open: page => fail(page, 3) },
    { name: 'error-unknown-client', status: 400, open: goto(address(service, 'nobody')) },
    {
      name: 'error-another-website',
      status: 403,
      open: async page => {
        await page.goto(elsewhere)
        return answerTo(page, () => page.getByRole('button').click())
      }
    },
    { name: 'account', status: 200, open: goto(`${service.url}/account`) },
    { name: 'account-with-logins', status: 200, open: openAccount },
    { name: 'account-refused', status: 403, open: page => openAccount(page, 'wrong') },
    {
      name: 'account-changed',
      status: 200,
      open: async page => {
        await openAccount(page)
        await page.locator('[name=end]').first().check()
        await page.locator('#password').fill(ADA.password)
        return answerTo(page, () => page.locator('button').click())
      }
    },
    { name: 'error-unavailable', status: 503, open: goto(address(service, 'unreachable')) },
    { name: 'callback-with-code', status: 200, open: goto(`${service.url}/callback?code=${'A1b2C3d4'.repeat(4)}`) },
    { name: 'callback-with-error', status: 200, open: goto(`${service.url}/callback?error=access_denied`) },
    {
      name: 'callback-with-description',
      status: 200,
      open: goto(`${service.url}/callback?error=invalid_scope&error_description=the%20scope%20is%20malformed`)
    }
  ]
}

/** The address to which an application sends a person, without PKCE. */
const address = ({ url }: Listening, client: string, scopes: readonly string[] = []): string =>
  url + loginPath({ client_id: client, scope: scopes.join(' ') })

/** Runs an action that leads to another page: the status of that page. */
export const answerTo = async (page: Page, action: () => Promise<void>): Promise<number | undefined> => {
  const [response] = await Promise.all([
    page.waitForResponse(response => response.request().isNavigationRequest()),
    action()
  ])
  await page.waitForLoadState()
  return response.status()
}

/** Fills in the login page, in whatever language it is, and sends it: the status of the page that follows. */
export const submitLogin = async (page: Page, { username, password } = ADA): Promise<number | undefined> => {
  await autofocused(page)
  await page.locator('#username').fill(username)
  await page.locator('#password').fill(password)
  return answerTo(page, () => page.locator('button').first().click())
}

/** Starts another website, whose form signs a person in at the service. Returns its address. */
const serveForgery = async (t: Pick<Test, 'teardown'>, target: string): Promise<string> => {
  const inputs = Object.entries(ADA).map(([name, value]) => `<input name="${name}" value="${value}">`)
  const form = `<form method="post" action="${target.replaceAll('&', '&amp;')}">${inputs.join('')}<button>Win</button></form>`
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(`<!doctype html><link rel="icon" href="data:,">${form}`)
  })
  // To a browser `localhost` is another site than 127.0.0.1.
  return `http://localhost:${await listenUntilEnd(t, server, 'localhost')}/`
}
