import { type ClientCredentials, DomainError } from '../../core/index.js'
import type { Form } from './forms.js'

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i

/**
 * RFC 6749 section 2.3.1: what the client says of itself, in the header or in the body. The header comes in two readings,
 * form-encoded as the RFC has it and raw as many clients send it. Throws `invalid_client` and `invalid_request`.
 */
export const clientCredentials = (authorization: string | undefined, form: Form): readonly ClientCredentials[] => {
  const id = form.get('client_id')
  const secret = form.get('client_secret')
  if (authorization === undefined) {
    if (id === undefined) throw new DomainError('invalid_client', 'the client must authenticate')
    return [{ id, secret }]
  }
  if (secret !== undefined) {
    throw new DomainError('invalid_request', 'the client authenticates both in the header and in the body')
  }
  const candidates = basicCredentials(authorization)
  if (id === undefined) return candidates
  const agreeing = candidates.filter(candidate => candidate.id === id)
  if (agreeing.length === 0) throw new DomainError('invalid_request', 'client_id contradicts the header')
  return agreeing
}

const basicCredentials = (authorization: string): readonly ClientCredentials[] => {
  const pair = utf8(BASIC.exec(authorization)?.[1] ?? '')
  const colon = pair.indexOf(':')
  if (colon === -1) throw new DomainError('invalid_client', 'the Authorization header is malformed')
  const raw = { id: pair.slice(0, colon), secret: pair.slice(colon + 1) }
  const id = formDecoded(raw.id)
  const secret = formDecoded(raw.secret)
  // @badgateway/oauth2-client encodes colons and nothing else.
  const readings = [raw, { id: raw.id, secret: raw.secret.replaceAll('%3A', ':') }]
  if (id !== undefined && secret !== undefined) readings.unshift({ id, secret })
  return [...new Map(readings.map(reading => [`${reading.id}:${reading.secret}`, reading])).values()]
}

/** RFC 7617: the pair's bytes are UTF-8. What is not becomes something that has no colon. */
const utf8 = (base64: string): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'))
  } catch {
    return ''
  }
}

const formDecoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
