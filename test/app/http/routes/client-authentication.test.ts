import t from 'tap'
import { basic, createInhabited, type Fields, type Headers, type Inhabited } from '../../../support/service.js'
import { ADA, addClient, SECRET } from '../../../support/world.js'

const LOGIN = { grant_type: 'password', ...ADA }
const AWKWARD = { id: 'my-app.v1', secret: 'p:w%d+x y/&=~0123456789AB' }

/** The status and, when it is no success, the error of a login. */
const outcome = async ({ form }: Inhabited, fields: Fields, headers: Headers = {}): Promise<unknown> => {
  const answer = await form('/auth/token', fields, headers)
  return answer.statusCode === 200 ? 200 : [answer.statusCode, answer.json().error]
}

const UNAUTHENTICATED = [401, 'invalid_client']
const MALFORMED = [400, 'invalid_request']

const encoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)
const base64 = (text: string): Headers => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })

t.test('an id and a secret of any characters are read raw, form-encoded and from the body', async t => {
  const service = await createInhabited()
  await addClient(service, AWKWARD.id, { secret: AWKWARD.secret })
  const { id, secret } = AWKWARD
  const headers: Record<string, Headers> = {
    raw: basic(id, secret),
    'form-encoded': basic(encoded(id), encoded(secret)),
    'percent-encoded': basic(id, encodeURIComponent(secret)),
    'every byte percent-encoded': basic(id, [...Buffer.from(secret)].map(byte => `%${byte.toString(16)}`).join('')),
    'the scheme in lower case': { authorization: basic(id, secret).authorization?.replace('Basic', 'basic') ?? '' },
    'two spaces': { authorization: basic(id, secret).authorization?.replace(' ', '  ') ?? '' },
    'without padding': { authorization: basic(id, secret).authorization?.replace(/=+$/, '') ?? '' }
  }
  for (const [name, header] of Object.entries(headers)) t.equal(await outcome(service, LOGIN, header), 200, name)
  t.equal(await outcome(service, { ...LOGIN, client_id: id, client_secret: secret }), 200, 'in the body')
  const half = basic(encoded(id), secret.replace('%d', '%25d'))
  t.strictSame(await outcome(service, LOGIN, half), UNAUTHENTICATED, 'encoded by half is neither')
})

t.test('a secret of which one reading is another text is right in either', async t => {
  const service = await createInhabited()
  for (const [i, secret] of [
    'a+b'.repeat(8),
    '%41'.repeat(8),
    'a b'.repeat(8),
    '%'.repeat(24),
    'é🦸'.repeat(12)
  ].entries()) {
    await addClient(service, `c${i}`, { secret })
    t.equal(await outcome(service, LOGIN, basic(`c${i}`, secret)), 200, `${secret} raw`)
    t.equal(await outcome(service, LOGIN, basic(`c${i}`, encoded(secret))), 200, `${secret} encoded`)
  }
})

t.test('a public client sends an empty secret or its client_id alone', async t => {
  const service = await createInhabited()
  t.equal(await outcome(service, LOGIN, basic('spa', '')), 200)
  t.equal(await outcome(service, { ...LOGIN, client_id: 'spa' }), 200)
  t.equal(await outcome(service, { ...LOGIN, client_id: 'spa', client_secret: '' }), 200)
  t.equal(await outcome(service, { ...LOGIN, client_id: 'spa' }, basic('spa', '')), 200)
  t.strictSame(await outcome(service, LOGIN, basic('spa', 'x')), UNAUTHENTICATED)
  t.strictSame(await outcome(service, { ...LOGIN, client_id: 'spa', client_secret: SECRET }), UNAUTHENTICATED)
})

t.test('a confidential client cannot do without its secret', async t => {
  const service = await createInhabited()
  for (const [fields, headers] of [
    [LOGIN, basic('app', '')],
    [{ ...LOGIN, client_id: 'app' }, {}],
    [{ ...LOGIN, client_id: 'app', client_secret: '' }, {}],
    [LOGIN, basic('app', SECRET.slice(1))],
    [LOGIN, basic('app', `${SECRET} `)],
    [LOGIN, basic('APP', SECRET)],
    [{ ...LOGIN, client_secret: SECRET }, {}]
  ] as const) {
    t.strictSame(await outcome(service, fields, headers), UNAUTHENTICATED)
  }
})

t.test('header and body at once are invalid_request, and so is a client_id that contradicts the header', async t => {
  const service = await createInhabited()
  t.strictSame(await outcome(service, { ...LOGIN, client_secret: SECRET }, basic('app')), MALFORMED)
  t.strictSame(await outcome(service, { ...LOGIN, client_id: 'app', client_secret: SECRET }, basic('app')), MALFORMED)
  t.strictSame(await outcome(service, { ...LOGIN, client_id: 'spa' }, basic('app')), MALFORMED)
  t.strictSame(await outcome(service, { ...LOGIN, client_id: 'APP' }, basic('app')), MALFORMED)
  t.equal(await outcome(service, { ...LOGIN, client_id: 'app' }, basic('app')), 200)
  t.equal(await outcome(service, { ...LOGIN, client_id: '', client_secret: '' }, basic('app')), 200)
})

t.test('credentials that are malformed are invalid_client', async t => {
  const service = await createInhabited()
  const malformed: Headers[] = [
    { authorization: '' },
    { authorization: 'Basic' },
    { authorization: 'Basic ' },
    { authorization: 'Basic !' },
    { authorization: 'Basic app' },
    { authorization: `Bearer ${Buffer.from(`app:${SECRET}`).toString('base64')}` },
    { authorization: `${basic('app').authorization} x` },
    { authorization: `Basic, ${basic('app').authorization}` },
    base64('app'),
    base64(''),
    base64(':'),
    base64(`:${SECRET}`),
    base64(`app;${SECRET}`),
    base64(`\ufeffapp:${SECRET}`),
    base64(`app\0:${SECRET}`),
    { authorization: `Basic ${Buffer.from([0x61, 0x70, 0x70, 0x3a, 0xff]).toString('base64')}` },
    basic('x'.repeat(256)),
    basic('x'.repeat(9000))
  ]
  for (const headers of malformed)
    t.strictSame(await outcome(service, LOGIN, headers), UNAUTHENTICATED, String(headers.authorization))
  t.strictSame(await outcome(service, LOGIN), UNAUTHENTICATED)
})

t.test(
  'every endpoint refuses alike: 401, the challenge, no-store, the same for an unknown client and a wrong secret',
  async t => {
    const { form } = await createInhabited()
    for (const url of ['/auth/token', '/auth/revoke', '/auth/introspect']) {
      const [unknown, wrong, none] = await Promise.all([
        form(url, { ...LOGIN, token: 'x' }, basic('nobody')),
        form(url, { ...LOGIN, token: 'x' }, basic('app', 'wrong')),
        form(url, { ...LOGIN, token: 'x' })
      ])
      for (const answer of [unknown, wrong, none]) {
        t.strictSame([answer?.statusCode, answer?.json().error], UNAUTHENTICATED, url)
        t.match(answer?.headers, {
          'www-authenticate': 'Basic realm="heroes"',
          'cache-control': 'no-store',
          pragma: 'no-cache'
        })
      }
      t.equal(unknown?.payload, wrong?.payload)
    }
  }
)

t.test('during a rotation two secrets live, and the old one until its time', async t => {
  const service = await createInhabited()
  const { useCases, clock } = service
  const second = await useCases.rotateSecret('app', undefined, 100)
  t.match(second, /^[A-Za-z0-9]{32}$/)
  t.equal(await outcome(service, LOGIN, basic('app', second)), 200)
  t.equal(await outcome(service, LOGIN, basic('app', SECRET)), 200)
  clock.advance(99.999)
  t.equal(await outcome(service, LOGIN, basic('app', SECRET)), 200)
  clock.advance(0.001)
  t.strictSame(await outcome(service, LOGIN, basic('app', SECRET)), UNAUTHENTICATED)
  t.equal(await outcome(service, LOGIN, basic('app', second)), 200)
})

t.test('at most one old secret lives, and none when none is to be kept', async t => {
  const service = await createInhabited()
  const second = await service.useCases.rotateSecret('app', undefined, 100)
  const third = await service.useCases.rotateSecret('app', 'given '.repeat(4), 100)
  t.equal(third, 'given '.repeat(4))
  t.strictSame(await outcome(service, LOGIN, basic('app', SECRET)), UNAUTHENTICATED)
  t.equal(await outcome(service, LOGIN, basic('app', second)), 200)
  t.equal(await outcome(service, LOGIN, basic('app', third)), 200)
  const fourth = await service.useCases.rotateSecret('app', undefined, 0)
  for (const old of [SECRET, second, third])
    t.strictSame(await outcome(service, LOGIN, basic('app', old)), UNAUTHENTICATED)
  t.equal(await outcome(service, LOGIN, basic('app', fourth)), 200)
})

t.test('the client is authenticated before anything else in the form is judged, its grammar aside', async t => {
  const service = await createInhabited()
  for (const fields of [{}, { grant_type: 'nonsense' }, { ...LOGIN, scope: 'x  y' }, { grant_type: 'refresh_token' }]) {
    t.strictSame(await outcome(service, fields, basic('app', 'wrong')), UNAUTHENTICATED)
  }
  for (const fields of ['grant_type=password&grant_type=password', 'a=%', 'a=%FF', 'a=%00']) {
    t.strictSame(await outcome(service, fields, basic('app', 'wrong')), MALFORMED, fields)
  }
})
