/** RFC 3986's characters of a host or a user's name, without those that end it. */
const NAME = "(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})"
/** RFC 3986's characters after the scheme, without `#`: a redirect URI has no fragment (RFC 6749 section 3.1.2). */
const REST = "(?:[A-Za-z0-9._~:/?\\[\\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})"
/** 1 to 65535, written in one way: a port with leading zeros would be another text for the same place. */
const PORT = '(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?'
const LOCAL_HOST = '(?:127\\.0\\.0\\.1|\\[::1\\]|localhost)'
const PATH = `(?:[/?]${REST}*)?`

const HTTPS = new RegExp(`^https://(?:(?:${NAME}|:)+@)?(?:${NAME}+|\\[[0-9A-Fa-f:.]+\\])${PORT}${PATH}$`)
const HTTP_LOCAL = new RegExp(`^http://${LOCAL_HOST}${PORT}${PATH}$`)
/** RFC 8252 section 7.1: a reversed domain name, hence the dot. */
const PRIVATE_USE = new RegExp(`^[a-z][a-z0-9+-]*\\.[a-z0-9.+-]*:${REST}+$`)

/** True for what a client may register. */
export const isRedirectUri = (uri: string): boolean =>
  uri.length <= 2000 && [HTTPS, HTTP_LOCAL, PRIVATE_USE].some(form => form.test(uri))

/** RFC 8252 section 7.3: an application on the person's own machine takes whatever port is free. */
export const isSameRedirect = (given: string, registered: string): boolean =>
  given === registered || (HTTP_LOCAL.test(registered) && withoutPort(given) === withoutPort(registered))

const LOCAL_PORT = new RegExp(`^(http://${LOCAL_HOST})${PORT}(?=[/?]|$)`)
const withoutPort = (uri: string): string => uri.replace(LOCAL_PORT, '$1')
