import { html } from './html.js'
import { page } from './layout.js'

/** What the first client shows a person who has signed in: the code, and how to redeem it. Every text is escaped here. */
export const codePage = (code: string, curl: string): string =>
  page(
    'You are signed in',
    html`<h1>You are signed in</h1>
<p>The login page has sent you back here with a code for the client <strong>local</strong>:</p>
<pre id="code">${code}</pre>
<p>This command redeems it for a token. The code works once, and not for long. curl asks for the client's secret, which
the service printed when it first started.</p>
<pre id="curl">${curl}</pre>`
  )

/** What it shows where the login page has sent an error instead (RFC 6749 section 4.1.2.1). */
export const refusalPage = (error: string, description: string): string =>
  page(
    'Error: You are not signed in',
    html`<h1>You are not signed in</h1>
<p>The login page has sent you back here with an error for the client <strong>local</strong>:</p>
<pre id="error">${error}</pre>
<p>${description}</p>`
  )
