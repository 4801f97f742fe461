import { type Html, html } from './html.js'
import type { Texts } from './texts.js'

const THIS_DEVICE = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::|$)/

/**
 * Says where a redirect URI leads. The host is the one that browsers find in the URI, in ASCII: a name in another script
 * stays in punycode, because its letters may look like those of another name.
 */
export const returnsTo = (redirectUri: string, texts: Texts): Html => {
  const scheme = redirectUri.slice(0, redirectUri.indexOf(':'))
  if (!/^https?$/.test(scheme)) return texts.returnToApplication(place(scheme))
  // A browser goes nowhere from a host that it cannot read, such as 256.256.256.256.
  const host = URL.canParse(redirectUri) ? new URL(redirectUri).host : redirectUri
  return THIS_DEVICE.test(host) ? texts.returnToThisDevice(place(host)) : texts.returnTo(place(host))
}

const place = (text: string): Html => html`<strong><bdi>${text}</bdi></strong>`
