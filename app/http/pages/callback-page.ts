import { html } from './html.js'
import { type Language, page } from './layout.js'
import { TEXTS } from './texts.js'

const CLIENT = html`<strong>local</strong>`

/** The page for a person who has signed in: the code, and the command that redeems it. Escapes every text. */
export const codePage = (language: Language, code: string, command: string): string => {
  const texts = TEXTS[language]
  return page(
    language,
    texts.signedIn,
    html`<h1>${texts.signedIn}</h1>
<p>${texts.codeFollows(CLIENT)}</p>
<pre id="code">${code}</pre>
<p>${texts.howToRedeem}</p>
<pre id="curl">${command}</pre>`
  )
}

/**
 * The page for a person who has come back with an error (RFC 6749 section 4.1.2.1), which the service describes in
 * English. Escapes every text.
 */
export const refusalPage = (language: Language, error: string, description: string): string => {
  const texts = TEXTS[language]
  return page(
    language,
    texts.titleOfError(texts.notSignedIn),
    html`<h1>${texts.notSignedIn}</h1>
<p>${texts.errorFollows(CLIENT)}</p>
<pre id="error">${error}</pre>
${description === '' ? '' : html`<p lang="en">${description}</p>`}`
  )
}
