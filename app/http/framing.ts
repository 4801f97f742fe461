import type { IncomingMessage } from 'node:http'

/** What RFC 9112 forbids in the head of a request and Node's parser lets through, in words; undefined for a sound head. */
export const faultInHead = ({ headers, rawHeaders, httpVersion }: IncomingMessage): string | undefined => {
  // Section 3.2.
  if (headers.host === undefined) return httpVersion === '1.1' ? 'the request has no Host header: send one' : undefined
  return hasTwoHosts(rawHeaders) ? 'the request has more than one Host header: send one' : undefined
}

/** Section 6.3: the headers announce a body. */
export const hasBody = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Section 6.1: the length of such a request is in doubt, so that what follows on its connection is, too. */
export const isOfDoubtfulLength = ({ headers, httpVersion }: IncomingMessage): boolean =>
  httpVersion === '1.0' && headers['transfer-encoding'] !== undefined

// Node keeps the first of several Host headers in `headers`. Its `headersDistinct` makes an object of lists per request.
const hasTwoHosts = (rawHeaders: readonly string[]): boolean => {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts > 1
}
