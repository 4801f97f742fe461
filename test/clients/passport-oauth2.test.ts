import OAuth2Strategy from 'passport-oauth2'
import t, { type Test } from 'tap'
import { AWKWARD, AWKWARD_CALLBACK, addAwkwardClient, signIn, WRONG_SECRET } from '../support/client-libraries.js'
import { startService } from '../support/listening-service.js'

type Outcome =
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'success'; readonly user: unknown }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'fail'; readonly challenge: unknown }

interface Setting {
  /** What passport does with a request for the callback that has this query. All requests share one session. */
  authenticate(query?: URLSearchParams): Promise<Outcome>
}

const open = async (t: Test, clientSecret = AWKWARD.secret): Promise<Setting> => {
  const service = await startService(t)
  await addAwkwardClient(service)
  const strategy = new OAuth2Strategy(
    {
      authorizationURL: `${service.url}/auth/code`,
      tokenURL: `${service.url}/auth/token`,
      clientID: AWKWARD.id,
      clientSecret,
      callbackURL: AWKWARD_CALLBACK,
      scope: ['heroes', 'profile:read'],
      state: true,
      pkce: true
    },
    (
      accessToken: string,
      refreshToken: string,
      results: object,
      _profile: unknown,
      verified: OAuth2Strategy.VerifyCallback
    ) => verified(null, { accessToken, refreshToken, results })
  )
  const session = {}
  return {
    authenticate: (query = new URLSearchParams()) =>
      new Promise(resolve => {
        // passport itself makes such an object from the strategy for every request.
        const attempt: { authenticate(request: object): void } = Object.create(strategy, {
          redirect: { value: (location: string) => resolve({ kind: 'redirect', location }) },
          success: { value: (user: unknown) => resolve({ kind: 'success', user }) },
          error: { value: (error: unknown) => resolve({ kind: 'error', error }) },
          fail: { value: (challenge: unknown) => resolve({ kind: 'fail', challenge }) }
        })
        attempt.authenticate({ query: Object.fromEntries(query), session, headers: {} })
      })
  }
}

/** Signs in: the query with which the person comes back to the application. */
const comeBack = async ({ authenticate }: Setting): Promise<URLSearchParams> => {
  const outcome = await authenticate()
  if (outcome.kind !== 'redirect') throw new Error(`passport answered with ${outcome.kind}`)
  return (await signIn(outcome.location)).searchParams
}

t.test('passport-oauth2 signs a person in with PKCE and the secret in the body', async t => {
  const setting = await open(t)
  const outcome = await setting.authenticate(await comeBack(setting))
  t.match(outcome, {
    kind: 'success',
    user: {
      accessToken: /^[A-Za-z0-9]{32}$/,
      refreshToken: /^[A-Za-z0-9]{32}$/,
      results: { token_type: 'bearer', expires_in: 3600, scope: /^heroes profile:read$/ }
    }
  })
})

t.test('passport-oauth2 reads a wrong secret and an unknown code as errors of the service', async t => {
  const stranger = await open(t, WRONG_SECRET)
  const refused = await stranger.authenticate(await comeBack(stranger))
  t.has(refused, { kind: 'error', error: { name: 'TokenError', code: 'invalid_client' } })

  const setting = await open(t)
  const query = await comeBack(setting)
  query.set('code', 'unknown')
  t.has(await setting.authenticate(query), { kind: 'error', error: { name: 'TokenError', code: 'invalid_grant' } })
})
