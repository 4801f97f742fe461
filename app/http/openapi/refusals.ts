import { DomainError, defaultPolicy, type ErrorCode, grantTypes, PASSWORD_MAX } from '../../../core/index.js'
import { HttpError, noSuchPath } from '../errors.js'
import { HERO_KEYS } from '../routes/heroes.js'

const domain = (code: ErrorCode, message: string): DomainError => new DomainError(code, message)
const later = (code: ErrorCode, message: string): DomainError =>
  new DomainError(code, message, { retryAfterSeconds: 1 })
/** What Fastify itself throws, which errors.ts puts into words. */
const fastify = (statusCode: number): Error => Object.assign(new Error(), { statusCode })

const passwordOfOtherLength = (least: number): DomainError =>
  domain('invalid_input', `password must have ${least} to ${PASSWORD_MAX} characters`)

/**
 * Every refusal that an operation can make, by a name. errors.ts makes the answer of the document of each, as it makes
 * the real one: the status, the headers and the body. Each 4xx that `createService` answers in a test must have one of
 * these texts, a page in its line for developers.
 */
const refusals = {
  // Whatever the path
  noSuchPath: noSuchPath(),
  noHost: new HttpError(400, 'the request has no Host header: send one'),
  badHost: new HttpError(400, 'the Host header is not a host: send its name or address, and a port behind a colon'),
  twoHosts: new HttpError(400, 'the request has more than one Host header: send one'),
  chunkedInOldHttp: new HttpError(400, 'HTTP/1.0 has no Transfer-Encoding: send Content-Length, or use HTTP/1.1'),
  otherVersion: new HttpError(400, 'this version of HTTP is not read here: use HTTP/1.1'),
  otherCoding: new HttpError(400, 'the body has a transfer coding that is not read here: send chunked alone'),
  failed: new Error(),
  databaseAway: later('unavailable', 'the database cannot be reached'),
  tooLate: later('unavailable', 'the answer took too long'),

  // Bodies
  malformed: fastify(400),
  tooSlow: new HttpError(
    408,
    'the request took too long to arrive: send its headers within 20 seconds and all of it within 120'
  ),
  tooLarge: fastify(413),
  chunkExtensions: new HttpError(413, 'the chunk extensions are too large: send chunks without extensions'),
  otherType: fastify(415),
  coded: new HttpError(415, 'the body has a content coding: send it without Content-Encoding'),
  tooManyBodies: later('overloaded', 'too many large bodies are being read'),

  // JSON
  noJson: domain('invalid_input', 'the body is not valid JSON: send one JSON object, without a key __proto__'),
  jsonBeyondBounds: domain('invalid_input', 'the body has more than 1000 values or 32 levels: send a smaller one'),
  jsonNoUtf8: domain('invalid_input', 'the body is not valid UTF-8: encode it as UTF-8'),
  jsonUnstorable: domain('invalid_input', 'the body holds a NUL character or half of a surrogate pair: leave it out'),
  noObject: domain('invalid_input', 'the body must be a JSON object'),

  // Forms and query strings
  noForm: domain('invalid_request', 'the request has no form: send one as application/x-www-form-urlencoded'),
  parameterTooLong: domain('invalid_request', 'a parameter is longer than 16384 bytes: send a shorter one'),
  parameterRepeated: domain('invalid_request', 'a parameter is repeated: send each one once'),
  tooManyParameters: domain('invalid_request', 'there are more than 1000 parameters: send fewer'),
  parameterNoUtf8: domain('invalid_request', 'a parameter is not valid UTF-8: encode it as UTF-8'),
  parameterWithNul: domain('invalid_request', 'a parameter holds a NUL character: leave it out'),
  brokenEscape: domain('invalid_request', 'a parameter has a broken percent-escape: write % as %25'),
  queryNotEncoded: domain(
    'invalid_request',
    'the query string has characters that must be percent-encoded: encode all but printable ASCII'
  ),
  parametersTooLong: domain(
    'invalid_request',
    'the parameters are longer than 16384 bytes together: send shorter ones'
  ),

  // Bearer tokens
  tokenRequired: domain('token_required', 'a bearer access token is required: log in for one and send it'),
  malformedToken: domain('invalid_token', 'the access token is malformed: send it as it was issued'),
  invalidToken: domain('invalid_token', 'the access token is unknown, expired or revoked: get a new one'),
  insufficientScope: domain(
    'insufficient_scope',
    'the access token lacks the scope for this: get one that has the scope'
  ),

  // Heroes
  noInteger: domain('invalid_input', 'id must be an integer'),
  noSuchHero: domain('not_found', 'no hero has this id: send that of a hero in the list'),
  heroWithoutName: domain('invalid_input', 'the body has no name: add it'),
  heroWithMore: domain('invalid_input', `the body has a key that is unknown: it may have ${HERO_KEYS.join(', ')}`),
  nameOfOtherType: domain('invalid_input', 'name must be of type string'),
  nameOfOtherLength: domain('invalid_input', 'name must have 1 to 255 characters'),
  nameTaken: domain('conflict', 'a hero with this name exists: choose another name'),
  queryRepeated: domain('invalid_input', 'a query parameter is repeated: send each one once'),
  afterNoInteger: domain('invalid_input', 'after must be an integer'),
  limitNoInteger: domain('invalid_input', 'limit must be an integer'),
  limitOutside: domain('invalid_input', 'limit must be from 1 to 1000'),
  listTooLate: later('unavailable', 'the answer took too long: ask for a part of the list, with a limit of up to 1000'),
  tooManyLists: later(
    'overloaded',
    'too many long lists are being sent: ask for a part of the list, with a limit of up to 1000'
  ),

  // Users
  registrationClosed: domain(
    'access_denied',
    'registration is closed: ask the people who run this service for an account'
  ),
  withoutUsername: domain('invalid_input', 'the body has no username: add it'),
  withoutPassword: domain('invalid_input', 'the body has no password: add it'),
  userWithMore: domain('invalid_input', 'the body has a key that is unknown: it may have id, username, password'),
  usernameOfOtherType: domain('invalid_input', 'username must be of type string'),
  passwordOfOtherType: domain('invalid_input', 'password must be of type string'),
  usernameOfOtherLength: domain('invalid_input', 'username must have 1 to 255 characters'),
  passwordOfOtherLength: passwordOfOtherLength(defaultPolicy.passwordMinLength),
  usernameTaken: domain('conflict', 'a user with this username exists: choose another username'),
  tooManyRegistrations: later(
    'too_many_attempts',
    'too many users were registered from this address: wait before the next'
  ),
  tooManyHashes: later('overloaded', 'too many logins are waiting'),

  // Clients
  otherSite: new HttpError(403, 'another website sent this request: send it from an application or a server'),
  unauthenticated: domain(
    'invalid_client',
    'the client must authenticate: send its id and secret by HTTP Basic or in the form'
  ),
  twiceAuthenticated: domain(
    'invalid_request',
    'the client authenticates both in the header and in the body: send its secret in one of them'
  ),
  contradictingId: domain(
    'invalid_request',
    'client_id contradicts the header: send the same id in both, or client_id in neither'
  ),
  invalidClient: domain(
    'invalid_client',
    'the client is unknown or its secret is wrong: send the id and secret of a client by HTTP Basic or in the form'
  ),

  // Tokens
  withoutGrantType: domain('invalid_request', 'grant_type is missing: send it'),
  unsupportedGrantType: domain('unsupported_grant_type', `grant_type must be one of ${grantTypes.join(', ')}`),
  otherGrantType: domain(
    'unauthorized_client',
    'the client is not allowed this grant_type: send one that it was given'
  ),
  publicForItself: domain('unauthorized_client', 'a public client cannot get a token for itself: log a user in'),
  usernameMissing: domain('invalid_request', 'username is missing: send it'),
  passwordMissing: domain('invalid_request', 'password is missing: send it'),
  wrongCredentials: domain('invalid_grant', 'the username or the password is wrong: check both'),
  tooManyLogins: later('too_many_attempts', 'too many logins were tried: wait before the next'),
  codeMissing: domain('invalid_request', 'code is missing: send it'),
  invalidCode: domain(
    'invalid_grant',
    'the code is unknown, expired, used, or bound to another client, redirect URI or verifier: log in for a new one'
  ),
  refreshTokenMissing: domain('invalid_request', 'refresh_token is missing: send it'),
  publicRefresh: domain('unauthorized_client', 'a public client has no refresh tokens: log in again'),
  invalidRefreshToken: domain(
    'invalid_grant',
    'the refresh token is unknown, expired, ended or issued to another client: log in again'
  ),
  scopeMalformed: domain(
    'invalid_scope',
    'the scope is malformed: send names without quotes and backslashes, with spaces between them'
  ),
  scopeTooLong: domain('invalid_scope', 'a scope has at most 100 parts and 4096 characters'),
  scopeNotAllowed: domain(
    'invalid_scope',
    'the client is allowed none of the requested scopes: request others, or none'
  ),
  scopeBeyondGrant: domain('invalid_scope', 'the scope goes beyond what was granted: request less, or leave scope out'),
  tokenMissing: domain('invalid_request', 'token is missing: send it'),
  tokenOfAnother: domain('invalid_grant', 'the token was issued to another client: send one of your own'),
  publicIntrospection: domain('unauthorized_client', 'a public client may not introspect: use one that has a secret'),

  // The login page
  unknownClient: domain('invalid_request', 'the application is not known here'),
  noRedirectUri: domain('invalid_request', 'the application has no address to return to'),
  unnamedRedirectUri: domain(
    'invalid_request',
    'the application registered several addresses, and the request does not say to which of them to return'
  ),
  otherRedirectUri: domain('invalid_request', 'the address to return to is none that the application registered'),
  stateTooLong: domain('invalid_request', 'state is longer than 4096 bytes: send a shorter one'),
  formAgainstLink: domain('invalid_request', 'the form and the link contradict each other'),
  neitherCodeNorError: domain('invalid_request', 'the link has neither a code nor an error'),

  // Health
  databaseSlow: later('unavailable', 'the database takes too long to answer'),
  shuttingDown: later('unavailable', 'the service is shutting down')
} satisfies Record<string, Error>

export type RefusalName = keyof typeof refusals

/** The settings that the texts of refusals name. */
export interface RefusalFigures {
  /** In bytes. */
  readonly bodyLimit: number
  /** In code points. */
  readonly passwordMinLength: number
}

/** The refusals of a service with these settings. The answer to a body that is too large has its figure from errors.ts. */
export const refusalsOf = ({ passwordMinLength }: RefusalFigures): typeof refusals => ({
  ...refusals,
  passwordOfOtherLength: passwordOfOtherLength(passwordMinLength)
})

/** What every request may meet. */
export const OF_EVERY_REQUEST = [
  'noHost',
  'badHost',
  'twoHosts',
  'otherVersion',
  'chunkedInOldHttp',
  'otherCoding'
] satisfies RefusalName[]

/** What a request may meet that the stores have a part in. */
export const OF_STORES = ['failed', 'databaseAway', 'tooLate'] satisfies RefusalName[]

/** What a request whose body is read may meet. */
export const OF_BODIES = [
  'malformed',
  'tooSlow',
  'tooLarge',
  'chunkExtensions',
  'otherType',
  'coded',
  'tooManyBodies'
] satisfies RefusalName[]

/** What a request with a JSON body may meet, beside {@link OF_BODIES}. */
export const OF_JSON = ['noJson', 'jsonBeyondBounds', 'jsonNoUtf8', 'jsonUnstorable'] satisfies RefusalName[]

/** What encoded parameters may meet, in a form or a query string. */
export const OF_PARAMETERS = [
  'parameterRepeated',
  'parameterTooLong',
  'tooManyParameters',
  'parameterNoUtf8',
  'parameterWithNul',
  'brokenEscape'
] satisfies RefusalName[]

/** What clients that authenticate may meet. */
export const OF_CLIENTS = [
  'otherSite',
  'unauthenticated',
  'twiceAuthenticated',
  'contradictingId',
  'invalidClient'
] satisfies RefusalName[]
