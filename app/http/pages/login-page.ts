import { type Html, html } from './html.js'
import { page, SERVICE } from './layout.js'

export interface LoginPage {
  readonly client: { readonly id: string; readonly name?: string | undefined }
  /** The scopes that the person grants by signing in. */
  readonly scopes: readonly string[]
  /** The parameters of the authorization request, which the form sends again. */
  readonly fields: Iterable<readonly [name: string, value: string]>
  /** The URL that the form is sent to, without a query string. */
  readonly action: string
  /** The username of a login that failed. */
  readonly username?: string | undefined
  /** Why a login failed. */
  readonly message?: string | undefined
}

/** The page with the form in which a user signs in for a client. Escapes every text. */
export function loginPage({ client, scopes, fields, action, username = '', message = '' }: LoginPage): string {
  const name = html`<bdi>${client.name?.trim() || client.id}</bdi>`
  const failed = message !== ''
  const title = `Sign in to ${SERVICE}`
  const { hidden, query } = divideFields(fields)

  return page(
    failed ? `Error: ${title}` : title,
    html`<h1>${title}</h1>
${permissions(name, scopes)}
${failed ? html`<p role="alert" id="message">${message}</p>` : ''}
<form method="post" action="${query === '' ? action : `${action}?${query}`}">
${hidden.map(([key, value]) => html`<input type="hidden" name="${key}" value="${value}">\n`)}<div class="field">
<label for="username">Username</label>
<input id="username" name="username" value="${username}" required autocomplete="username"
 autocapitalize="none" autocorrect="off"
 spellcheck="false"${failed ? html` aria-describedby="message"` : ''}${username === '' ? AUTOFOCUS : ''}>
</div>
<div class="field">
<label for="password">Password</label>
<input id="password" name="password" type="password" required autocomplete="current-password"
 autocapitalize="none" autocorrect="off" spellcheck="false"
 aria-describedby="${failed ? 'message ' : ''}password-note"${username === '' ? '' : AUTOFOCUS}>
<p class="quiet" id="password-note">Enter it only here, at ${SERVICE}. ${name} does not see it.</p>
</div>
<button>Sign in</button>
</form>
<p class="quiet last">Not expecting this? Close this page, and ${name} gets nothing.</p>`
  )
}

const AUTOFOCUS = html` autofocus`

function permissions(name: Html, scopes: readonly string[]): Html {
  if (scopes.length === 0) {
    return html`<p><strong>${name}</strong> asks to sign you in, and names no particular permissions.</p>`
  }
  return html`<p><strong>${name}</strong> asks you to sign in. <span id="scopes">This gives it access to:</span></p>
<ul role="list" aria-labelledby="scopes">
${scopes.map(scope => html`<li>${inWords(scope)}<code>${scope}</code></li>\n`)}</ul>`
}

/**
 * A scope in words: "Heroes: top ten (read only)" for `heroes:top_ten.readonly`. Empty for other forms, such as a URL.
 */
function inWords(scope: string): string {
  const [, path, modifier] = /^([\w-]+(?::[\w-]+)*)(?:\.([\w-]+))?$/.exec(scope) ?? []
  if (path === undefined) return ''
  const words = path.replaceAll(/[_-]+/g, ' ').replaceAll(':', ': ')
  const limit = modifier?.replace(/^read(only)?$/i, 'read only').replaceAll(/[_-]+/g, ' ')
  return words.charAt(0).toUpperCase() + words.slice(1) + (limit === undefined ? '' : ` (${limit})`)
}

/**
 * Divides the fields into hidden inputs and a query string. The query string has the fields that a browser would change
 * as inputs: it sends every line break as CR LF, gives `_charset_` a value of its own, and sends no input without a
 * name. A `username` or `password` is left out, because the service would take it for what the person typed.
 */
function divideFields(fields: LoginPage['fields']): { hidden: (readonly [string, string])[]; query: string } {
  const hidden: (readonly [string, string])[] = []
  const query = new URLSearchParams()
  for (const field of fields) {
    const [name, value] = field
    if (name === 'username' || name === 'password') continue
    if (name === '' || name.toLowerCase() === '_charset_' || /[\r\n]/.test(name + value)) query.append(name, value)
    else hidden.push(field)
  }
  return { hidden, query: query.toString() }
}
