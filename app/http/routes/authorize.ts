import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type AuthorizationRequest, DomainError, refusals, type UseCases } from '../../../core/index.js'
import { type Form, formOf, parseForm, queryString, requireShort } from '../bodies/forms.js'
import { originOf } from '../client-address.js'
import type { Http } from '../http.js'
import { OF_PAGES } from '../openapi/headers.js'
import { language, loginFailures, loginFields, pageAnswer } from '../openapi/oauth.js'
import { type Answer, type Operation, optionalText, text } from '../openapi/operation.js'
import { refuseFormsOfOtherSites } from '../other-sites.js'
import { type LoginFailure, loginFailureOf } from '../pages/credentials.js'
import { languageFor, pageHeaders } from '../pages/layout.js'
import { CANCEL, loginPage, type ServiceDescription } from '../pages/login-page.js'
import { pageRoutes } from '../pages/page-routes.js'
import { oauthFormRefusals, pageRefusals, queryRefusals, storeRefusals } from '../refusals.js'

const MOST_STATE_BYTES = 4096

const { faultyLink } = refusals
const stateTooLong = faultyLink('too_long', `state is longer than ${MOST_STATE_BYTES} bytes: send a shorter one`)
const formAgainstLink = faultyLink('contradictory', 'the form and the link contradict each other')
const tokenRequest = faultyLink(
  'token_request',
  'a code was sent to the login page: send it to the token endpoint, /auth/token'
)

const parameters = {
  client_id: text('The id of a registered client that has a redirect URI.', 'shop'),
  response_type: Type.String({ description: 'Always `code`.', enum: ['code'] }),
  response_mode: Type.Optional(Type.String({ description: 'Always `query`.', enum: ['query'] })),
  state: text(
    'A text of the client, of up to 4,096 bytes, which comes back unchanged. Clients that are registered so may leave it out with a `code_challenge`.',
    'xyz'
  ),
  redirect_uri: optionalText(
    'Where the browser returns to: exactly as it is registered, the port of this machine aside. Required where several are registered.',
    'https://shop.example/back'
  ),
  scope: optionalText('The scopes that are wanted, with spaces between them.', 'heroes:read heroes:write'),
  code_challenge: Type.Optional(
    Type.String({
      description: 'RFC 7636: base64url of the SHA-256 of the verifier. Required of clients that are registered so.',
      pattern: '^[A-Za-z0-9_-]{43}$',
      examples: ['E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM']
    })
  ),
  code_challenge_method: Type.Optional(
    Type.String({ description: 'Always `S256`, and required with `code_challenge`.', enum: ['S256'] })
  )
}

const linkRefusals = {
  ...queryRefusals,
  ...pageRefusals,
  stateTooLong,
  tokenRequest,
  missingClient: refusals.missingClient,
  unknownClient: refusals.unknownClient,
  noRedirectUri: refusals.noRedirectUri,
  unnamedRedirectUri: refusals.unnamedRedirectUri,
  otherRedirectUri: refusals.otherRedirectUri,
  ...storeRefusals
}

/** The redirect to the client, which tells an error with `others`. */
const redirected = (success: string, others: string): Answer => ({
  description:
    `Back to the client, with \`state\` and \`iss\` (RFC 9207), and with ${success}\`error\` and \`error_description\` where the ` +
    'request is wrong: `invalid_request`, `unsupported_response_type`, `unauthorized_client` or `invalid_scope`' +
    others,
  headers: [...OF_PAGES, 'Location', 'Content-Length']
})

const SHOW: Operation = {
  operationId: 'showLoginPage',
  tag: 'Login page',
  summary: 'Show the login page',
  description:
    'The authorization endpoint of RFC 6749, for browsers. The page holds a form that is posted to the same address. ' +
    'It carries every parameter along, unknown ones too.',
  query: Type.Object(parameters),
  headers: language,
  answers: {
    200: pageAnswer('The login page.'),
    302: redirected('', '.')
  },
  refusals: linkRefusals
}

const LOG_IN: Operation = {
  operationId: 'logIn',
  tag: 'Login page',
  summary: 'Log in by the login page',
  description:
    'What the login page posts. Each parameter but `username` and `password` may stand in the query string instead; ' +
    'two different values are refused. A browser that sends the form for another site is refused.',
  query: Type.Partial(Type.Object(parameters)),
  headers: language,
  form: Type.Object({
    ...Type.Partial(Type.Object(parameters)).properties,
    ...loginFields,
    [CANCEL]: optionalText('Of any value: the person goes back to the client without a login.', 'yes')
  }),
  bodyExamples: {
    'The form, filled in': {
      client_id: 'shop',
      response_type: 'code',
      state: 'xyz',
      username: 'ada',
      password: 'correct horse'
    }
  },
  answers: {
    302: redirected('`code`; or with ', ', or `access_denied` where the person cancelled.'),
    ...loginFailures
  },
  refusals: {
    ...oauthFormRefusals,
    formAgainstLink,
    ...linkRefusals,
    tooManyHashes: refusals.tooManyHashes
  }
}

/** The authorization endpoint of RFC 6749 section 4.1. It answers people, so its failures are pages and redirects. */
export const authorizeRoutes = (
  http: Http,
  useCases: Pick<UseCases, 'resolveRedirect' | 'judgeRequest' | 'authorize' | 'describeScopes'>,
  publicUrl: () => string,
  service: ServiceDescription
): void => {
  /**
   * Checks an authorization request. Undefined when the client has been told by redirect what is wrong with it. Throws
   * when there is no redirect URI to trust.
   */
  const check = async (parameters: Form, username: string, reply: FastifyReply) => {
    requireEchoable(parameters, username)
    if (parameters.has('code') && !parameters.has('response_type')) throw tokenRequest()
    const wanted = authorizationRequest(parameters)
    const { client, redirectUri } = await useCases.resolveRedirect({ ...wanted, requestId: reply.request.id })
    const { state } = wanted
    /** Redirects the person to the client with the answer, the state and the issuer. */
    const redirect = (answer: Readonly<Record<string, string>>): void => {
      const query = new URLSearchParams({ ...answer, ...(state !== undefined && { state }), iss: publicUrl() })
      reply.code(302).headers(REDIRECT_HEADERS).header('location', withQuery(redirectUri, query)).send()
    }
    try {
      const authorization = useCases.judgeRequest(client, wanted)
      const { scopes } = authorization
      /** Answers with the login page. */
      const show = async (status: number, failure?: LoginFailure): Promise<void> => {
        const words = await useCases.describeScopes(scopes)
        const language = languageFor(reply.request.headers['accept-language'])
        const request = { client, scopes, words, redirectUri, fields: parameters }
        reply
          .code(status)
          .headers(pageHeaders(language))
          .send(loginPage({ language, service, ...request, failure }))
      }
      return { authorization, redirect, show }
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      redirect({ error: error.code, error_description: error.message })
      return undefined
    }
  }

  const routes = (http: Http): void => {
    http.get('/auth/code', { config: { operation: SHOW } }, async (request, reply) => {
      const checked = await check(linkOf(request), '', reply)
      await checked?.show(200)
      return reply
    })

    http.post(
      '/auth/code',
      { onRequest: refuseFormsOfOtherSites(publicUrl), config: { operation: LOG_IN } },
      async (request, reply) => {
        const form = await formOf(request)
        const username = form.get('username') ?? ''
        const checked = await check(requestParameters(form, linkOf(request)), username, reply)
        if (checked === undefined) return reply
        if (form.has(CANCEL)) {
          checked.redirect({ error: 'access_denied' })
          return reply
        }
        try {
          const password = form.get('password') ?? ''
          const attempt = { username, password, ...originOf(request) }
          checked.redirect({ code: await useCases.authorize(checked.authorization, attempt) })
        } catch (error) {
          const { status, failure } = loginFailureOf(error, username)
          if (failure.retry !== undefined) reply.header('retry-after', failure.retry.seconds)
          await checked.show(status, failure)
        }
        return reply
      }
    )
  }
  http.register(pageRoutes(routes))
}

/** The parameters of the query string. Empty ones are kept, since the form carries them as well. */
const linkOf = ({ url }: FastifyRequest): Form => parseForm(queryString(url), true)

const authorizationRequest = (parameters: Form): AuthorizationRequest => {
  // RFC 6749 section 3.1: a parameter without a value counts as absent.
  const given = (name: string): string | undefined => parameters.get(name) || undefined
  return {
    clientId: given('client_id'),
    redirectUri: given('redirect_uri'),
    responseType: given('response_type'),
    responseMode: given('response_mode'),
    state: given('state'),
    scope: given('scope'),
    codeChallenge: given('code_challenge'),
    codeChallengeMethod: given('code_challenge_method')
  }
}

/** Limits what the page and the redirect repeat, in bytes of UTF-8. Throws `invalid_request`. */
const requireEchoable = (parameters: Form, username: string): void => {
  if (Buffer.byteLength(parameters.get('state') ?? '') > MOST_STATE_BYTES) throw stateTooLong()
  requireShort([username, ...parameters].flat())
}

/**
 * The parameters of the authorization request, from the form and the query string. What the person typed or pressed is
 * read from the form alone, and is none of them.
 */
const requestParameters = (form: Form, query: Form): Form => {
  for (const [name, value] of query) {
    if (value !== '' && !INPUTS.has(name) && (form.get(name) ?? value) !== value) {
      throw formAgainstLink()
    }
  }
  return new Map([...query, ...[...form].filter(([name]) => !INPUTS.has(name))])
}

const INPUTS = new Set(['username', 'password', CANCEL])

/** RFC 6749 section 4.1.2: a redirect URI keeps the query that it has. */
const withQuery = (uri: string, query: URLSearchParams): string => `${uri}${uri.includes('?') ? '&' : '?'}${query}`

/** The redirect's address contains the code, so no cache may keep it and no browser may send it to another site. */
const REDIRECT_HEADERS = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }
