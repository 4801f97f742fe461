import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Authorization, type AuthorizationRequest, DomainError, type UseCases } from '../../../core/index.js'
import { formOf } from '../bodies.js'
import { addressOf } from '../client-address.js'
import { type Form, parseForm, queryString, requireShort } from '../forms.js'
import type { Http } from '../http.js'
import { PAGE_HEADERS } from '../pages/layout.js'
import { loginPage } from '../pages/login-page.js'
import { pageRoutes } from '../pages/page-routes.js'

type AuthorizeUseCases = Pick<UseCases, 'resolveRedirect' | 'judgeRequest' | 'authorize'>

/** RFC 6749 section 4.1's authorization endpoint. It answers people, so its failures are pages and redirects. */
export const authorizeRoutes = (http: Http, useCases: AuthorizeUseCases, publicUrl: () => string): void => {
  /** The request in order and the form to show for it; undefined once the client was told, by redirect, what is wrong. */
  const open = async (parameters: Form, username: string, reply: FastifyReply): Promise<Opened | undefined> => {
    requireEchoable(parameters, username)
    const request = authorizationRequest(parameters)
    const { client, redirectUri } = await useCases.resolveRedirect(request)
    const { state } = request
    const redirect = (answer: Readonly<Record<string, string>>): void => {
      const query = new URLSearchParams({ ...answer, ...(state !== undefined && { state }), iss: publicUrl() })
      reply.code(302).headers(REDIRECT_HEADERS).header('location', withQuery(redirectUri, query)).send()
    }
    try {
      const authorization = useCases.judgeRequest(client, request)
      const { scopes } = authorization
      const show = (status: number, failure?: Failure): void => {
        const page = loginPage({ client, scopes, fields: parameters, action: 'code', ...failure })
        reply.code(status).headers(PAGE_HEADERS).send(page)
      }
      return { authorization, redirect, show }
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      redirect({ error: error.code, error_description: error.message })
      return undefined
    }
  }

  const serve = (http: Http): void => {
    http.get('/auth/code', async (request, reply) => {
      const opened = await open(parseForm(queryString(request.url)), '', reply)
      opened?.show(200)
      return reply
    })

    http.post('/auth/code', { onRequest: refuseOtherSites(publicUrl) }, async (request, reply) => {
      const form = formOf(request)
      const username = form.get('username') ?? ''
      const opened = await open(merged(form, parseForm(queryString(request.url))), username, reply)
      if (opened === undefined) return reply
      try {
        const password = form.get('password') ?? ''
        const attempt = { username, password, address: addressOf(request.ip) }
        opened.redirect({ code: await useCases.authorize(opened.authorization, attempt) })
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        const { code, retryAfterSeconds = 0 } = error
        if (code === 'access_denied') opened.show(403, { username, message: WRONG })
        else if (code === 'too_many_attempts') {
          reply.header('retry-after', retryAfterSeconds)
          opened.show(429, { username, message: tooMany(retryAfterSeconds) })
        } else throw error
      }
      return reply
    })
  }
  http.register(pageRoutes(serve))
}

interface Failure {
  readonly username: string
  readonly message: string
}

interface Opened {
  readonly authorization: Authorization
  /** Sends the person back to the client with this, the state and the issuer. */
  redirect(answer: Readonly<Record<string, string>>): void
  /** Shows the form. */
  show(status: number, failure?: Failure): void
}

const WRONG = 'The username or the password is wrong.'

const tooMany = (seconds: number): string =>
  `There were too many attempts to sign in. Try again in ${IN_MINUTES.format(Math.ceil(seconds / 60))}.`

const IN_MINUTES = new Intl.NumberFormat('en', { style: 'unit', unit: 'minute', unitDisplay: 'long' })

const authorizationRequest = (parameters: Form): AuthorizationRequest => ({
  clientId: parameters.get('client_id'),
  redirectUri: parameters.get('redirect_uri'),
  responseType: parameters.get('response_type'),
  state: parameters.get('state'),
  scope: parameters.get('scope'),
  codeChallenge: parameters.get('code_challenge'),
  codeChallengeMethod: parameters.get('code_challenge_method')
})

const MOST_STATE = 4096

/** The page and the redirect repeat what they were sent. In bytes of UTF-8. */
const requireEchoable = (parameters: Form, username: string): void => {
  if (Buffer.byteLength(parameters.get('state') ?? '') > MOST_STATE) {
    throw new DomainError('invalid_request', `state is longer than ${MOST_STATE} bytes`)
  }
  requireShort([username, ...parameters].flat())
}

/** Each parameter from the form, or else from the query string; what the person typed is neither's. */
const merged = (form: Form, query: Form): Form => {
  for (const [name, value] of query) {
    if (!TYPED.has(name) && (form.get(name) ?? value) !== value) {
      throw new DomainError('invalid_request', 'the form and the link contradict each other')
    }
  }
  return new Map([...query, ...form].filter(([name]) => !TYPED.has(name)))
}

const TYPED = new Set(['username', 'password'])

/** RFC 6749 section 4.1.2: the query that the redirect URI has stays. */
const withQuery = (uri: string, query: URLSearchParams): string => `${uri}${uri.includes('?') ? '&' : '?'}${query}`

/** A page of another site may not send the form. Browsers that say where a request comes from are believed. */
const refuseOtherSites =
  (publicUrl: () => string) =>
  async ({ headers }: FastifyRequest): Promise<void> => {
    const site = headers['sec-fetch-site']
    const { origin } = headers
    const own =
      site === undefined
        ? origin === undefined || origin === 'null' || origin === new URL(publicUrl()).origin
        : site === 'same-origin' || site === 'none'
    if (!own) throw new DomainError('access_denied', 'another website sent this form')
  }

/** The code is in the address: nothing may keep the answer or pass the address on. */
const REDIRECT_HEADERS = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }
