import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  type Authorization,
  type AuthorizationRequest,
  DomainError,
  USERNAME_MAX,
  type UseCases
} from '../../../core/index.js'
import { type Form, formOf, parseForm, queryString, requireShort } from '../bodies/forms.js'
import { originOf } from '../client-address.js'
import { statusOf } from '../errors.js'
import type { Http } from '../http.js'
import { refuseFormsOfOtherSites } from '../other-sites.js'
import { languageFor } from '../pages/languages.js'
import { pageHeaders } from '../pages/layout.js'
import { CANCEL, type LoginFailure, loginPage, type ServiceDescription } from '../pages/login-page.js'
import { pageRoutes } from '../pages/page-routes.js'

type AuthorizeUseCases = Pick<UseCases, 'resolveRedirect' | 'judgeRequest' | 'authorize' | 'describeScopes'>

/** The authorization endpoint of RFC 6749 section 4.1. It answers people, so its failures are pages and redirects. */
export const authorizeRoutes = (
  http: Http,
  useCases: AuthorizeUseCases,
  publicUrl: () => string,
  service: ServiceDescription
): void => {
  /**
   * Checks an authorization request. Undefined when the client has been told by redirect what is wrong with it. Throws
   * when there is no redirect URI to trust.
   */
  const check = async (
    parameters: Form,
    username: string,
    reply: FastifyReply
  ): Promise<CheckedRequest | undefined> => {
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
      const show = async (status: number, failure?: LoginFailure): Promise<void> => {
        const words = await useCases.describeScopes(scopes)
        const language = languageFor(reply.request.headers['accept-language'])
        const request = { client, scopes, words, redirectUri, fields: parameters, action: 'code' }
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
    http.get('/auth/code', async (request, reply) => {
      const checked = await check(linkOf(request), '', reply)
      await checked?.show(200)
      return reply
    })

    http.post('/auth/code', { onRequest: refuseFormsOfOtherSites(publicUrl) }, async (request, reply) => {
      const form = await formOf(request)
      const username = form.get('username') ?? ''
      const shown = SHOWN_USERNAME.test(username) ? username : ''
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
        if (!(error instanceof DomainError)) throw error
        const { code, retryAfterSeconds = 0 } = error
        if (code === 'access_denied') await checked.show(statusOf(code), { username: shown })
        else if (code === 'too_many_attempts') {
          reply.header('retry-after', retryAfterSeconds)
          await checked.show(statusOf(code), {
            username: shown,
            retry: { seconds: retryAfterSeconds, now: new Date() }
          })
        } else throw error
      }
      return reply
    })
  }
  http.register(pageRoutes(routes))
}

interface CheckedRequest {
  readonly authorization: Authorization
  /** Redirects the person to the client with `answer`, the state and the issuer. */
  redirect(answer: Readonly<Record<string, string>>): void
  /** Answers with the login page. */
  show(status: number, failure?: LoginFailure): Promise<void>
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

/** What the page shows again: as many characters as a username may have (code points). A longer one is nobody's. */
const SHOWN_USERNAME = new RegExp(`^.{0,${USERNAME_MAX}}$`, 'su')

const MOST_STATE_BYTES = 4096

/** Limits what the page and the redirect repeat, in bytes of UTF-8. Throws `invalid_request`. */
const requireEchoable = (parameters: Form, username: string): void => {
  if (Buffer.byteLength(parameters.get('state') ?? '') > MOST_STATE_BYTES) {
    throw new DomainError('invalid_request', `state is longer than ${MOST_STATE_BYTES} bytes: send a shorter one`, {
      fault: 'too_long'
    })
  }
  requireShort([username, ...parameters].flat())
}

/**
 * The parameters of the authorization request, from the form and the query string. What the person typed or pressed is
 * read from the form alone, and is none of them.
 */
const requestParameters = (form: Form, query: Form): Form => {
  for (const [name, value] of query) {
    if (value !== '' && !INPUTS.has(name) && (form.get(name) ?? value) !== value) {
      throw new DomainError('invalid_request', 'the form and the link contradict each other', {
        fault: 'contradictory'
      })
    }
  }
  return new Map([...query, ...[...form].filter(([name]) => !INPUTS.has(name))])
}

const INPUTS = new Set(['username', 'password', CANCEL])

/** RFC 6749 section 4.1.2: a redirect URI keeps the query that it has. */
const withQuery = (uri: string, query: URLSearchParams): string => `${uri}${uri.includes('?') ? '&' : '?'}${query}`

/** The redirect's address contains the code, so no cache may keep it and no browser may send it to another site. */
const REDIRECT_HEADERS = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }
