import { html } from './html.js'
import { page } from './layout.js'

/** The page for a person who has signed in: the code, and the command that redeems it. Escapes every text. */
export const codePage = (code: string, command: string): string =>
  page(
    'You are signed in',
    html`<h1>You are signed in</h1>
<p>The login page has sent you back here with a code for the client <strong>local</strong>:</p>
<pre id="code">${code}</pre>
<p>This command redeems it for a token. The code works once, and not for long. curl asks for the client's secret, which
the service printed when it first started.</p>
<pre id="curl">${command}</pre>`
  )

/** The page for a person who has come back with an error (RFC 6749 section 4.1.2.1). Escapes every text. */
export const refusalPage = (error: string, description: string): string =>
  page(
    'Error: You are not signed in',
    html`<h1>You are not signed in</h1>
<p>The login page has sent you back here with an error for the client <strong>local</strong>:</p>
<pre id="error">${error}</pre>
<p>${description}</p>`
  )
