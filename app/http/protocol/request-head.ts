import type { IncomingMessage } from 'node:http'
import type { HttpError } from '../errors.js'
import { headRefusals } from '../refusals.js'

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

/** What RFC 9112 forbids in the head of a request and Node's parser lets through; undefined for a sound head. */
export const faultInHead = ({ headers, rawHeaders, httpVersion }: IncomingMessage): HttpError | undefined => {
  const { host, authorization } = headers
  // RFC 9110 section 5.3. A gateway in front may have judged the other one.
  if (authorization !== undefined && isRepeated(rawHeaders, 'authorization')) return headRefusals.twoAuthorizations()
  // Section 3.2.
  if (host === undefined) return httpVersion === '1.1' ? headRefusals.noHost() : undefined
  if (!HOST.test(host)) return headRefusals.badHost()
  return isRepeated(rawHeaders, 'host') ? headRefusals.twoHosts() : undefined
}

// RFC 3986 section 3.2.2, without counting the parts of an IPv6 address. Its zone is that of RFC 6874.
const HOST =
  /^(?:\[(?:[\da-f:.]+(?:%25(?:[\w.~-]|%[\da-f]{2})+)?|v[\da-f]+\.[\w.~!$&'()*+,;=:-]+)\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i

/** Section 6.3: the headers announce a body. */
export const hasBody = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** What leaves open where a request ends, so that what follows on its connection is in doubt (section 6.1). */
export const doubtOfLength = ({ headers, httpVersion }: IncomingMessage): HttpError | undefined => {
  // Node's parser admits 0.9 and 2.0 too, which have other rules.
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return headRefusals.otherVersion()
  const coding = headers['transfer-encoding']
  if (coding === undefined) return undefined
  if (httpVersion === '1.0') return headRefusals.chunkedInOldHttp()
  // Node's parser reads the chunks, and would pass on what is in them as it was coded.
  return CHUNKED.test(coding) ? undefined : headRefusals.otherCoding()
}

const CHUNKED = /^chunked$/i

// Node keeps the first of several in `headers`. Its `headersDistinct` makes an object of lists per request.
const isRepeated = (rawHeaders: readonly string[], header: 'host' | 'authorization'): boolean =>
  rawHeaders.filter((name, at) => at % 2 === 0 && name.length === header.length && name.toLowerCase() === header)
    .length > 1
