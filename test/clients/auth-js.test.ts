import { Auth, type AuthConfig } from '@auth/core'
import t from 'tap'
import { AWKWARD, addAwkwardClient, signIn } from '../support/client-libraries.js'
import { startService } from '../support/listening-service.js'

const APPLICATION = 'http://127.0.0.1:4000'
const CALLBACK = `${APPLICATION}/auth/callback/heroes`

/** The application's side of Auth.js with its defaults, for a browser that keeps cookies. */
const open = (issuer: string) => {
  // app/http/CLIENTS.md has these lines.
  const config: AuthConfig = {
    basePath: '/auth',
    secret: 'a secret of the application alone',
    trustHost: true,
    providers: [
      {
        id: 'heroes',
        name: 'Heroes',
        type: 'oauth',
        issuer,
        clientId: AWKWARD.id,
        clientSecret: AWKWARD.secret,
        authorization: { url: `${issuer}/auth/code`, params: { scope: 'heroes' } },
        token: `${issuer}/auth/token`,
        userinfo: `${issuer}/me`,
        profile: ({ id, username }) => ({ id: String(id), name: username })
      }
    ]
  }
  const cookies = new Map<string, string>()
  return async (target: string, form?: Readonly<Record<string, string>>): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const asked = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }
    const answer = await Auth(new Request(new URL(target, APPLICATION), { headers: { cookie }, ...asked }), config)
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return answer
  }
}

t.test(
  'Auth.js with its defaults, which send a challenge and no state, signs a person in and tells who it is',
  async t => {
    const { url, useCases } = await startService(t)
    await addAwkwardClient({ useCases }, CALLBACK)
    await useCases.changeClient(AWKWARD.id, { requireState: false, requirePkce: true })
    const browser = open(url)
    const { csrfToken } = Object(await (await browser('/auth/csrf')).json())
    const begun = await browser('/auth/signin/heroes', { csrfToken, callbackUrl: `${APPLICATION}/home` })
    const address = new URL(begun.headers.get('location') ?? '')
    t.equal(address.searchParams.get('state'), null)
    const returned = await browser((await signIn(address)).href)
    t.equal(returned.headers.get('location'), `${APPLICATION}/home`)
    t.match(await (await browser('/auth/session')).json(), { user: { name: 'ada' } })
  }
)
