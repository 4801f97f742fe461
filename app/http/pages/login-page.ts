import { alert, beginAfter, failureText, type LoginFailure, passwordField, usernameField } from './credentials.js'
import { type Html, html } from './html.js'
import { type Language, page } from './layout.js'
import { TEXTS, type Texts } from './texts.js'

/** What the pages say of the service that they belong to. */
export interface ServiceDescription {
  readonly name: string
  /** Where people without an account get one, if anywhere. */
  readonly signupUrl: string | undefined
  /** Where people who have forgotten their password get another, if anywhere. */
  readonly resetUrl: string | undefined
}

export interface LoginPage {
  readonly language: Language
  readonly service: ServiceDescription
  readonly client: { readonly id: string; readonly name?: string | undefined }
  /** The scopes that the person grants by signing in. */
  readonly scopes: readonly string[]
  /** The operator's words for those of the scopes that have some. */
  readonly words: ReadonlyMap<string, string>
  /** Where the person is sent back to. */
  readonly redirectUri: string
  /** The parameters of the authorization request, which the form sends again. */
  readonly fields: Iterable<readonly [name: string, value: string]>
  readonly failure?: LoginFailure | undefined
}

/** The name of the button that ends the request. Its value says nothing, but an empty one would count as absent. */
export const CANCEL = 'cancel'

/** The page with the form in which a user signs in for a client. Escapes every text. */
export const loginPage = (content: LoginPage): string => {
  const { language, service, client, scopes, words, redirectUri, fields, failure } = content
  const texts = TEXTS[language]
  const name = html`<bdi>${client.name?.trim() || client.id}</bdi>`
  const failed = failure !== undefined
  const begun = beginAfter(failure)
  const title = texts.signInTo(service.name)
  const { hidden, query } = divideFields(fields)

  return page(
    language,
    failed ? texts.titleOfError(title) : title,
    html`<h1>${title}</h1>
${permissions(html`<strong>${name}</strong>`, scopes, words, texts)}
${failed ? alert(failureText(failure, texts)) : ''}
<form method="post" action="code${query === '' ? '' : `?${query}`}">
${hidden.map(([key, value]) => html`<input type="hidden" name="${key}" value="${value}">\n`)}${usernameField(begun, texts)}
${passwordField(begun, texts, texts.passwordNote(html`<bdi>${service.name}</bdi>`, name))}
<button>${texts.signIn}</button>
<button class="secondary" name="${CANCEL}" value="yes" formnovalidate>${texts.cancel}</button>
</form>
${links(service, texts)}<p class="quiet last">${returnsTo(redirectUri, texts)}</p>
<p class="quiet">${texts.notExpected(name)}</p>`
  )
}

const permissions = (name: Html, scopes: readonly string[], words: LoginPage['words'], texts: Texts): Html => {
  if (scopes.length === 0) return html`<p>${texts.asksToSignIn(name)}</p>`
  return html`<p>${texts.asksForScopes(name)} <span id="scopes">${texts.scopesGiven(scopes.length)}</span></p>
<ul role="list" aria-labelledby="scopes">
${scopes.map(scope => html`<li>${wordsFor(words.get(scope))}<code>${scope}</code></li>\n`)}</ul>`
}

const wordsFor = (words: string | undefined): Html => (words === undefined ? html`` : html`<bdi>${words}</bdi>`)

const links = ({ signupUrl, resetUrl }: ServiceDescription, texts: Texts): Html => html`<div class="links">
${resetUrl === undefined ? '' : html`<p><a href="${resetUrl}">${texts.forgotPassword}</a></p>\n`}${
  signupUrl === undefined ? '' : html`<p>${texts.noAccount} <a href="${signupUrl}">${texts.createAccount}</a></p>\n`
}<p><a href="../account">${texts.toAccount}</a></p>
</div>
`

/** The longest query string of the form's address. A link of this length has room among the headers of a request. */
const MOST_QUERY = 16_384

/**
 * Divides the fields into hidden inputs and a query string. The inputs have all but those that a browser would change:
 * it sends every line break as CR LF, gives `_charset_` a value of its own, and sends no input without a name. One with
 * the name of a button would be sent twice. The query string has every field, so that a reload is the form again, or
 * where that would be too long, those alone that are no input. A `username` or `password` is left out of both, because
 * the service would take it for what the person typed.
 */
const divideFields = (fields: LoginPage['fields']): { hidden: (readonly [string, string])[]; query: string } => {
  const hidden: (readonly [string, string])[] = []
  const all = new URLSearchParams()
  const others = new URLSearchParams()
  for (const field of fields) {
    const [name, value] = field
    if (name === 'username' || name === 'password') continue
    all.append(name, value)
    if (isSentUnchanged(name, value)) hidden.push(field)
    else others.append(name, value)
  }
  const query = all.toString()
  return { hidden, query: query.length > MOST_QUERY ? others.toString() : query }
}

const isSentUnchanged = (name: string, value: string): boolean =>
  name !== '' && name !== CANCEL && name.toLowerCase() !== '_charset_' && !/[\r\n]/.test(name + value)

const THIS_DEVICE = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::|$)/

/**
 * Says where a redirect URI leads. The host is the one that browsers find in the URI, in ASCII: a name in another script
 * stays in punycode, because its letters may look like those of another name.
 */
const returnsTo = (redirectUri: string, texts: Texts): Html => {
  const scheme = redirectUri.slice(0, redirectUri.indexOf(':'))
  if (!/^https?$/.test(scheme)) return texts.returnToApplication(place(scheme))
  // A browser goes nowhere from a host that it cannot read, such as 256.256.256.256.
  const host = URL.canParse(redirectUri) ? new URL(redirectUri).host : redirectUri
  return THIS_DEVICE.test(host) ? texts.returnToThisDevice(place(host)) : texts.returnTo(place(host))
}

const place = (text: string): Html => html`<strong><bdi>${text}</bdi></strong>`
