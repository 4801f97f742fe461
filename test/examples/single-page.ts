// A single-page application signs its user in: a public client with PKCE (RFC 7636), by what every browser has. The
// page is registered by `npx heroes client add ID --public --redirect-uri https://app.example/`, and the service is started
// with the origin of the page among its CORS_ORIGINS.

export interface Application {
  readonly issuer: string
  readonly clientId: string
  /** The address of the page, as it is registered. */
  readonly redirectUri: string
  readonly scope: string
  /** In a browser `sessionStorage`, which outlives the way to the login page and back and belongs to one tab. */
  readonly storage: {
    getItem(key: string): string | null
    setItem(key: string, value: string): void
    removeItem(key: string): void
  }
}

/** Where the person signs in. The page goes there: `location.assign(await loginAddress(application))`. */
export const loginAddress = async (application: Application): Promise<string> => {
  const { clientId, redirectUri, scope, storage } = application
  const [state, verifier] = [random(), random()]
  storage.setItem('login', JSON.stringify({ state, verifier }))
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  const address = new URL((await discover(application)).authorization_endpoint)
  address.search = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope,
    state,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: 'S256'
  }).toString()
  return address.href
}

/**
 * The access token, once the person is back on the page at `address`, which is `location.href`. Rejects when nobody has
 * signed in. The page keeps the token in a variable, takes the code out of its address (`history.replaceState`), and
 * sends the person to {@link loginAddress} again when the token has expired: a public client gets no refresh token.
 */
export const finishLogin = async (application: Application, address: string): Promise<string> => {
  const { issuer, clientId, redirectUri, storage } = application
  const answer = new URL(address).searchParams
  const { state, verifier } = JSON.parse(storage.getItem('login') ?? '{}')
  storage.removeItem('login')
  if (state === undefined || answer.get('state') !== state || answer.get('iss') !== issuer) {
    throw new Error('this is no answer to a login that began here')
  }
  if (answer.has('error')) throw new Error(`nobody has signed in: ${answer.get('error')}`)
  const response = await fetch((await discover(application)).token_endpoint, {
    method: 'POST',
    body: new URLSearchParams({
      client_id: clientId,
      grant_type: 'authorization_code',
      code: answer.get('code') ?? '',
      redirect_uri: redirectUri,
      code_verifier: verifier
    })
  })
  const { access_token, error_description }: Record<string, string> = JSON.parse(await response.text())
  if (access_token === undefined) throw new Error(`there is no token: ${error_description}`)
  return access_token
}

/** Of the metadata of the service (RFC 8414). */
interface Endpoints {
  readonly issuer: string
  readonly authorization_endpoint: string
  readonly token_endpoint: string
}

const discover = async ({ issuer }: Application): Promise<Endpoints> => {
  const { origin, pathname } = new URL(issuer)
  const response = await fetch(`${origin}/.well-known/oauth-authorization-server${pathname.replace(/\/$/, '')}`)
  const metadata: Endpoints = JSON.parse(await response.text())
  if (metadata.issuer !== issuer) throw new Error('the metadata are those of another service')
  return metadata
}

const random = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)))

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
