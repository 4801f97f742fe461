import t from 'tap'
import { AWKWARD } from '../../support/client-libraries.js'
import {
  basic,
  createInhabited,
  type Fields,
  formEncoded,
  type Headers,
  type Inhabited,
  LOGIN,
  percentEncoded
} from '../../support/service.js'
import { addClient, SECRET } from '../../support/world.js'

/** 200 for a login that succeeds, or else the status and the error. */
const outcome = async ({ form }: Inhabited, fields: Fields, headers: Headers = {}): Promise<unknown> => {
  const answer = await form('/auth/token', fields, headers)
  return answer.statusCode === 200 ? 200 : [answer.statusCode, answer.json().error]
}

const UNAUTHENTICATED = [401, 'invalid_client']
const MALFORMED = [400, 'invalid_request']

/** A header of HTTP Basic whose content need not be an id and a secret. */
const basicOf = (text: string): Headers => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })

t.test('an id and a secret of any characters are read raw, form-encoded and from the body', async t => {
  const service = await createInhabited()
  await addClient(service, AWKWARD.id, { secret: AWKWARD.secret })
  const { id, secret } = AWKWARD
  const headers: Record<string, Headers> = {
    raw: basic(id, secret),
    'form-encoded': basic(formEncoded(id), formEncoded(secret)),
    'percent-encoded': basic(id, encodeURIComponent(secret)),
    'every byte percent-encoded': basic(id, percentEncoded(secret)),
    'the scheme in lower case': { authorization: basic(id, secret).authorization?.replace('Basic', 'basic') ?? '' },
    'two spaces': { authorization: basic(id, secret).authorization?.replace(' ', '  ') ?? '' },
    'without padding': { authorization: basic(id, secret).authorization?.replace(/=+$/, '') ?? '' }
  }
  for (const [name, header] of Object.entries(headers)) t.equal(await outcome(service, LOGIN, header), 200, name)
  t.equal(await outcome(service, { ...LOGIN, client_id: id, client_secret: secret }), 200, 'in the body')
  const colons = 'a:b+c:d%'.repeat(3)
  await addClient(service, 'colons', { secret: colons })
  const encoded = basic('colons', colons.replaceAll(':', '%3A'))
  t.equal(await outcome(service, LOGIN, encoded), 200, 'colons alone percent-encoded')
  const half = basic(formEncoded(id), secret.replace('%d', '%25d'))
  t.strictSame(
    await outcome(service, LOGIN, half),
    UNAUTHENTICATED,
    'a secret that is encoded in part is read in neither way'
  )
})

t.test('a secret that could be the encoding of another text is accepted raw and encoded', async t => {
  const service = await createInhabited()
  for (const [i, secret] of ['a+b'.repeat(8), '%41'.repeat(8), 'a b'.repeat(8), '%'.repeat(24)].entries()) {
    await addClient(service, `c${i}`, { secret })
    t.equal(await outcome(service, LOGIN, basic(`c${i}`, secret)), 200, `${secret} raw`)
    t.equal(await outcome(service, LOGIN, basic(`c${i}`, formEncoded(secret))), 200, `${secret} encoded`)
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

t.test(
  'credentials in the header and in the body at once are invalid_request, and so is a client_id that contradicts the header',
  async t => {
    const service = await createInhabited()
    t.strictSame(await outcome(service, { ...LOGIN, client_secret: SECRET }, basic('app')), MALFORMED)
    t.strictSame(await outcome(service, { ...LOGIN, client_id: 'app', client_secret: SECRET }, basic('app')), MALFORMED)
    t.strictSame(await outcome(service, { ...LOGIN, client_id: 'spa' }, basic('app')), MALFORMED)
    t.strictSame(await outcome(service, { ...LOGIN, client_id: 'APP' }, basic('app')), MALFORMED)
    t.equal(await outcome(service, { ...LOGIN, client_id: 'app' }, basic('app')), 200)
    t.equal(await outcome(service, { ...LOGIN, client_id: '', client_secret: '' }, basic('app')), 200)
    // The header can be read as this id, and decoded as another, whose secret is right.
    const ambiguous = basicOf(`a%70p:${SECRET}`)
    t.equal(await outcome(service, { ...LOGIN, client_id: 'app' }, ambiguous), 200)
    t.strictSame(await outcome(service, { ...LOGIN, client_id: 'a%70p' }, ambiguous), UNAUTHENTICATED)
  }
)

t.test('wire 5.2: a header of another scheme than Basic hides nothing that the form has', async t => {
  const service = await createInhabited()
  for (const authorization of ['', 'Bearer abc', 'Digest username="app"', 'Basics x', 'x']) {
    const headers = { authorization }
    t.equal(await outcome(service, { ...LOGIN, client_id: 'app', client_secret: SECRET }, headers), 200, authorization)
    t.equal(await outcome(service, { ...LOGIN, client_id: 'spa' }, headers), 200)
    t.strictSame(await outcome(service, { ...LOGIN, client_id: 'app', client_secret: 'x' }, headers), UNAUTHENTICATED)
    t.strictSame(await outcome(service, { ...LOGIN, client_id: 'app' }, headers), UNAUTHENTICATED)
    t.strictSame(await outcome(service, LOGIN, headers), UNAUTHENTICATED)
  }
  for (const authorization of ['Basic', 'basic !', 'Basic, x']) {
    const both = { ...LOGIN, client_id: 'app', client_secret: SECRET }
    t.strictSame(await outcome(service, both, { authorization }), MALFORMED, authorization)
    t.strictSame(await outcome(service, { ...LOGIN, client_id: 'spa' }, { authorization }), UNAUTHENTICATED)
  }
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
    basicOf('app'),
    basicOf(''),
    basicOf(':'),
    basicOf(`:${SECRET}`),
    basicOf(`app;${SECRET}`),
    basicOf(`\ufeffapp:${SECRET}`),
    basicOf(`app\0:${SECRET}`),
    { authorization: `Basic ${Buffer.from([0x61, 0x70, 0x70, 0x3a, 0xff]).toString('base64')}` },
    basic('x'.repeat(256)),
    basic('x'.repeat(9000))
  ]
  for (const headers of malformed)
    t.strictSame(await outcome(service, LOGIN, headers), UNAUTHENTICATED, String(headers.authorization))
  t.strictSame(await outcome(service, LOGIN), UNAUTHENTICATED)
})

t.test('wire 5.2: a malformed header of Basic has a text of its own', async t => {
  const { form } = await createInhabited()
  for (const url of ['/auth/token', '/auth/revoke', '/auth/introspect']) {
    for (const header of ['Basic', 'Basic !', basicOf('app').authorization, 'Basic /w==']) {
      for (const fields of [LOGIN, { ...LOGIN, client_id: 'app' }]) {
        const answer = await form(url, fields, { authorization: String(header) })
        t.equal(answer.statusCode, 401)
        t.match(answer.json(), { error: 'invalid_client', error_description: /^the Basic credentials are malformed: / })
      }
    }
    t.match((await form(url, LOGIN)).json(), { error_description: /^the client must authenticate: / })
  }
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
        t.has(answer?.headers, {
          'www-authenticate': 'Basic realm="heroes"',
          'cache-control': 'no-store',
          pragma: 'no-cache'
        })
      }
      t.equal(unknown?.payload, wrong?.payload)
    }
  }
)

t.test('during a rotation both secrets are accepted, and the old one until its time is over', async t => {
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

t.test('at most one old secret is accepted, and none when none is to be kept', async t => {
  const service = await createInhabited()
  const second = await service.useCases.rotateSecret('app', undefined, 100)
  const third = await service.useCases.rotateSecret('app', 'given '.repeat(4), 100)
  t.equal(third, 'given '.repeat(4))
  t.strictSame(await outcome(service, LOGIN, basic('app', SECRET)), UNAUTHENTICATED)
  t.equal(await outcome(service, LOGIN, basic('app', second)), 200)
  t.equal(await outcome(service, LOGIN, basic('app', third)), 200)
  const fourth = await service.useCases.rotateSecret('app')
  for (const old of [SECRET, second, third])
    t.strictSame(await outcome(service, LOGIN, basic('app', old)), UNAUTHENTICATED)
  t.equal(await outcome(service, LOGIN, basic('app', fourth)), 200)
})

t.test('the client is authenticated before anything in the form is judged but the grammar of the form', async t => {
  const service = await createInhabited()
  for (const fields of [{}, { grant_type: 'nonsense' }, { ...LOGIN, scope: 'x  y' }, { grant_type: 'refresh_token' }]) {
    t.strictSame(await outcome(service, fields, basic('app', 'wrong')), UNAUTHENTICATED)
  }
  for (const fields of ['grant_type=password&grant_type=password', 'a=%', 'a=%FF', 'a=%00']) {
    t.strictSame(await outcome(service, fields, basic('app', 'wrong')), MALFORMED, fields)
  }
})
