// Well-formed requests of the fuzzer, as bytes and with the answers that they may get.

import type { Random } from './random.js'

/** What a request may be answered. */
export interface Expected {
  readonly method: string
  readonly statuses: readonly number[]
  /** A text that is in the body or in the head, so that an answer in the wrong place is noticed. */
  readonly contains: string | undefined
  /** True when a `100 Continue` may come before the answer. */
  readonly continues: boolean
}

/** What a case needs of the service, which also holds the heroes 1 to 5 with the names `seed 1` to `seed 5`. */
export interface Credentials {
  /** A valid access token. */
  readonly token: string
  /** The value of the client's `Authorization` header. */
  readonly basic: string
}

/** The longest body in bytes that the service reads. */
export const BODY_LIMIT = 3000

/** A request before it is written as bytes, and what it may be answered. */
export interface Request {
  readonly method: string
  readonly target: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string | undefined
  readonly statuses: readonly number[]
  readonly contains?: string | undefined
  /** The name of the hero that the request asks for. */
  readonly hero?: string
}

export const JSON_TYPE = ['Content-Type', 'application/json'] as const
export const FORM_TYPE = ['Content-Type', 'application/x-www-form-urlencoded'] as const

/** A well-formed request, whether the service serves it or refuses it. Most answers hold something that tells them from other answers. */
export const wellFormedRequest = (random: Random, unique: string, { token, basic }: Credentials): Request => {
  const bearer = ['Authorization', `${random.pick(['Bearer', 'bearer', 'BEARER'])} ${token}`] as const
  const wrong = random.pick([
    ['Authorization', 'Bearer 0123456789abcdef0123456789abcdef'],
    ['Authorization', `Bearer ${'x'.repeat(random.int(300))}`],
    ['Authorization', basic],
    ['X-Nothing', '1']
  ] as const)
  const id = 1 + random.int(5)
  const hero = { name: unique }
  const create = (headers: Request['headers'], body: string, statuses: number[], contains?: string): Request => ({
    method: 'POST',
    target: '/heroes',
    headers,
    body,
    statuses,
    contains
  })
  const refusedTarget = `/heroes/${unique}`
  const kinds: [() => Request, ...(() => Request)[]] = [
    () => ({ ...get(`/heroes/${id}`, [bearer], [200], `{"id":${id},"name":"seed ${id}"}`) }),
    () => get(`/heroes?name=seed%20${id}`, [bearer], [200], `[{"id":${id},"name":"seed ${id}"}]`),
    () => get(`/heroes/${id}`, [wrong], [401], 'bearer'),
    () => get(`/heroes/${9_000_000 + id}`, [bearer], [404], 'no hero has this id'),
    () => get(refusedTarget, [bearer], [400], 'id must be an integer'),
    () => ({ ...get(`/heroes/${id}`, [bearer], [200]), method: 'HEAD' }),
    () => ({ ...create([bearer, JSON_TYPE], JSON.stringify(hero), [200], `"name":"${unique}"}`), hero: unique }),
    () => ({
      ...create([bearer, JSON_TYPE], JSON.stringify({ id: [1, { a: 'x' }], ...hero }), [200], `"name":"${unique}"}`),
      hero: unique
    }),
    () => ({ ...create([wrong, JSON_TYPE], JSON.stringify(hero), [401], 'bearer'), hero: unique }),
    () => ({ ...create([bearer, ['Content-Type', 'text/plain']], JSON.stringify(hero), [415]), hero: unique }),
    () => ({ ...create([bearer, JSON_TYPE], `${JSON.stringify(hero)}}`, [400], 'not valid JSON'), hero: unique }),
    () => ({ ...create([bearer, JSON_TYPE], JSON.stringify({ ...hero, x: 1 }), [400], 'unknown'), hero: unique }),
    () => ({
      ...create([bearer, JSON_TYPE], JSON.stringify({ id: 'x'.repeat(BODY_LIMIT), ...hero }), [413], 'too large'),
      hero: unique
    }),
    () => ({ ...create([bearer, JSON_TYPE], JSON.stringify({ name: `seed ${id}` }), [409], 'exists') }),
    () => ({
      ...create([bearer, JSON_TYPE], JSON.stringify(hero), [404], 'nothing at this path'),
      target: `/${unique}`
    }),
    () => ({ ...get(`/heroes/${9_000_000 + id}`, [bearer], [404], 'no hero has this id'), method: 'DELETE' }),
    () => ({
      ...create([bearer, JSON_TYPE], JSON.stringify(hero), [405], 'allow: GET, HEAD, DELETE, PUT'),
      method: random.pick(['POST', 'PATCH']),
      target: `/heroes/${id}`
    }),
    () => ({
      ...get('/heroes', [], [405], 'allow: GET, HEAD, POST'),
      method: random.pick(['PROPFIND', 'TRACE', 'OPTIONS', 'M-SEARCH', 'PURGE', 'DELETE'])
    }),
    () => ({ ...get('*', [], [404]), method: 'OPTIONS' }),
    () =>
      get(
        `/health/live?${unique}`,
        [
          ['Upgrade', 'h2c'],
          ['Connection', 'upgrade']
        ],
        [200],
        'live'
      ),
    () => get(`/auth/code?client_id=app&response_type=code&state=${unique}`, [], [200], `value="${unique}"`),
    () => get(`/auth/code?client_id=${unique}`, [], [400], 'not known here'),
    () =>
      form('/auth/token', [['Authorization', basic]], 'grant_type=password&username=ada&password=correct+horse', 200),
    () => form('/auth/token', [['Authorization', basic]], `grant_type=${unique}`, 400, 'unsupported_grant_type'),
    () => form('/auth/token', [['Authorization', basic]], 'scope=a&scope=b', 400, 'repeated'),
    () => form('/auth/token', [], `client_id=${unique}&grant_type=password`, 401, 'invalid_client'),
    () => form('/auth/introspect', [['Authorization', basic]], `token=${unique}`, 200, '{"active":false}'),
    () => form('/auth/introspect', [['Authorization', basic]], `token=${token}`, 200, '"username":"ada"')
  ]
  return random.pick(kinds)()
}

const get = (target: string, headers: Request['headers'], statuses: number[], contains?: string): Request => ({
  method: 'GET',
  target,
  headers,
  body: undefined,
  statuses,
  contains
})

const form = (
  target: string,
  headers: Request['headers'],
  body: string,
  status: number,
  contains = 'access_token'
): Request => ({ method: 'POST', target, headers: [...headers, FORM_TYPE], body, statuses: [status], contains })

/** A request as bytes. */
export interface Written {
  readonly head: string
  readonly body: string
  readonly expected: Expected
  /** True when the service ends the connection after its answer. */
  readonly last: boolean
}

/** Writes a request in one of the many ways that RFC 9112 allows. `mayEnd`: it may also ask for the end of its connection. */
export const write = (random: Random, request: Request, mayEnd: boolean): Written => {
  const { method, target, body, statuses, contains } = request
  let headers = [...request.headers]
  const old = mayEnd && random.chance(0.05)
  const keepsAlive = old && random.chance(0.5)
  const closes = mayEnd && !old && !headers.some(([name]) => name === 'Connection') && random.chance(0.05)
  if (keepsAlive) headers = [...headers.filter(([name]) => name !== 'Connection'), ['Connection', 'keep-alive']]
  if (closes) headers.push(['Connection', random.pick(['close', 'Close'])])
  const continues = body !== undefined && !old && random.chance(0.1)
  if (continues) headers.push(['Expect', '100-continue'])
  else if (random.chance(0.03)) headers.push(['Expect', 'the-unexpected'])
  if (random.chance(0.1)) headers.push(['X-Filler', 'x'.repeat(random.int(2000))])
  if (random.chance(0.1)) headers.push(['X-Twice', '1'], ['X-Twice', '2'])
  const hostless = !old && random.chance(0.03)
  if (!hostless) headers.unshift(['Host', 'localhost'])
  const chunked = body !== undefined && !old && random.chance(0.4)
  if (chunked) headers.push(['Transfer-Encoding', 'chunked'])
  else if (body !== undefined) headers.push(['Content-Length', String(body.length)])
  const line = `${random.chance(0.05) ? '\r\n' : ''}${method} ${target} HTTP/1.${old ? 0 : 1}\r\n`
  const fields = headers.map(([name, value]) => {
    const spelt = random.pick([name, name.toLowerCase(), name.toUpperCase()])
    return `${spelt}:${random.pick([' ', '', '  ', '\t'])}${value}${random.pick(['', ' '])}\r\n`
  })
  const refusesHost = hostless && !statuses.includes(404)
  return {
    head: `${line}${fields.join('')}\r\n`,
    body: chunked ? chunks(random, body) : (body ?? ''),
    expected: {
      method,
      statuses: refusesHost ? [400, 405] : hostless ? [400, 404] : statuses,
      contains: hostless || method === 'HEAD' ? undefined : contains,
      continues
    },
    // Node drops what follows a request for another protocol, so the service ends the connection.
    last: closes || (old && !keepsAlive) || headers.some(([name]) => name === 'Upgrade')
  }
}

const chunks = (random: Random, body: string): string => {
  const parts: string[] = []
  for (let rest = body; rest !== ''; ) {
    const size = 1 + random.int(random.chance(0.5) ? rest.length : 10)
    const chunk = rest.slice(0, size)
    const length = chunk.length.toString(16)
    const extension = random.pick(['', '', '', ';a=b', ';a="b c"'])
    parts.push(`${random.pick(['', '0'])}${random.pick([length, length.toUpperCase()])}${extension}\r\n${chunk}\r\n`)
    rest = rest.slice(size)
  }
  return `${parts.join('')}0\r\n${random.pick(['', '', 'X-Trailer: 1\r\n'])}\r\n`
}
