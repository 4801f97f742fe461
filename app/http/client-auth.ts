import { isUtf8 } from 'node:buffer'
import { type PresentedCredentials, refusals } from '../../core/index.js'
import type { Form } from './bodies/forms.js'
import { otherSite } from './refusals.js'

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i
/** An interceptor of the client's may send its bearer token everywhere. That is no credential of a client. */
const OTHER_SCHEME = /^(?!basic\b)/i

/**
 * The credentials of the client, from the header or from the body (RFC 6749 section 2.3.1). A header can be read in
 * several ways: form-encoded as the RFC requires, and raw as many clients send it. Each way gives one pair of
 * credentials. Without credentials there is no pair. A header of another scheme counts as absent. Throws `invalid_request`.
 */
export const clientCredentials = (authorization: string | undefined, form: Form): PresentedCredentials => {
  const id = form.get('client_id')
  const secret = form.get('client_secret')
  if (authorization === undefined || OTHER_SCHEME.test(authorization)) {
    return id === undefined ? [] : [{ id, secret }]
  }
  if (secret !== undefined) throw clientRefusals.twiceAuthenticated()
  const candidates = basicCredentials(authorization)
  if (id === undefined || candidates === 'malformed') return candidates
  const agreeing = candidates.filter(candidate => candidate.id === id)
  if (agreeing.length === 0) throw clientRefusals.contradictingId()
  return agreeing
}

/** Of clients that authenticate: what {@link clientCredentials} throws, and what `authenticateClient` does. */
export const clientRefusals = {
  otherSite,
  unauthenticated: refusals.unauthenticated,
  malformedCredentials: refusals.malformedCredentials,
  twiceAuthenticated: refusals.refusal(
    'invalid_request',
    'the client authenticates both in the header and in the body: send its secret in one of them'
  ),
  contradictingId: refusals.refusal(
    'invalid_request',
    'client_id contradicts the header: send the same id in both, or client_id in neither'
  ),
  invalidClient: refusals.invalidClient
}

const basicCredentials = (authorization: string): PresentedCredentials => {
  const bytes = Buffer.from(BASIC.exec(authorization)?.[1] ?? '', 'base64')
  // RFC 7617: the bytes are UTF-8. The empty text is refused because it has no colon.
  const pair = isUtf8(bytes) ? bytes.toString() : ''
  const colon = pair.indexOf(':')
  if (colon === -1) return 'malformed'
  const raw = { id: pair.slice(0, colon), secret: pair.slice(colon + 1) }
  if (!/[%+]/.test(pair)) return [raw]
  const id = formDecoded(raw.id)
  const secret = formDecoded(raw.secret)
  // @badgateway/oauth2-client percent-encodes colons and nothing else.
  const readings = [raw, { id: raw.id, secret: raw.secret.replaceAll('%3A', ':') }]
  if (id !== undefined && secret !== undefined) readings.unshift({ id, secret })
  return [...new Map(readings.map(reading => [`${reading.id}:${reading.secret}`, reading])).values()]
}

const formDecoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
