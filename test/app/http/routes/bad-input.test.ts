import t from 'tap'
import { createMemoryStores } from '../../../../adapters/memory/stores.js'
import { basic, bearer, createInhabited, type Headers, loginPath, REQUEST } from '../../../support/service.js'
import { FORM_TYPE, JSON_TYPE } from '../../../support/wire.js'
import { ADA, SECRET, type Stores } from '../../../support/world.js'

const LONG = 'x'.repeat(9_000_000)
const TOO_LONG = 'x'.repeat(10_485_761)
const NUMBER = '9'.repeat(30)

/** Bodies that are no JSON object, or one that is too long: every endpoint that reads JSON refuses them. */
const JSON_BODIES: readonly (string | Buffer)[] = [
  '',
  ' ',
  '{',
  '{"name"',
  '{name:"a"}',
  "{'name':'a'}",
  '{"name":"a"}}',
  '{"name":"a",}',
  '\ufeff',
  'undefined',
  'NaN',
  'null',
  'true',
  '5',
  NUMBER,
  '1e999',
  '"text"',
  '[]',
  '[{"name":"a","username":"a","password":"a"}]',
  '{}',
  `{"${LONG}":1}`,
  '['.repeat(1_000_000),
  '{"a":'.repeat(1_000_000),
  TOO_LONG,
  Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
  Buffer.from([0]),
  Buffer.alloc(1000)
]

/** JSON values that are refused as the name of a hero, as a username and as a password. */
const VALUES: readonly (string | Buffer)[] = [
  'null',
  '5',
  '-0',
  NUMBER,
  'true',
  '[]',
  '["a"]',
  '{}',
  '{"toString":1}',
  '""',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"a\u0000"',
  `"${LONG}"`,
  Buffer.from([0x22, 0xff, 0x22]),
  Buffer.from([0x22, 0xc0, 0x80, 0x22]),
  Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])
]

/** Keys that no body may have besides the right ones. */
const KEYS = ['x', '', 'NAME', '__proto__', 'toString', 'hashedPassword', 'salt', 'tokens', '\\u0000', '\\ud800', 'id ']

const joined = (...parts: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : part)))

const HERO_BODIES = [
  ...JSON_BODIES,
  ...VALUES.map(value => joined('{"name":', value, '}')),
  `{"name":"${'x'.repeat(256)}"}`,
  ...KEYS.map(key => `{"name":"a","${key}":1}`),
  '{"name":"a","__proto__":{"x":1}}',
  '{"name":"a","constructor":{"prototype":{}}}',
  '{"name":"a","id":"\\u0000"}',
  joined('{"name":"a","id":"', Buffer.from([0xff]), '"}')
]

const USER_BODIES = [
  ...JSON_BODIES,
  ...VALUES.map(value => joined('{"username":', value, ',"password":"a"}')),
  ...VALUES.map(value => joined('{"username":"a","password":', value, '}')),
  `{"username":"${'x'.repeat(256)}","password":"a"}`,
  `{"username":"a","password":"${'x'.repeat(1025)}"}`,
  ...KEYS.map(key => `{"username":"a","password":"a","${key}":1}`)
]

/** Encoded values that no parameter may have. */
const FORM_VALUES = [
  '',
  '%',
  '%zz',
  '%ff',
  '%C0%80',
  '%ED%A0%80',
  '%00',
  'a%00b',
  '\0',
  'x'.repeat(9_000_000),
  'é',
  '+',
  '%20',
  NUMBER
]

/** Forms in which one of the parameters of a right form is missing, wrong or repeated, and texts that are no such form. */
const FORM_BODIES = (names: readonly string[], right: string): (string | Buffer)[] => [
  '',
  '&&&',
  '=',
  '%',
  '[]',
  '{}',
  'null',
  '__proto__=1',
  TOO_LONG,
  Buffer.from([0xff, 0x3d, 0xff]),
  Buffer.alloc(1000),
  'a=1&'.repeat(100_000),
  ...names.flatMap(name => [
    `${right}&${name}=a&${name}=a`,
    `${right}&${name}=&${name}=`,
    ...FORM_VALUES.map(
      value => `${new URLSearchParams([...new URLSearchParams(right)].filter(([n]) => n !== name))}&${name}=${value}`
    )
  ])
]

const AUTHORIZATIONS: readonly (string | undefined)[] = [
  undefined,
  '',
  ' ',
  'Bearer',
  'Bearer ',
  'Bearer \u00ff',
  'Bearer a b',
  'Bearer ,',
  'Basic',
  'Basic !',
  'Basic Og==',
  `Basic ${Buffer.from(`app:${SECRET}x`).toString('base64')}`,
  `Basic ${Buffer.from('app\0:x').toString('base64')}`,
  `Basic ${Buffer.from([0xff, 0x3a, 0xff]).toString('base64')}`,
  `Basic ${'A'.repeat(20_000)}`,
  `Digest username="app"`,
  'x'.repeat(20_000)
]

const IDS = [
  'x',
  '1.0',
  '-',
  NUMBER,
  `-${NUMBER}`,
  '%00',
  '%ff',
  '%zz',
  '%',
  '-1',
  '0',
  "1'--",
  '1;',
  '%F0%9F%A6%B8',
  'x'.repeat(10_000)
]

/** How many rows of each kind there are. */
const rows = async ({ heroes, users, clients }: Stores): Promise<number[]> => [
  (await heroes.list({ nameContains: undefined, after: undefined, limit: undefined })).length,
  (await users.list({})).length,
  (await clients.list()).length
]

t.test('bad input makes no endpoint fail, issues nothing and leaves no row behind', async t => {
  const stores = createMemoryStores()
  const { ask, form, opened, code } = await createInhabited({ stores, policy: { loginAttempts: 0 } })
  const open = await opened()
  const spent = await code()
  const refused = async (url: string, method: string, headers: Headers, payload?: string | Buffer): Promise<void> => {
    const answer = await ask(url, { method, headers, ...(payload !== undefined && { payload }) })
    const fine = answer.statusCode >= 400 && answer.statusCode < 500
    if (!fine)
      t.fail(
        `${method} ${url.slice(0, 99)} ${JSON.stringify(headers)} ${String(payload).slice(0, 99)}: ${answer.statusCode}`
      )
    if (/access_token"|code=/.test(answer.payload + answer.headers.location)) t.fail('something was issued')
  }
  const before = await rows(stores)

  for (const body of HERO_BODIES) {
    await refused('/heroes', 'POST', { ...open, ...JSON_TYPE }, body)
    await refused('/heroes/1', 'PUT', { ...open, ...JSON_TYPE }, body)
  }
  for (const body of USER_BODIES) await refused('/register', 'POST', JSON_TYPE, body)
  for (const id of IDS) {
    await refused(`/heroes/${id}`, 'GET', open)
    await refused(`/heroes/${id}`, 'PUT', { ...open, ...JSON_TYPE }, '{"name":"a"}')
    await refused(`/heroes/${id}`, 'DELETE', open)
  }
  for (const query of [
    'limit=x',
    `limit=${NUMBER}`,
    'after=1.5',
    'name=%00',
    'name=%ff',
    'limit=1&limit=1',
    'name=%ED%A0%80'
  ]) {
    await refused(`/heroes?${query}`, 'GET', open)
  }

  const wrong = new URLSearchParams({
    grant_type: 'password',
    username: 'ada',
    password: 'wrong',
    scope: 'a'
  }).toString()
  for (const body of FORM_BODIES(['grant_type', 'username', 'password', 'scope'], wrong)) {
    await refused('/auth/token', 'POST', { ...FORM_TYPE, ...basic('app') }, body)
  }
  for (const body of FORM_BODIES(['code', 'redirect_uri', 'code_verifier'], 'grant_type=authorization_code&code=x')) {
    await refused('/auth/token', 'POST', { ...FORM_TYPE, ...basic('app') }, body)
  }
  for (const body of FORM_BODIES(['refresh_token', 'scope'], 'grant_type=refresh_token&refresh_token=x')) {
    await refused('/auth/token', 'POST', { ...FORM_TYPE, ...basic('app') }, body)
  }
  for (const body of FORM_BODIES(['client_id', 'client_secret'], 'client_id=app&client_secret=x')) {
    await refused('/auth/token', 'POST', FORM_TYPE, body)
    await refused('/auth/introspect', 'POST', FORM_TYPE, body)
  }
  for (const body of ['', 'token', 'token=%00', 'token=%', 'token=a&token=a', TOO_LONG, Buffer.from([0xff])]) {
    for (const url of ['/auth/revoke', '/auth/introspect'])
      await refused(url, 'POST', { ...FORM_TYPE, ...basic('app') }, body)
  }
  const page = new URLSearchParams({ ...REQUEST, username: 'ada', password: 'wrong' }).toString()
  for (const body of FORM_BODIES(['client_id', 'redirect_uri', 'username', 'password', 'x'], page)) {
    await refused('/auth/code', 'POST', FORM_TYPE, body)
  }
  for (const value of FORM_VALUES.filter(value => value.length < 1000 && /^[!-~]*$/.test(value))) {
    await refused(`/auth/code?response_type=code&state=x&client_id=${value}`, 'GET', {})
    await refused(`${loginPath()}&x=${value}&x=${value}`, 'GET', {})
  }

  for (const [url, method, right] of [
    ['/heroes', 'POST', '{"name":"a"}'],
    ['/heroes/1', 'PUT', '{"name":"a"}'],
    ['/register', 'POST', '{"username":"a","password":"a"}'],
    ['/auth/token', 'POST', `grant_type=authorization_code&code=${spent}&client_id=app&client_secret=${SECRET}`],
    ['/auth/revoke', 'POST', `token=x&client_id=app&client_secret=${SECRET}`],
    ['/auth/introspect', 'POST', `token=x&client_id=app&client_secret=${SECRET}`],
    ['/auth/code', 'POST', `${new URLSearchParams({ ...REQUEST, ...ADA })}`]
  ] as const) {
    const reads = url.startsWith('/auth') ? FORM_TYPE : JSON_TYPE
    const others = [JSON_TYPE, FORM_TYPE].filter(other => other !== reads)
    for (const headers of [
      ...others,
      {},
      { 'content-type': '' },
      { 'content-type': 'text/plain' },
      { 'content-type': 'x' }
    ]) {
      await refused(url, method, { ...open, ...headers }, right)
    }
    for (const coding of ['gzip', 'x', 'identity, gzip']) {
      await refused(url, method, { ...open, ...reads, 'content-encoding': coding }, right)
    }
  }
  for (const authorization of AUTHORIZATIONS) {
    const headers = authorization === undefined ? {} : { authorization }
    for (const url of ['/heroes', '/heroes/1']) await refused(url, 'GET', headers)
    await refused('/heroes', 'POST', { ...headers, ...JSON_TYPE }, '{"name":"a"}')
    await refused('/heroes', 'POST', { ...headers, ...JSON_TYPE }, TOO_LONG)
    for (const url of ['/auth/token', '/auth/revoke', '/auth/introspect']) {
      const fields = new URLSearchParams({ grant_type: 'password', ...ADA, token: 'x' }).toString()
      await refused(url, 'POST', { ...headers, ...FORM_TYPE }, fields)
    }
  }

  t.strictSame(await rows(stores), before)
  const exchange = await form('/auth/token', { grant_type: 'authorization_code', code: spent }, basic('app'))
  t.equal(exchange.statusCode, 200, 'a right request is served afterwards')
})

t.test('requests with texts that are almost a token end no token', async t => {
  const { ask, form, login } = await createInhabited()
  const { access_token, refresh_token } = await login()
  for (const token of [`${access_token} `, access_token.toLowerCase(), access_token.slice(1), refresh_token]) {
    t.equal((await ask('/heroes', { headers: bearer(`-${token}`) })).statusCode, 401)
    await form('/auth/revoke', { token: `${token}x` }, basic('app'))
    await form('/auth/token', { grant_type: 'refresh_token', refresh_token: `${token}x` }, basic('app'))
  }
  t.equal((await ask('/heroes', { headers: bearer(access_token) })).statusCode, 200)
})

t.test('a text that cannot be a token, a code or a client id is refused without a look-up', async t => {
  const stores = createMemoryStores()
  const service = await createInhabited({ stores })
  const { ask, form } = service
  const looked: string[] = []
  const watch = <T extends object>(store: T): void => {
    for (const [name, method] of Object.entries(store)) {
      Object.assign(store, {
        [name]: (...args: unknown[]) => {
          looked.push(name)
          return method(...args)
        }
      })
    }
  }
  watch(stores.clients)
  watch(stores.tokens)
  watch(stores.heroes)
  const token = 'x'.repeat(32)
  for (const wrong of ['x', token.slice(1), `${token}x`, `${token.slice(1)}-`, 'x'.repeat(20_000)]) {
    for (const [method, path] of [
      ['GET', '/heroes'],
      ['GET', '/heroes/1'],
      ['POST', '/heroes'],
      ['PUT', '/heroes/1'],
      ['DELETE', '/heroes/1']
    ] as const) {
      const answer = await ask(path, { method, headers: bearer(wrong) })
      t.equal(answer.statusCode, 401, `${method} ${path} ${wrong.length}`)
    }
  }
  const long = 'x'.repeat(9_900_000)
  for (const path of ['/auth/token', '/auth/revoke', '/auth/introspect', '/auth/code']) {
    t.equal((await form(path, `client_id=${long}`)).statusCode, 400, path)
    t.equal((await form(path, `client_id=app&code=${long}`)).statusCode, 400, path)
  }
  t.strictSame(looked, [])
})
