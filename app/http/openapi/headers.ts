/** The headers of answers. */
export const headers = {
  Server: {
    description: 'The name of the service and its major version.',
    required: true,
    schema: { type: 'string', pattern: '^heroes/[0-9]+$' },
    example: 'heroes/1'
  },
  'X-Frame-Options': {
    description: 'No other site may show the answer in a frame.',
    required: true,
    schema: { type: 'string', const: 'SAMEORIGIN' }
  },
  'X-XSS-Protection': {
    description: 'For browsers of long ago.',
    required: true,
    schema: { type: 'string', const: '1; mode=block' }
  },
  'X-Content-Type-Options': {
    description: 'No browser may guess another content type.',
    required: true,
    schema: { type: 'string', const: 'nosniff' }
  },
  'Content-Length': {
    description: 'The length of the body in bytes, after compression.',
    required: true,
    schema: { type: 'integer', minimum: 0 }
  },
  'Content-Encoding': {
    description: '`gzip`, when the request names it in `Accept-Encoding`.',
    schema: { type: 'string', const: 'gzip' }
  },
  Vary: {
    description: 'The answer may be compressed, and is cached apart from the one that is not.',
    required: true,
    schema: { type: 'string' },
    example: 'accept-encoding'
  },
  'Cache-Control': {
    description: 'Whether the answer may be kept.',
    schema: { type: 'string' },
    example: 'no-store'
  },
  Pragma: {
    description: '`Cache-Control: no-store` for caches of long ago.',
    schema: { type: 'string', const: 'no-cache' }
  },
  ETag: {
    description: 'The version of the answer, for `If-None-Match`.',
    schema: { type: 'string' },
    example: 'W/"Nsd0HqPoGn3PZ3dUpeI1Ec1cF1Zt8mWKjNLRc9BzsVc"'
  },
  Link: {
    description: 'The address of the next page, absolute, as `rel="next"` (RFC 8288). Absent on the last page.',
    schema: { type: 'string' },
    example: '<https://heroes.example/heroes?limit=100&after=100>; rel="next"'
  },
  Location: {
    description: 'Where the browser goes next.',
    required: true,
    schema: { type: 'string', format: 'uri' },
    example:
      'https://shop.example/back?code=Zk3Vq0pTn8LwYc5RbXs7HdJf2MgKa9Ue&state=xyz&iss=https%3A%2F%2Fheroes.example'
  },
  'Retry-After': {
    description: 'After how many seconds another try makes sense.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
    example: 1
  },
  'WWW-Authenticate': {
    description: 'How to authenticate: `Bearer` for the heroes (RFC 6750), `Basic` for clients (RFC 7617).',
    required: true,
    schema: { type: 'string' },
    example: 'Bearer realm="heroes", error="invalid_token"'
  },
  'Content-Security-Policy': {
    description: 'The page loads nothing from anywhere, and nobody may frame it.',
    required: true,
    schema: { type: 'string' }
  },
  'Content-Language': {
    description: 'The language of the page: that of `Accept-Language`, or English.',
    schema: { type: 'string' },
    example: 'en'
  },
  'Referrer-Policy': {
    description: 'No other site learns the address of the page.',
    required: true,
    schema: { type: 'string', const: 'no-referrer' }
  },
  'Cross-Origin-Resource-Policy': {
    description: 'No other site may load the answer as a part of its own pages.',
    schema: { type: 'string', const: 'same-origin' }
  },
  'Origin-Agent-Cluster': {
    description: 'The browser keeps the page apart from those of other origins of its site.',
    schema: { type: 'string', const: '?1' }
  },
  'X-DNS-Prefetch-Control': {
    description: 'The browser looks no address up before somebody follows a link.',
    schema: { type: 'string', const: 'off' }
  },
  'X-Download-Options': {
    description: 'For Internet Explorer.',
    schema: { type: 'string', const: 'noopen' }
  },
  'X-Permitted-Cross-Domain-Policies': {
    description: 'For Flash and Acrobat.',
    schema: { type: 'string', const: 'none' }
  }
} as const

export type HeaderName = keyof typeof headers

const isHeaderName = (name: string): name is HeaderName => name in headers
const HEADER_NAMES = Object.keys(headers).filter(isHeaderName)

/** What every answer has. */
export const ALWAYS: readonly HeaderName[] = ['Server', 'X-Frame-Options', 'X-XSS-Protection', 'X-Content-Type-Options']
/** What every answer with a body has as well. */
export const WITH_BODY: readonly HeaderName[] = ['Content-Length', 'Content-Encoding', 'Vary']

/** What every answer has that must not be kept, because a token or a code is in it. */
export const UNKEPT: readonly HeaderName[] = ['Cache-Control', 'Pragma']
/** What pages have. */
export const OF_PAGES: readonly HeaderName[] = [
  'Cache-Control',
  'Content-Security-Policy',
  'Referrer-Policy',
  'Cross-Origin-Resource-Policy'
]
/** What the pages of the login have. @fastify/helmet sets all of them but `Cache-Control`. */
export const OF_LOGIN_PAGES: readonly HeaderName[] = [
  ...OF_PAGES,
  'Origin-Agent-Cluster',
  'X-DNS-Prefetch-Control',
  'X-Download-Options',
  'X-Permitted-Cross-Domain-Policies'
]

/** The headers of the document among `names`, which are in lower case. */
export const named = (names: readonly string[]): readonly HeaderName[] =>
  HEADER_NAMES.filter(name => names.includes(name.toLowerCase()))
