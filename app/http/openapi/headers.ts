/** A header of answers as the document tells of it. */
interface Header {
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
  readonly example?: string | number
  readonly required?: true
}

/** An answer that lists the header may lack it. */
const sometimes = (description: string, schema: Header['schema'], example?: string | number): Header => ({
  description,
  schema,
  ...(example !== undefined && { example })
})

/** Every answer that lists the header has it. */
const always = (...header: Parameters<typeof sometimes>): Header => ({ ...sometimes(...header), required: true })

const text = { type: 'string' }
const count = { type: 'integer', minimum: 0 }
const only = (value: string): Header['schema'] => ({ type: 'string', const: value })

/** The headers of answers. */
export const headers = {
  Server: always(
    'The name of the service and its major version.',
    { type: 'string', pattern: '^heroes/[0-9]+$' },
    'heroes/1'
  ),
  'X-Frame-Options': always('No other site may show the answer in a frame.', only('SAMEORIGIN')),
  'X-XSS-Protection': always('For browsers of long ago.', only('1; mode=block')),
  'X-Content-Type-Options': always('No browser may guess another content type.', only('nosniff')),
  'Content-Length': always('The length of the body in bytes, after compression.', count),
  'Content-Encoding': sometimes('`gzip`, when the request names it in `Accept-Encoding`.', only('gzip')),
  Vary: always('The answer may be compressed, and is cached apart from the one that is not.', text, 'accept-encoding'),
  'Cache-Control': sometimes('Whether the answer may be kept.', text, 'no-store'),
  Pragma: sometimes('`Cache-Control: no-store` for caches of long ago.', only('no-cache')),
  ETag: sometimes('The version of the answer, for `If-None-Match`.', text, 'W/"Nsd0HqPoGn3PZ3dU"'),
  Link: sometimes(
    'The address of the next page, absolute, as `rel="next"` (RFC 8288). Absent on the last page.',
    text,
    '<https://heroes.example/heroes?limit=100&after=100>; rel="next"'
  ),
  Location: always(
    'Where the browser goes next.',
    { type: 'string', format: 'uri' },
    'https://shop.example/back?code=Zk3Vq0pTn8LwYc5RbXs7HdJf2MgKa9Ue&state=xyz&iss=https%3A%2F%2Fheroes.example'
  ),
  'Retry-After': always('After how many seconds another try makes sense.', count, 1),
  'WWW-Authenticate': always(
    'How to authenticate: `Bearer` for the heroes (RFC 6750), `Basic` for clients (RFC 7617).',
    text,
    'Bearer realm="heroes", error="invalid_token"'
  ),
  'Content-Security-Policy': always('The page loads nothing from anywhere, and nobody may frame it.', text),
  'Content-Language': sometimes('The language of the page: that of `Accept-Language`, or English.', text, 'en'),
  'Referrer-Policy': always('No other site learns the address of the page.', only('no-referrer')),
  'Cross-Origin-Resource-Policy': always('No other site may load the page as a part of its own.', only('same-origin'))
} satisfies Record<string, Header>

export type HeaderName = keyof typeof headers

const isHeaderName = (name: string): name is HeaderName => name in headers
const HEADER_NAMES = Object.keys(headers).filter(isHeaderName)

/** The headers of the document among `names`, which are in lower case. */
export const named = (names: readonly string[]): readonly HeaderName[] =>
  HEADER_NAMES.filter(name => names.includes(name.toLowerCase()))

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
/** What pages have that speak the language of their reader. */
export const OF_PERSONAL_PAGES: readonly HeaderName[] = [...OF_PAGES, 'Content-Language']
