import type { IncomingMessage } from 'node:http'

/** What RFC 9112 forbids in the head of a request and Node's parser lets through, in words; undefined for a sound head. */
export const faultInHead = ({ headers: { host }, rawHeaders, httpVersion }: IncomingMessage): string | undefined => {
  // Section 3.2.
  if (host === undefined) return httpVersion === '1.1' ? 'the request has no Host header: send one' : undefined
  if (!HOST.test(host)) return 'the Host header is not a host: send its name or address, and a port behind a colon'
  return hasTwoHosts(rawHeaders) ? 'the request has more than one Host header: send one' : undefined
}

// RFC 3986 section 3.2.2, without counting the parts of an IPv6 address. Its zone is that of RFC 6874.
const HOST =
  /^(?:\[(?:[\da-f:.]+(?:%25(?:[\w.~-]|%[\da-f]{2})+)?|v[\da-f]+\.[\w.~!$&'()*+,;=:-]+)\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i

/** Section 6.3: the headers announce a body. */
export const hasBody = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** What leaves open where a request ends, so that what follows on its connection is in doubt (section 6.1), in words. */
export const doubtOfLength = ({ headers, httpVersion }: IncomingMessage): string | undefined => {
  // Node's parser admits 0.9 and 2.0 too, which have other rules.
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'this version of HTTP is not read here: use HTTP/1.1'
  const coding = headers['transfer-encoding']
  if (coding === undefined) return undefined
  if (httpVersion === '1.0') return 'HTTP/1.0 has no Transfer-Encoding: send Content-Length, or use HTTP/1.1'
  // Node's parser reads the chunks, and would pass on what is in them as it was coded.
  return CHUNKED.test(coding) ? undefined : 'the body has a transfer coding that is not read here: send chunked alone'
}

const CHUNKED = /^chunked$/i

// Node keeps the first of several Host headers in `headers`. Its `headersDistinct` makes an object of lists per request.
const hasTwoHosts = (rawHeaders: readonly string[]): boolean => {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts > 1
}
