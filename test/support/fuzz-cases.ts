/** What a fuzzed connection sends, and what it may be answered. The rules are RFC 9112's and those of app/http/README.md; nothing here knows the service. */
export interface FuzzCase {
  /** Written one after the other, with so many turns of the event loop before each. */
  readonly packets: readonly { readonly bytes: Buffer; readonly turns: number }[]
  /** One for each request that is to be answered, in their order. */
  readonly answers: readonly Expected[]
  /** The statuses that one further answer may have, for what stands in the place of a next request; it need not come. */
  readonly further: readonly number[]
  /** Whether the service ends the connection by itself. */
  readonly ends: boolean
  /** Whether the client says that it is done as soon as everything is sent. */
  readonly halfCloses: boolean
  /** Whether bytes stand behind a request that was its connection's last: those are met by a reset. */
  readonly mayReset: boolean
  /** Names of heroes that must not come to exist. */
  readonly unwanted: readonly string[]
}

export interface Expected {
  readonly method: string
  readonly statuses: readonly number[]
  /** What the body, or else the head, holds: so that answers cannot change places. */
  readonly contains: string | undefined
  /** A `100 Continue` may come before it. */
  readonly continues: boolean
}

/** What is known to a case: tokens, the heroes 1 to 5 named `seed 1` and so on, and the client `app`. */
export interface Inhabitants {
  readonly token: string
  readonly basic: string
}

/** Reproducible choices. */
export interface Random {
  /** From 0 to below `n`. */
  int(n: number): number
  pick<T>(list: readonly [T, ...T[]]): T
  chance(part: number): boolean
}

/** mulberry32. */
export const createRandom = (seed: number): Random => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (n: number): number => Math.floor(next() * n)
  return { int, pick: list => list[int(list.length)] ?? list[0], chance: part => next() < part }
}

/** Bytes of a request's body that the service reads at most. */
export const BODY_LIMIT = 3000

interface Request {
  readonly method: string
  readonly target: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string | undefined
  readonly statuses: readonly number[]
  readonly contains?: string | undefined
  /** What the hero would be called that it makes. */
  readonly hero?: string
}

const JSON_TYPE = ['Content-Type', 'application/json'] as const
const FORM_TYPE = ['Content-Type', 'application/x-www-form-urlencoded'] as const

/** A request that can be told from others by its answer, where its answer says anything. */
const soundRequest = (random: Random, unique: string, { token, basic }: Inhabitants): Request => {
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

interface Written {
  readonly head: string
  readonly body: string
  readonly expected: Expected
  /** Whether its connection ends with its answer. */
  readonly last: boolean
}

/** A request on the wire, in one of the many ways in which it can be said soundly. */
const write = (random: Random, request: Request, mayEnd: boolean): Written => {
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
    // What is behind an upgrade that is not made would be lost.
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

/** What can stand in the place of a request and is none. */
const garbage = (random: Random, unique: string): { readonly text: string; readonly statuses: readonly number[] } => {
  const head = (fields: string): string => `POST /heroes HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n`
  const noise = (): string => {
    const bytes = Array.from({ length: 1 + random.int(200) }, () => String.fromCharCode(random.int(256)))
    return `${random.pick(['\x01', '}', '\xff', '{"name":', '"', '%'])}${bytes.join('')}\r\n\r\n`
  }
  const [text, status] = random.pick<[string, number]>([
    [noise(), 400],
    [`FOO /heroes HTTP/1.1\r\nHost: a\r\n\r\n`, 400],
    [`get /heroes HTTP/1.1\r\nHost: a\r\n\r\n`, 400],
    [`GET /heroes HTTP/9.9\r\nHost: a\r\n\r\n`, 400],
    [`GET /her\0oes HTTP/1.1\r\nHost: a\r\n\r\n`, 400],
    [`GET /${unique} HTTP/1.1\r\nHost a\r\n\r\n`, 400],
    [`GET /${unique} HTTP/1.1\r\nHo st: a\r\n\r\n`, 400],
    [`GET /${unique} HTTP/1.1\r\nHost: a\0b\r\n\r\n`, 400],
    [`GET /${unique} HTTP/1.1\r\nHost: a\rX: b\r\n\r\n`, 400],
    [head('Content-Length: ten'), 400],
    [head('Content-Length: -1'), 400],
    [head('Content-Length: 5\r\nContent-Length: 6'), 400],
    [head('Content-Length: 5\r\nTransfer-Encoding: chunked'), 400],
    [head(`X-Huge: ${'x'.repeat(33_000)}`), 431],
    [`GET /${'x'.repeat(33_000)} HTTP/1.1\r\n`, 431],
    [`CONNECT ${unique}.example:443 HTTP/1.1\r\nHost: a\r\n\r\n`, 404],
    ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400]
  ])
  return { text, statuses: [status] }
}

/** A body that breaks off; `needsEnd`: only the end of the connection shows it. */
const brokenBody = (random: Random, unique: string, inhabitants: Inhabitants) => {
  const hero = JSON.stringify({ name: unique })
  const kind = random.pick([
    { target: '/heroes', token: true, early: 400 },
    { target: '/heroes', token: false, early: 401 },
    { target: `/${unique}`, token: true, early: 404 },
    { target: '/auth/token', token: true, early: 400 }
  ])
  const framing = random.pick<[string, string, boolean, number]>([
    ['Transfer-Encoding: gzip', hero, false, 400],
    ['Transfer-Encoding: chunked, gzip', hero, false, 400],
    ['Transfer-Encoding: chunked', `zz\r\n${hero}\r\n0\r\n\r\n`, false, 400],
    ['Transfer-Encoding: chunked', `${hero.length.toString(16)}\r\n${hero}x\r\n0\r\n\r\n`, false, 400],
    ['Transfer-Encoding: chunked', `${hero.length.toString(16)}\r\n${hero}\r\n-1\r\n\r\n`, false, 400],
    ['Transfer-Encoding: chunked', `fffffffffffffffff\r\n${hero}`, false, 400],
    ['Transfer-Encoding: chunked', `1;${'x'.repeat(20_000)}\r\n`, false, 413],
    ['Transfer-Encoding: chunked', `${hero.length.toString(16)}\r\n${hero}\r\n0\r\nbad trailer\r\n\r\n`, false, 400],
    ['Transfer-Encoding: chunked', `${hero.length.toString(16)}\r\n${hero.slice(1)}`, true, 400],
    ['Transfer-Encoding: chunked', `${hero.length.toString(16)}\r\n${hero}\r\n`, true, 400],
    [`Content-Length: ${hero.length}`, hero.slice(0, random.int(hero.length)), true, 400],
    [`Content-Length: ${BODY_LIMIT + 1 + random.int(100)}`, hero, true, 413]
  ])
  const [field, body, needsEnd, status] = framing
  const type = random.pick([JSON_TYPE[1], FORM_TYPE[1]])
  const token = kind.token ? `Authorization: Bearer ${inhabitants.token}\r\n` : ''
  const text = `POST ${kind.target} HTTP/1.1\r\nHost: a\r\n${token}Content-Type: ${type}\r\n${field}\r\n\r\n${body}`
  const expected: Expected = {
    method: 'POST',
    statuses: [400, kind.early, status, 415],
    contains: undefined,
    continues: false
  }
  return { text, expected, needsEnd, hero: unique }
}

/** Case number `index` of a seed: the same at every call. */
export const createCase = (seed: number, index: number, inhabitants: Inhabitants): FuzzCase => {
  const random = createRandom(Math.imul(seed, 1_000_003) + index)
  let text = ''
  const answers: Expected[] = []
  const unwanted: string[] = []
  let further: readonly number[] = []
  let ends = false
  let needsEnd = false
  let mayReset = false
  const requests = random.int(6)
  for (let part = 0; part < requests; part++) {
    const unique = `f${seed}-${index}-${part}`
    const request = soundRequest(random, unique, inhabitants)
    const written = write(random, request, true)
    text += written.head + written.body
    if (ends) {
      mayReset = true
      if (request.hero !== undefined) unwanted.push(request.hero)
      continue
    }
    answers.push(written.expected)
    // Without a host it is refused, and its hero is not made.
    if (request.hero !== undefined && !written.expected.statuses.includes(200)) unwanted.push(request.hero)
    ends = written.last
  }
  const unique = `f${seed}-${index}-end`
  const ending = random.int(5)
  if (ending < 2) {
    const { text: bytes, statuses } = garbage(random, unique)
    text += bytes
    if (ends) mayReset = true
    else further = statuses
    ends = true
    // What follows is nobody's.
    if (random.chance(0.5)) text += write(random, soundRequest(random, unique, inhabitants), false).head
  } else if (ending === 2) {
    const broken = brokenBody(random, unique, inhabitants)
    text += broken.text
    if (ends) mayReset = true
    else answers.push(broken.expected)
    ends = true
    needsEnd = broken.needsEnd
    unwanted.push(broken.hero)
  } else if (ending === 3) {
    const { head } = write(random, soundRequest(random, unique, inhabitants), false)
    text += head.trimStart().slice(0, 1 + random.int(head.trimStart().length - 4))
    if (ends) mayReset = true
    else further = [400]
    ends = true
    needsEnd = true
  }
  // Before sound requests are answered, a client that is done counts as gone; behind garbage it does not.
  const halfCloses = (needsEnd && !mayReset) || (further.length > 0 && random.chance(0.3))
  return { packets: split(random, text), answers, further, ends, halfCloses, mayReset, unwanted }
}

const split = (random: Random, text: string): FuzzCase['packets'] => {
  const bytes = Buffer.from(text, 'latin1')
  const cuts = Array.from({ length: random.pick([0, 0, 1, 1, 2, 3, 8]) }, () => random.int(bytes.length + 1))
  const places = [0, ...cuts.sort((a, b) => a - b), bytes.length]
  return places
    .slice(1)
    .map((end, at) => ({ bytes: bytes.subarray(places[at], end), turns: random.pick([0, 1, 1, 3, 10]) }))
    .filter(packet => packet.bytes.length > 0)
}
