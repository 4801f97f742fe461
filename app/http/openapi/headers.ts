interface Header {
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
  readonly example?: string | number
  readonly required?: true
}

const text = (description: string, example?: string): Header => ({
  description,
  schema: { type: 'string' },
  ...(example !== undefined && { example })
})
const constant = (description: string, value: string): Header => ({
  description,
  schema: { type: 'string', const: value }
})
/** A header that no answer lacks which lists it. */
const always = (header: Header): Header => ({ ...header, required: true })

/** The headers of answers. */
export const headers = {
  Server: always({
    ...text('The name of the service and its major version.', 'heroes/1'),
    schema: { type: 'string', pattern: '^heroes/[0-9]+$' }
  }),
  'X-Frame-Options': always(constant('No other site may show the answer in a frame.', 'SAMEORIGIN')),
  'X-XSS-Protection': always(constant('For browsers of long ago.', '1; mode=block')),
  'X-Content-Type-Options': always(constant('No browser may guess another content type.', 'nosniff')),
  'Content-Length': always({
    description: 'The length of the body in bytes, after compression.',
    schema: { type: 'integer', minimum: 0 }
  }),
  'Content-Encoding': constant('`gzip`, when the request names it in `Accept-Encoding`.', 'gzip'),
  Vary: always(text('The answer may be compressed, and is cached apart from the one that is not.', 'accept-encoding')),
  'Cache-Control': text('Whether the answer may be kept.', 'no-store'),
  Pragma: constant('`Cache-Control: no-store` for caches of long ago.', 'no-cache'),
  ETag: text('The version of the answer, for `If-None-Match`.', 'W/"Nsd0HqPoGn3PZ3dU"'),
  Link: text(
    'The address of the next page, absolute, as `rel="next"` (RFC 8288). Absent on the last page.',
    '<https://heroes.example/heroes?limit=100&after=100>; rel="next"'
  ),
  Location: always({
    description: 'Where the browser goes next.',
    schema: { type: 'string', format: 'uri' },
    example:
      'https://shop.example/back?code=Zk3Vq0pTn8LwYc5RbXs7HdJf2MgKa9Ue&state=xyz&iss=https%3A%2F%2Fheroes.example'
  }),
  'Retry-After': always({
    description: 'After how many seconds another try makes sense.',
    schema: { type: 'integer', minimum: 0 },
    example: 1
  }),
  'WWW-Authenticate': always(
    text(
      'How to authenticate: `Bearer` for the heroes (RFC 6750), `Basic` for clients (RFC 7617).',
      'Bearer realm="heroes", error="invalid_token"'
    )
  ),
  'Content-Security-Policy': always(text('The page loads nothing from anywhere, and nobody may frame it.')),
  'Content-Language': text('The language of the page: that of `Accept-Language`, or English.', 'en'),
  'Referrer-Policy': always(constant('No other site learns the address of the page.', 'no-referrer')),
  'Cross-Origin-Resource-Policy': constant(
    'No other site may load the answer as a part of its own pages.',
    'same-origin'
  ),
  'Origin-Agent-Cluster': constant('The browser keeps the page apart from those of other origins of its site.', '?1'),
  'X-DNS-Prefetch-Control': constant('The browser looks no address up before somebody follows a link.', 'off'),
  'X-Download-Options': constant('For Internet Explorer.', 'noopen'),
  'X-Permitted-Cross-Domain-Policies': constant('For Flash and Acrobat.', 'none')
} satisfies Record<string, Header>

export type HeaderName = keyof typeof headers

const isHeaderName = (name: string): name is HeaderName => name in headers
const HEADER_NAMES = Object.keys(headers).filter(isHeaderName)

/** What every answer has. */
export const ALWAYS: readonly HeaderName[] = ['Server', 'X-Frame-Options', 'X-XSS-Protection', 'X-Content-Type-Options']
/** What every answer with a body has as well. */
export const WITH_BODY: readonly HeaderName[] = ['Content-Length', 'Content-Encoding', 'Vary']

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
