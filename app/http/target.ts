// What needs no change: a path without escapes.
const ORIGIN_FORM = /^\/[^%?#]*(?:[?#]|$)/
/** Escapes of letters, digits, `-`, `.`, `_` and `~` (RFC 3986 section 2.3). */
const UNRESERVED = /%(?:2[DE]|3[0-9]|[46][1-9A-F]|5[0-9AF]|7[0-9AE])/gi

/**
 * The target of a request in origin form: without the server's name, which a proxy's client sends (RFC 9112 section
 * 3.2), and with a path in which unreserved characters stand for themselves (RFC 3986 section 6.2.2.2). The router
 * takes all spellings of a path for the same, so whatever else looks at the path must as well.
 */
export const originForm = (target: string): string => {
  if (ORIGIN_FORM.test(target)) return target
  const local = target.replace(/^https?:\/\/[^/?#]*/i, '')
  const end = local.search(/[?#]|$/)
  return (local.slice(0, end) || '/').replace(UNRESERVED, decodeURIComponent) + local.slice(end)
}
