import { Type } from '@sinclair/typebox'
import { DomainError, refusals, type UseCases } from '../../../core/index.js'
import { formOf, requireShort } from '../bodies/forms.js'
import { originOf } from '../client-address.js'
import type { Http } from '../http.js'
import { ErrorBody } from '../openapi/answers.js'
import { language, loginFailures, loginFields, pageAnswer } from '../openapi/oauth.js'
import { type Operation, optionalSecret, optionalText } from '../openapi/operation.js'
import { refuseFormsOfOtherSites } from '../other-sites.js'
import { type AccountProblem, accountPage, accountSignInPage, FIELDS, type Wanted } from '../pages/account-page.js'
import { loginFailureOf, shownUsername } from '../pages/credentials.js'
import { languageFor, pageHeaders } from '../pages/layout.js'
import { pageRoutes } from '../pages/page-routes.js'
import { formRefusals, pageRefusals, storeRefusals } from '../refusals.js'

const SHOW: Operation = {
  operationId: 'showAccountPage',
  tag: 'Account page',
  summary: 'Show the account page',
  description: 'The page on which people see where they are logged in, end logins and change their password.',
  headers: language,
  answers: { 200: pageAnswer('The page with the form.') }
}

const CHANGE: Operation = {
  operationId: 'changeAccount',
  tag: 'Account page',
  summary: 'List or end logins, or change the password',
  description:
    'What the account page posts. Username and password alone list the logins. There is no session: each change needs the ' +
    'password. Where one of the two is missing, or the new password has another length, it is 400 and the form again. A ' +
    'browser that sends the form for another site is refused.',
  headers: language,
  form: Type.Object({
    ...loginFields,
    [FIELDS.end]: Type.Optional(
      Type.Array(Type.String(), {
        description: 'The ids of logins to end, each as a parameter of its own.',
        examples: [['9b1b73d6-3d1c-4c94-8a0e-5f7d2b6c1e42']]
      })
    ),
    [FIELDS.endAll]: optionalText('Of any value: every login ends.', 'yes'),
    [FIELDS.newPassword]: optionalSecret('The new password, which ends every login.', 'battery staple')
  }),
  bodyExamples: { 'To see the logins': { username: 'ada', password: 'correct horse' } },
  answers: {
    200: pageAnswer('The logins, and what was done.'),
    ...loginFailures
  },
  refusals: { ...formRefusals, ...pageRefusals, ...storeRefusals, tooManyHashes: refusals.tooManyHashes }
}

const LEAD: Operation = {
  operationId: 'goToChangePassword',
  tag: 'Account page',
  summary: 'Go to where a password is changed',
  description: 'For password managers, which look for this address (W3C, A Well-Known URL for Changing Passwords).',
  answers: {
    302: { description: 'To the account page.', headers: ['Location', 'Content-Length'] },
    default: { description: 'Any other failure.', schema: ErrorBody }
  }
}

interface AccountRouteOptions {
  readonly publicUrl: () => string
  readonly serviceName: string
  readonly passwordMinLength: number
}

/** The page on which people manage their own accounts. It answers people, so its failures are pages. */
export const accountRoutes = (
  http: Http,
  useCases: Pick<UseCases, 'manageAccount'>,
  { publicUrl, serviceName: service, passwordMinLength }: AccountRouteOptions
): void => {
  const about = (accepted: string | undefined) => ({ language: languageFor(accepted), service, passwordMinLength })

  const routes = (http: Http): void => {
    http.get('/account', { config: { operation: SHOW } }, async ({ headers }, reply) => {
      const content = about(headers['accept-language'])
      return reply.headers(pageHeaders(content.language)).send(accountSignInPage(content))
    })

    http.post(
      '/account',
      { onRequest: refuseFormsOfOtherSites(publicUrl), config: { operation: CHANGE } },
      async (request, reply) => {
        const form = await formOf(request, FIELDS.end)
        const content = about(request.headers['accept-language'])
        reply.headers(pageHeaders(content.language))
        const username = form.get('username')
        const password = form.get('password')
        const newPassword = form.get(FIELDS.newPassword)
        const ends = form.get(FIELDS.end) ?? ''
        // Before it is split: ten megabytes can be millions of ids.
        requireShort([shownUsername(username ?? ''), ends])
        const end = ends.split('\0').filter(id => id !== '')
        const endAll = form.has(FIELDS.endAll)
        const wanted: Wanted = { end, endAll, newPassword: newPassword !== undefined }
        const refuse = (status: number, problem: AccountProblem) =>
          reply.code(status).send(accountSignInPage(content, problem, wanted))

        if (username === undefined || password === undefined) {
          return refuse(400, { kind: 'missing', username: shownUsername(username ?? '') })
        }
        try {
          const attempt = { username, password, ...originOf(request) }
          const account = await useCases.manageAccount(attempt, { end: endAll ? 'all' : end, newPassword })
          return reply.send(accountPage(content, account, changedBy(wanted)))
        } catch (error) {
          // Of what the form holds, only a new password can break a rule.
          if (error instanceof DomainError && error.code === 'invalid_input') {
            return refuse(400, { kind: 'length', username: shownUsername(username) })
          }
          const { status, failure } = loginFailureOf(error, username)
          if (failure.retry !== undefined) reply.header('retry-after', failure.retry.seconds)
          return refuse(status, { kind: 'login', failure })
        }
      }
    )
  }
  http.register(pageRoutes(routes, 'account page'))

  http.get('/.well-known/change-password', { config: { operation: LEAD } }, async (_request, reply) =>
    reply.redirect(`${publicUrl()}/account`)
  )
}

const changedBy = ({ end, endAll, newPassword }: Wanted): 'password' | 'logins' | undefined => {
  if (newPassword) return 'password'
  return endAll || end.length > 0 ? 'logins' : undefined
}
