import { type Account, PASSWORD_MAX } from '../../../core/index.js'
import {
  alert,
  type Begun,
  beginAfter,
  failureText,
  type LoginFailure,
  passwordField,
  usernameField
} from './credentials.js'
import { type Html, html } from './html.js'
import { type Language, page } from './layout.js'
import { TEXTS, type Texts } from './texts.js'
import { timeOf } from './times.js'

/** The names of the fields beside `username` and `password`. The values of the two boxes say nothing. */
export const FIELDS = { end: 'end', endAll: 'end_all', newPassword: 'new_password' } as const

/** What the account pages have in common. */
interface AccountPage {
  readonly language: Language
  /** The name of the service. */
  readonly service: string
  /** In code points: how long a password must be. */
  readonly passwordMinLength: number
}

/** What a refused form wanted, so that it can be sent again. */
export interface Wanted {
  /** The ids of the logins to end. */
  readonly end: readonly string[]
  readonly endAll: boolean
  /** The password itself is typed again. */
  readonly newPassword: boolean
}

/** Why a form was refused. */
export type AccountProblem =
  | { readonly kind: 'login'; readonly failure: LoginFailure }
  | { readonly kind: 'missing' | 'length'; readonly username: string }

/** The page on which a person signs in to see the logins, and the one that tells why the form was refused. */
export const accountSignInPage = (content: AccountPage, problem?: AccountProblem, wanted?: Wanted): string => {
  const { language, service } = content
  const texts = TEXTS[language]
  const title = texts.accountAt(service)
  const begun = beginWith(problem)
  return page(
    language,
    problem === undefined ? title : texts.titleOfError(title),
    html`<h1>${title}</h1>
<p>${texts.accountPurpose}</p>
${problem === undefined ? '' : alert(problemText(problem, content, texts))}
<form method="post" action="account">
${usernameField(begun, texts)}
${passwordField(begun, texts, texts.onlyHere(html`<bdi>${service}</bdi>`))}
${wanted === undefined ? '' : repeated(wanted, content, texts)}<button>${texts.showLogins}</button>
</form>`
  )
}

/** The page with a person's logins. `changed` is what was done, if anything. */
export const accountPage = (content: AccountPage, account: Account, changed?: 'password' | 'logins'): string => {
  const { language, service } = content
  const texts = TEXTS[language]
  const title = texts.accountAt(service)
  const done = changed === 'password' ? texts.passwordChanged : texts.loginsEnded(account.ended)
  const { logins, others, username } = account
  const count = logins.length + others
  // Nothing has the focus, so that the page is read from its beginning.
  const begun = { username, refused: false, wrong: false, focus: false }
  return page(
    language,
    title,
    html`<h1>${title}</h1>
${changed === undefined ? '' : html`<p role="status" id="done">${done}</p>`}
<p><bdi>${username}</bdi></p>
<form method="post" action="account">
<fieldset>
<legend>${count === 0 ? texts.notLoggedIn : texts.openLogins(count)}</legend>
${count === 0 ? '' : openLogins(account, texts)}</fieldset>
${usernameField(begun, texts)}
${passwordField(begun, texts, html`${texts.passwordAgain}`)}
${newPasswordField(content, texts)}
<button>${texts.change}</button>
</form>`
  )
}

const beginWith = (problem: AccountProblem | undefined): Begun => {
  if (problem?.kind === 'login') return beginAfter(problem.failure)
  const refused = problem !== undefined
  return { username: problem?.username ?? '', refused, wrong: problem?.kind === 'missing', focus: true }
}

const problemText = (problem: AccountProblem, { passwordMinLength }: AccountPage, texts: Texts): Html => {
  if (problem.kind === 'login') return failureText(problem.failure, texts)
  if (problem.kind === 'missing') return html`${texts.credentialsMissing}`
  return html`${texts.passwordLength(passwordMinLength, PASSWORD_MAX)}`
}

const repeated = ({ end, endAll, newPassword }: Wanted, content: AccountPage, texts: Texts): Html =>
  html`${end.map(
    id => html`<input type="hidden" name="${FIELDS.end}" value="${id}">\n`
  )}${end.length === 0 ? '' : html`<p class="quiet">${texts.chosenLogins(end.length)}</p>\n`}${
    endAll ? html`${box(FIELDS.endAll, 'yes', texts.endAll, true)}\n` : ''
  }${newPassword ? html`${newPasswordField(content, texts)}\n` : ''}`

const openLogins = ({ logins, others }: Account, texts: Texts): Html => html`<p class="quiet">${texts.chooseLogins}</p>
<ul role="list">
${logins.map(({ grant, clientName, refreshedAt }) => {
  const began =
    grant.beganAt === undefined ? '' : html`<p class="quiet">${texts.began(timeOf(grant.beganAt, texts))}</p>\n`
  return html`<li>${box(FIELDS.end, grant.id, clientName?.trim() || grant.clientId)}
${began}<p class="quiet">${texts.refreshed(timeOf(refreshedAt, texts))}</p>
${grant.scopes.map(scope => html`<code>${scope}</code>\n`)}</li>\n`
})}</ul>
${others === 0 ? '' : html`<p class="quiet">${texts.others(others)}</p>\n`}${box(FIELDS.endAll, 'yes', texts.endAll)}
`

const box = (name: string, value: string, label: string, checked = false): Html =>
  html`<label class="box"><input type="checkbox" name="${name}" value="${value}"${checked ? html` checked` : ''}> <bdi>${label}</bdi></label>`

const newPasswordField = ({ passwordMinLength }: AccountPage, texts: Texts): Html => html`<div class="field">
<label for="new-password">${texts.newPassword}</label>
<input id="new-password" name="${FIELDS.newPassword}" type="password" autocomplete="new-password"
 autocapitalize="none" autocorrect="off" spellcheck="false" aria-describedby="new-password-note">
<p class="quiet" id="new-password-note">${passwordMinLength > 1 ? `${texts.atLeast(passwordMinLength)} ` : ''}${texts.newPasswordNote}</p>
</div>`
