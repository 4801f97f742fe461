import fc from 'fast-check'
import t from 'tap'
import { covers, grantScopes } from '../../../../core/scope.js'
import {
  basic,
  bearer,
  CALLBACK,
  createInhabited,
  createService,
  formEncoded,
  LOGIN,
  percentEncoded,
  REQUEST
} from '../../../support/service.js'
import { ADA, SECRET } from '../../../support/world.js'

// A property that fails prints its seed and path. Given to fc.assert, they repeat the failure.
const RUNS = { numRuns: 100 }

/** Text of any UTF-16 code units, with lone surrogates and NUL among them. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 30 })
  .map(units => String.fromCharCode(...units))
const someText = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), anyText)

const NAMES = [...Object.keys(LOGIN), 'scope', 'code', 'refresh_token', 'client_id', 'client_secret', '__proto__']
const VALUES = [
  ...Object.values(LOGIN),
  'wrong',
  'a',
  'x',
  'app',
  'spa',
  SECRET,
  'refresh_token',
  'authorization_code',
  ''
]

/** The text encoded as a form does it, with every byte escaped, or raw. */
const encoded = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(text, fc.constantFrom('form', 'raw', 'every')).map(([value, how]) => {
    if (how === 'raw') return value
    return how === 'form' ? formEncoded(value) : percentEncoded(value)
  })

const pair = (names: readonly string[], values: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(
      encoded(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...names) }, someText)),
      encoded(fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...values) }, someText))
    )
    .map(([name, value]) => `${name}=${value}`)

const rightPairs = (fields: Readonly<Record<string, string>>): fc.Arbitrary<string[]> =>
  fc.subarray(
    Object.entries(fields).map(([name, value]) => `${name}=${encodeURIComponent(value)}`),
    { minLength: 1 }
  )

const formOf = (right: Readonly<Record<string, string>>, values: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(rightPairs(right), fc.array(pair([...NAMES, ...Object.keys(right)], values), { maxLength: 3 }))
    .map(([given, others]) => [...given, ...others].join('&'))

t.test('no form makes the service fail, and none brings a token without the right credentials', async t => {
  const { form } = await createInhabited({ policy: { loginAttempts: 0 } })
  let issued = 0
  await fc.assert(
    fc.asyncProperty(formOf(LOGIN, VALUES), fc.constantFrom('app', 'spa', undefined), async (body, client) => {
      const headers = client === undefined ? {} : basic(client, client === 'app' ? SECRET : '')
      const answer = await form('/auth/token', body, headers)
      if (answer.statusCode >= 500) throw new Error(`${answer.statusCode}`)
      if (answer.statusCode !== 200) {
        if ('access_token' in answer.json()) throw new Error('a token beside an error')
        return
      }
      issued += 1
      const sent = new URLSearchParams(body)
      for (const [name, value] of Object.entries(LOGIN)) {
        if (sent.getAll(name).join() !== value) throw new Error(`a token for a wrong ${name}`)
      }
    }),
    // A right one is always among them.
    { ...RUNS, examples: [[new URLSearchParams(LOGIN).toString(), 'app']] }
  )
  t.ok(issued > 0, 'some of them were right')
})

t.test(
  'no request to the login page makes it fail, redirect elsewhere or give a code without the right credentials',
  async t => {
    const { form, ask } = await createInhabited({ policy: { loginAttempts: 0 } })
    const right = { ...REQUEST, ...ADA }
    let issued = 0
    await fc.assert(
      fc.asyncProperty(formOf(right, [...VALUES, ...Object.values(right), CALLBACK]), async body => {
        const query = new URLSearchParams(new URLSearchParams(body)).toString()
        for (const answer of [await form('/auth/code', body), await ask(`/auth/code?${query}`)]) {
          if (answer.statusCode >= 500) throw new Error(`${answer.statusCode}`)
          const { location } = answer.headers
          if ((location === undefined) === (answer.statusCode === 302)) throw new Error('a redirect to nowhere')
          if (location === undefined) continue
          if (!String(location).startsWith(`${CALLBACK}?`)) throw new Error(String(location))
          const told = new URL(String(location)).searchParams
          const sent = new URLSearchParams(body)
          if ((told.get('state') ?? '') !== (sent.get('state') ?? '')) throw new Error('another state')
          if (!told.has('code')) continue
          issued += 1
          for (const [name, value] of Object.entries(ADA)) {
            if (sent.getAll(name).join() !== value) throw new Error(`a code for a wrong ${name}`)
          }
          if (!['app', 'spa'].includes(sent.getAll('client_id').join())) throw new Error('a code for a wrong client')
        }
      }),
      // A right one is always among them.
      { ...RUNS, examples: [[new URLSearchParams(right).toString()]] }
    )
    t.ok(issued > 0, 'some of them were right')
  }
)

/** Headers that are like a right one, and headers that are not. */
const authorization = fc.oneof(
  fc.string({ unit: 'binary-ascii' }).map(text => text.replace(/[^\x20-\x7e]/g, '')),
  fc
    .tuple(
      fc.constantFrom('Basic ', 'basic ', 'BASIC  ', 'Bearer ', 'Basic', ''),
      fc.array(
        fc.oneof(
          { weight: 6, arbitrary: fc.constantFrom('app', ':', SECRET, `app:${SECRET}`, 'spa', 'spa:') },
          { weight: 1, arbitrary: someText }
        ),
        { maxLength: 4 }
      ),
      fc.constantFrom('', '=', ' ', '!')
    )
    .map(([scheme, parts, end]) => `${scheme}${Buffer.from(parts.join('')).toString('base64')}${end}`)
)

/** True for the credentials of `app` or `spa`, whether they are read raw or form-encoded. */
const isRight = (header: string): boolean => {
  const [, base64] = /^basic +([A-Za-z0-9+/=]+) *$/i.exec(header) ?? []
  const text = Buffer.from(base64 ?? '', 'base64').toString()
  const pairs = [`app:${SECRET}`, 'spa:']
  return pairs.includes(text) || pairs.some(pair => pair === text.replaceAll('+', ' '))
}

t.test('no Authorization header makes the service fail, and none but the right ones brings a token', async t => {
  const { form, ask } = await createInhabited({ policy: { loginAttempts: 0 } })
  let issued = 0
  await fc.assert(
    fc.asyncProperty(authorization, async header => {
      const token = await form('/auth/token', LOGIN, { authorization: header })
      const heroes = await ask('/heroes', { headers: { authorization: header } })
      if (heroes.statusCode !== 401) throw new Error(`${heroes.statusCode}`)
      if (token.statusCode === 200) {
        issued += 1
        if (!isRight(header)) throw new Error('a token for a wrong header')
      } else if (token.statusCode !== 401) throw new Error(`${token.statusCode}`)
    }),
    // A right one is always among them.
    { numRuns: 150, examples: [[String(basic('app').authorization)]] }
  )
  t.ok(issued > 0, 'some of them were right')
})

t.test('no text that is like a token is accepted as one', async t => {
  const { ask, login } = await createInhabited()
  const { access_token, refresh_token } = await login()
  const near = fc.oneof(
    fc
      .tuple(fc.nat(31), fc.constantFrom(...'aB0 -~'))
      .map(([i, c]) => access_token.slice(0, i) + c + access_token.slice(i + 1)),
    fc.nat(31).map(length => access_token.slice(0, length)),
    fc.string({ unit: 'grapheme-ascii' }),
    fc.constant(refresh_token)
  )
  await fc.assert(
    fc.asyncProperty(near, async token => {
      const { statusCode } = await ask('/heroes', { headers: bearer(token) })
      if (statusCode !== (token.trim() === access_token ? 200 : 401)) throw new Error(`${statusCode}`)
    }),
    RUNS
  )
  t.equal((await ask('/heroes', { headers: bearer(access_token) })).statusCode, 200)
})

t.test('a name is either refused or stored and found unchanged', async t => {
  const { json, ask } = createService({ protectHeroes: false })
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.oneof(someText, fc.string({ unit: 'binary' })), async name => {
      const answer = await json('POST', '/heroes', { name })
      const storable = name !== '' && !/[\0\p{Surrogate}]/u.test(name)
      if (answer.statusCode !== (seen.has(name) ? 409 : storable ? 200 : 400)) throw new Error(`${answer.statusCode}`)
      if (answer.statusCode !== 200) return
      seen.add(name)
      const hero = (await ask(`/heroes/${answer.json().id}`)).json()
      const found: { name: string }[] = (await ask(`/heroes?name=${encodeURIComponent(name)}`)).json()
      if (hero.name !== name || !found.some(each => each.name === name)) throw new Error(JSON.stringify(hero))
    }),
    RUNS
  )
  t.equal((await ask('/heroes')).json().length, seen.size)
})

const segment = fc.constantFrom('a', 'b', 'ab', '')
const scope = fc
  .tuple(fc.array(segment, { minLength: 1, maxLength: 3 }), fc.constantFrom('', '.', '.r', '.r.w', '.w'))
  .map(([path, modifier]) => path.join(':') + modifier)
  .filter(text => text !== '')
const scopes = fc.array(scope, { maxLength: 4 })

t.test('covering is a partial order, and a scope covers its own parts and modifiers', async t => {
  fc.assert(
    fc.property(scope, scope, scope, segment, (a, b, c, part) => {
      if (!covers(a, a)) throw new Error('not reflexive')
      if (covers(a, b) && covers(b, c) && !covers(a, c)) throw new Error('not transitive')
      if (covers(a, b) && covers(b, a) && a !== b) throw new Error('not antisymmetric')
      const modified = /\.[^:]*$/.test(a)
      if (!modified && !covers(a, `${a}:${part}`)) throw new Error('a part is not covered')
      if (!modified && !covers(a, `${a}.${part}`)) throw new Error('a modifier is not covered')
    }),
    { numRuns: 1500 }
  )
  t.pass('it is')
})

t.test(
  'the scopes granted are those requested and allowed, in the order of the request, and allowing more never grants less',
  async t => {
    const granted = (requested: readonly string[], allowed: readonly string[]): readonly string[] => {
      try {
        return grantScopes(requested, allowed)
      } catch {
        return []
      }
    }
    fc.assert(
      fc.property(scopes, scopes, scopes, (requested, allowed, more) => {
        const given = granted(requested, allowed)
        const wanted = requested.filter(each => allowed.some(by => covers(by, each)))
        if (given.join(' ') !== wanted.join(' ')) throw new Error('other scopes')
        const larger = granted(requested, [...allowed, ...more])
        if (!given.every(each => larger.includes(each))) throw new Error('less')
        if (granted(given, allowed).join(' ') !== given.join(' ')) throw new Error('not idempotent')
      }),
      { numRuns: 1500 }
    )
    t.pass('it is')
  }
)
