import { couldBeIssued, refusals } from '../../../core/index.js'
import { parseForm, queryString, requireShort } from '../bodies/forms.js'
import type { Http } from '../http.js'
import { authorizationAnswer, language as languageHeader, pageAnswer } from '../openapi/oauth.js'
import type { Operation } from '../openapi/operation.js'
import { codePage, refusalPage } from '../pages/callback-page.js'
import { languageFor, pageHeaders } from '../pages/layout.js'
import { pageRoutes } from '../pages/page-routes.js'
import { pageRefusals, queryRefusals } from '../refusals.js'
import { shellWord } from '../trial.js'

const neitherCodeNorError = refusals.refusal('invalid_request', 'the link has neither a code nor an error')

const operation: Operation = {
  operationId: 'showCode',
  tag: 'Login page',
  summary: 'Show the code of the first client',
  description:
    'The redirect URI of the client `local`, which a trial without a database server has. The page shows the code ' +
    'and the line that redeems it, or the error.',
  query: authorizationAnswer,
  headers: languageHeader,
  answers: { 200: pageAnswer('The code, or the error.') },
  refusals: { ...queryRefusals, ...pageRefusals, neitherCodeNorError }
}

/**
 * The page at the first client's redirect URI. It shows the code or the error of the login (RFC 6749 section 4.1.2).
 */
export const callbackRoutes = (http: Http, publicUrl: () => string): void => {
  http.register(
    pageRoutes(http => {
      http.get('/callback', { config: { operation } }, async (request, reply) => {
        const parameters = parseForm(queryString(request.url))
        const code = parameters.get('code') ?? ''
        const error = parameters.get('error')
        const description = parameters.get('error_description') ?? ''
        const language = languageFor(request.headers['accept-language'])
        reply.headers(pageHeaders(language))
        if (error !== undefined) {
          requireShort([error, description])
          return refusalPage(language, error, description)
        }
        // A text that cannot be a code comes from the author of the link, and the person would paste it into a shell.
        if (!couldBeIssued(code)) throw neitherCodeNorError()
        const endpoint = shellWord(`${publicUrl()}/auth/token`)
        const form = `-d grant_type=authorization_code -d code=${code}${redirectField(request.headers.host)}`
        return codePage(language, code, `curl ${endpoint} -u local ${form}`)
      })
    })
  )
}

/**
 * The redirect URI, which a code needs when the authorization request named it. A request may name it with any port, so it
 * is where the browser came to. Nothing is sent for another host than the first client's, nor without a port: a browser
 * leaves out `:80`, which the URI has.
 */
const redirectField = (host = ''): string =>
  /^127\.0\.0\.1:[0-9]{1,5}$/.test(host) ? ` -d redirect_uri=http://${host}/callback` : ''
