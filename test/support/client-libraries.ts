// What tests of other people's OAuth clients share: a client that is hard to encode, and a person who signs in.

import { ADA, type World } from './world.js'

/** A client whose id and secret have every character that some library or server is known to encode wrongly. */
export const AWKWARD = { id: 'my-app.v1', secret: 'p:w%d+x y/&=~0123456789AB' }

/** A redirect URI with a query, which must stay in it. */
export const AWKWARD_CALLBACK = 'http://127.0.0.1:4000/callback?tenant=a%26b'

/** A secret that {@link AWKWARD} does not have. */
export const WRONG_SECRET = 'another secret of more than 24'

/** Registers {@link AWKWARD}. */
export const addAwkwardClient = async (
  { useCases }: Pick<World, 'useCases'>,
  redirectUri = AWKWARD_CALLBACK
): Promise<void> => {
  const allowedScopes = ['heroes', 'profile:read']
  const redirectUris = [redirectUri]
  await useCases.addClient({ ...AWKWARD, redirectUris, allowedScopes, name: undefined, requirePkce: false })
}

/** Signs in as a person does: opens the page at `address`, fills in its form and sends it. Returns the address of the redirect. */
export const signIn = async (address: string | URL, { username, password } = ADA): Promise<URL> => {
  const page = await fetch(address, { redirect: 'manual' })
  if (page.status === 302) return new URL(page.headers.get('location') ?? '')
  const { action, fields } = readForm(await page.text())
  const sent = await fetch(new URL(action, address), {
    method: 'POST',
    redirect: 'manual',
    // A browser sends these headers with the form of a page whose referrer policy is `no-referrer`.
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

const unescaped = (text: string): string => text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => ENTITIES[name] ?? '')

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
