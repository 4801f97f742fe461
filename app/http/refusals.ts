import { DomainError, refusals } from '../../core/index.js'
import { HttpError, MALFORMED } from './errors.js'

// What a request is refused with before its endpoint judges it. The OpenAPI document shows these very errors, under the
// names that they have here.

/** Makes the error of each refusal. */
export type Refusals = Readonly<Record<string, () => Error>>

const ofHttp = (status: number, message: string) => (): HttpError => new HttpError(status, message)
/** A refusal for length, which a page shows as a link or a form that is too long. */
const tooLong = (message: string) => refusals.faultyLink('too_long', message)
const ofDomain = refusals.refusal
/** What Fastify itself throws, which errors.ts puts into words. */
const ofFastify = (statusCode: number) => (): Error => Object.assign(new Error(), { statusCode })

/** Of the head of any request. */
export const headRefusals = {
  noHost: ofHttp(400, 'the request has no Host header: send one'),
  badHost: ofHttp(400, 'the Host header is not a host: send its name or address, and a port behind a colon'),
  twoHosts: ofHttp(400, 'the request has more than one Host header: send one'),
  twoAuthorizations: ofHttp(400, 'the request has more than one Authorization header: send one'),
  otherVersion: ofHttp(400, 'this version of HTTP is not read here: use HTTP/1.1'),
  chunkedInOldHttp: ofHttp(400, 'HTTP/1.0 has no Transfer-Encoding: send Content-Length, or use HTTP/1.1'),
  otherCoding: ofHttp(400, 'the body has a transfer coding that is not read here: send chunked alone')
}

/** Of a body of any kind. */
export const bodyRefusals = {
  malformed: ofHttp(400, MALFORMED),
  tooSlow: ofHttp(
    408,
    'the request took too long to arrive: send its headers within 20 seconds and all of it within 120'
  ),
  tooLarge: ofFastify(413),
  chunkExtensions: ofHttp(413, 'the chunk extensions are too large: send chunks without extensions'),
  otherType: ofFastify(415),
  coded: ofHttp(415, 'the body has a content coding: send it without Content-Encoding'),
  tooManyBodies: refusals.tryLater('overloaded', 'too many large bodies are being read')
}

/** Of a JSON body. */
export const jsonRefusals = {
  ...bodyRefusals,
  /** `place` is where it breaks: ` at line 1, column 9`. */
  noJson: (place = '') => new DomainError('invalid_input', `the body is not valid JSON${place}: send one JSON object`),
  jsonForbiddenKey: ofDomain('invalid_input', 'the body has a key that no JSON body may have: leave it out'),
  jsonBeyondBounds: ofDomain('invalid_input', 'the body has more than 1000 values or 32 levels: send a smaller one'),
  jsonNoUtf8: ofDomain('invalid_input', 'the body is not valid UTF-8: encode it as UTF-8'),
  jsonUnstorable: ofDomain('invalid_input', 'the body holds a NUL character or half of a surrogate pair: leave it out')
}

/** Of encoded parameters, in a form or a query string. */
export const parameterRefusals = {
  parameterRepeated: ofDomain('invalid_request', 'a parameter is repeated: send each one once'),
  parameterTooLong: tooLong('a parameter is longer than 16384 bytes: send a shorter one'),
  tooManyParameters: tooLong('there are more than 1000 parameters: send fewer'),
  parameterNoUtf8: ofDomain(
    'invalid_request',
    'a parameter is not valid UTF-8, or holds a raw U+FFFD: percent-encode it as UTF-8'
  ),
  parameterWithNul: ofDomain('invalid_request', 'a parameter holds a NUL character: leave it out'),
  brokenEscape: ofDomain('invalid_request', 'a parameter has a broken percent-escape: write % as %25')
}

const OTHER_THAN_FORM = 'the content type is not one that is read here: send application/x-www-form-urlencoded'

/** Of a form. */
export const formRefusals = {
  ...bodyRefusals,
  ...parameterRefusals,
  otherType: ofHttp(415, OTHER_THAN_FORM),
  rawForm: tooLong('the form is long and not percent-encoded: encode all but ASCII')
}

/** Of a form under `/auth/`, where whatever is malformed is 400 (RFC 6749 section 5.2). */
export const oauthFormRefusals = { ...formRefusals, otherType: ofHttp(400, OTHER_THAN_FORM) }

/** Of a query string. */
export const queryRefusals = {
  ...parameterRefusals,
  queryNotEncoded: ofDomain(
    'invalid_request',
    'the query string has characters that must be percent-encoded: encode all but printable ASCII'
  )
}

/** Of what a page would repeat. */
export const pageRefusals = {
  parametersTooLong: tooLong('the parameters are longer than 16384 bytes together: send shorter ones')
}

/** Of a `POST` that a browser sends for a page of another site. */
export const otherSite = ofHttp(403, 'another website sent this request: send it from an application or a server')

/** What comes too late, with the advice of its route. */
export const tooLate = (advice?: string): DomainError =>
  refusals.tryLater('unavailable', `the answer took too long${advice === undefined ? '' : `: ${advice}`}`)()

/** Of what the stores have a part in. */
export const storeRefusals = {
  failed: () => new Error(),
  databaseAway: refusals.databaseAway,
  tooLate
}
