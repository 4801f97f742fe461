import type { Test } from 'tap'
import { createService, type Service, type ServiceOptions } from './service.js'
import { ADA, createClock, type World } from './world.js'

export interface Listening extends Service {
  /** Where it listens, its public URL and its issuer: without a trailing slash. */
  readonly url: string
}

/** The service on a free port until the test ends, with the user `ada` and a clock that begins today. */
export const startService = async (t: Pick<Test, 'teardown'>, options: ServiceOptions = {}): Promise<Listening> => {
  let url = ''
  const service = createService({ clock: createClock(new Date()), publicUrl: () => url, ...options })
  url = await service.http.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => service.http.close())
  await service.useCases.registerUser(ADA)
  return { ...service, url }
}

/** A client whose id and secret have every character that some client or server is known to encode wrongly. */
export const AWKWARD = { id: 'my-app.v1', secret: 'p:w%d+x y/&=~0123456789AB' }

/** Registers {@link AWKWARD}. */
export const addAwkwardClient = async (
  { useCases }: Pick<World, 'useCases'>,
  redirectUri = AWKWARD_CALLBACK
): Promise<void> => {
  const allowedScopes = ['heroes', 'profile:read']
  await useCases.addClient({ ...AWKWARD, redirectUri, allowedScopes, name: undefined, requirePkce: false })
}

/** A query in a redirect URI stays in it. */
export const AWKWARD_CALLBACK = 'http://127.0.0.1:4000/callback?tenant=a%26b'

/** Signs in as a person does: opens the page at `address`, fills in its form and sends it. Where that leads to. */
export const signIn = async (address: string | URL, { username, password } = ADA): Promise<URL> => {
  const page = await fetch(address, { redirect: 'manual' })
  if (page.status === 302) return new URL(page.headers.get('location') ?? '')
  const { action, fields } = readForm(await page.text())
  const sent = await fetch(new URL(action, address), {
    method: 'POST',
    redirect: 'manual',
    // What a browser sends with the form of a page whose referrer policy is `no-referrer`.
    headers: { origin: 'null', 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' },
    body: new URLSearchParams([...fields, ...Object.entries({ username, password })])
  })
  const location = sent.headers.get('location')
  if (location === null) throw new Error(`the form was answered with ${sent.status}`)
  return new URL(location)
}

const readForm = (page: string): { readonly action: string; readonly fields: readonly [string, string][] } => {
  const action = /<form method="post" action="([^"]*)">/.exec(page)?.[1]
  if (action === undefined) throw new Error('the page has no form')
  const hidden = page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)
  return {
    action: unescaped(action),
    fields: [...hidden].map(([, name = '', value = '']) => [unescaped(name), unescaped(value)])
  }
}

const unescaped = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => ENTITIES[name as keyof typeof ENTITIES])

const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
