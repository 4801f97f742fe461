import { requireString } from './text.js'

/** One character that RFC 3986 allows in a host or in a user name. */
const NAME = "(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})"
/**
 * One character that RFC 3986 allows after the scheme, but no `#`: a redirect URI has no fragment (RFC 6749 section
 * 3.1.2).
 */
const REST = "(?:[A-Za-z0-9._~:/?\\[\\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})"
/** A port from 1 to 65535. Leading zeros are refused, as they would give one place several texts. */
const PORT = '(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?'
const LOCAL_HOST = '(?:127\\.0\\.0\\.1|\\[::1\\]|localhost)'
const PATH = `(?:[/?]${REST}*)?`

const HTTPS = new RegExp(`^https://(?:(?:${NAME}|:)+@)?(?:${NAME}+|\\[[0-9A-Fa-f:.]+\\])${PORT}${PATH}$`)
const HTTP_LOCAL = new RegExp(`^http://${LOCAL_HOST}${PORT}${PATH}$`)
/** RFC 8252 section 7.1: a private-use scheme is a reversed domain name, so it has a dot. */
const PRIVATE_USE = new RegExp(`^[a-z][a-z0-9+-]*\\.[a-z0-9.+-]*:${REST}+$`)

/** True for a URI that a client may register. */
export const isRedirectUri = (uri: string): boolean =>
  requireString('a redirect URI', uri).length <= 2000 && [HTTPS, HTTP_LOCAL, PRIVATE_USE].some(form => form.test(uri))

/** False for a text to which nothing can or may redirect. Others may have stored one, whatever may be registered. */
export const canRedirectTo = (uri: string): boolean => /^(?:https?|[a-z][a-z0-9+-]*\.[a-z0-9+.-]*):[!"$-~]+$/i.test(uri)

/** RFC 8252 section 7.3: an application on the user's own machine takes any free port, so its port is not compared. */
export const isSameRedirect = (given: string, registered: string): boolean =>
  given === registered || (HTTP_LOCAL.test(registered) && withoutPort(given) === withoutPort(registered))

const LOCAL_PORT = new RegExp(`^(http://${LOCAL_HOST})${PORT}(?=[/?]|$)`)
const withoutPort = (uri: string): string => uri.replace(LOCAL_PORT, '$1')
