import { createServer } from 'node:http'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { createMemoryStores } from '../../adapters/memory/stores.js'
import { DomainError } from '../../core/index.js'
import { type Listening, startService } from './listening.js'
import { addClient } from './world.js'

export interface PageState {
  readonly name: string
  readonly status: number
  /** Brings a tab to the page; the status of its answer. */
  open(page: Page): Promise<number | undefined>
}

const SCOPES = ['heroes', 'heroes:top_ten.readonly', 'https://scopes.example/profile.read']
const LONG_SCOPES = ['heroes:of-a-very-long-kind:that_has_many_parts:and_each_of_them_counts.readonly', 'x'.repeat(200)]

/** Every page that a person can come to see, of a service of its own. */
export const pageStates = async (t: Pick<Test, 'teardown'>): Promise<readonly PageState[]> => {
  const stores = createMemoryStores()
  const find: typeof stores.clients.find = async id => {
    if (id === 'unreachable') throw new DomainError('unavailable', 'the database cannot be reached')
    return stores.clients.find(id)
  }
  const service = await startService(t, {
    stores: { ...stores, clients: { ...stores.clients, find } },
    policy: { loginAttempts: 2 }
  })
  await addClient(service, 'viewer', { name: 'Hero Viewer', allowedScopes: SCOPES })
  const name = `Mount${'ain'.repeat(60)} Hero Viewer`
  await addClient(service, 'a-client-with-an-id-that-goes-on-and-on', { name, allowedScopes: LONG_SCOPES })
  const elsewhere = await serveForgery(t, address(service, 'viewer'))

  /** Fails to sign in so often. */
  const fail = async (page: Page, times: number): Promise<number | undefined> => {
    service.clock.advance(service.policy.loginWindowSeconds)
    await page.goto(address(service, 'viewer', SCOPES))
    return submit(page, times)
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
    { name: 'error-unavailable', status: 503, open: goto(address(service, 'unreachable')) }
  ]
}

/** Where an application sends a person, without PKCE. */
export const address = ({ url }: Listening, client: string, scopes: readonly string[] = []): string => {
  const query = { client_id: client, response_type: 'code', state: 'x', scope: scopes.join(' ') }
  return `${url}/auth/code?${new URLSearchParams(query)}`
}

/** The status of the page that an action leads to. */
export const answerTo = async (page: Page, action: () => Promise<void>): Promise<number | undefined> => {
  const [response] = await Promise.all([
    page.waitForResponse(response => response.request().isNavigationRequest()),
    action()
  ])
  await page.waitForLoadState()
  return response.status()
}

const submit = async (page: Page, times: number): Promise<number | undefined> => {
  await page.getByLabel('Username').fill('ada')
  await page.getByLabel('Password').fill('wrong')
  const status = await answerTo(page, () => page.getByRole('button').click())
  return times > 1 ? submit(page, times - 1) : status
}

/** Another website whose form signs a person in at the service. Its address. */
const serveForgery = (t: Pick<Test, 'teardown'>, target: string): Promise<string> =>
  new Promise(resolve => {
    const fields = { username: 'ada', password: 'correct horse' }
    const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`)
    const form = `<form method="post" action="${target.replaceAll('&', '&amp;')}">${inputs.join('')}<button>Win</button></form>`
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(`<!doctype html><link rel="icon" href="data:,">${form}`)
    })
    // To a browser `localhost` is another site than 127.0.0.1.
    server.listen(0, 'localhost', () => {
      const at = server.address()
      resolve(`http://localhost:${typeof at === 'object' && at !== null ? at.port : 0}/`)
    })
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
  })
