import { Readable } from 'node:stream'
import t from 'tap'
import { formOf, formPairs, parseForm, queryString } from '../../../app/http/bodies/forms.js'
import { createInhabited } from '../../support/service.js'
import { FORM_TYPE } from '../../support/wire.js'

t.test('a form gives each parameter once and leaves out the empty ones', async t => {
  t.strictSame([...parseForm('')], [])
  t.strictSame(
    [...parseForm('a=1&b=&c&&d=x+y%2Bz%26&e==&%C3%A9=%F0%9F%A6%B8')],
    [
      ['a', '1'],
      ['d', 'x y+z&'],
      ['e', '='],
      ['é', '🦸']
    ]
  )
  t.strictSame(
    [...parseForm('__proto__=1&constructor=2')],
    [
      ['__proto__', '1'],
      ['constructor', '2']
    ]
  )
  t.strictSame(parseForm('name=é 🦸').get('name'), 'é 🦸')
  t.strictSame(parseForm('name=%EF%BF%BD').get('name'), '\uFFFD', 'a replacement character that was sent as such')
  t.strictSame(
    formPairs('a=1&%61=&b&c=%zz&%zz=a', new Set(['a', 'b'])),
    [
      ['a', '1'],
      ['a', ''],
      ['b', '']
    ],
    'parameters by name, whatever the others are'
  )
})

t.test('a form with a repeated parameter, a broken escape or a NUL is refused', async t => {
  const texts = [
    'a=1&a=2',
    'a=&a=',
    'a&%61',
    'a=%',
    'a=%zz',
    'a=%4',
    'a=%g0',
    'a=%:0',
    'a=%0/',
    'a=%@0',
    'a=%FF',
    '%FF=a',
    'a=%C0%80',
    'a=%ED%A0%80',
    'a=%00',
    'a=\0'
  ]
  for (const text of texts) t.throws(() => parseForm(text), { code: 'invalid_request' }, text)
})

t.test('a form that is too long or has too many parameters is refused before it is decoded', async t => {
  const longest = 'x'.repeat(16_384)
  t.equal(parseForm(`a=${longest}`).get('a'), longest)
  t.equal(parseForm(`${longest}=a`).get(longest), 'a')
  t.equal(parseForm(`a=${'%41'.repeat(5461)}`).get('a'), 'A'.repeat(5461))
  t.equal(parseForm(Array.from({ length: 1000 }, (_, part) => `${part}=1`).join('&')).size, 1000)
  const texts = [
    `a=${longest}x`,
    `${longest}x=a`,
    `${longest}x`,
    `a=${'é'.repeat(8193)}`,
    `a=${'%41'.repeat(5462)}`,
    // A decoder would find the broken escape first.
    `%zz=1&a=${longest}x`,
    `a=${'+'.repeat(10_000_000)}`
  ]
  for (const text of texts) t.throws(() => parseForm(text), { message: 'a parameter is longer than 16384 bytes' })
  for (const text of ['a=1&'.repeat(1000), '&'.repeat(1000), `%zz${'&'.repeat(1000)}`]) {
    t.throws(() => parseForm(text), { message: 'there are more than 1000 parameters' })
  }
  t.equal(
    formPairs(`a=${longest}x`, new Set('a')).length,
    1,
    'a parameter in a query string may be longer, as the target is bounded'
  )
})

t.test('a query string is the part of the target behind the first question mark and before a #', async t => {
  t.equal(queryString('/a'), '')
  t.equal(queryString('/a?b=1?2&c=%20'), 'b=1?2&c=%20')
  t.equal(queryString('/a?b#c?d'), 'b')
  t.throws(() => queryString('/a?b=é'), { code: 'invalid_request' })
})

t.test('a form whose bytes are not UTF-8 is refused, and a request without a body has an empty one', async t => {
  const body = { text: Buffer.from([0x61, 0x3d, 0xff]).toString() }
  await t.rejects(formOf({ body }), {
    message: 'a parameter is not valid UTF-8, or holds a raw U+FFFD: percent-encode it as UTF-8'
  })
  t.strictSame(await formOf({ body: undefined }), new Map())
})

t.test('a long form leaves turns of the event loop to others while it is decoded', async t => {
  const parse = async (form: string) => {
    let turns = 0
    let over = false
    const count = (): void => {
      turns += 1
      if (!over) setImmediate(count)
    }
    setImmediate(count)
    try {
      const parsed = await formOf({ body: { text: form } })
      return { parsed, turns }
    } finally {
      over = true
    }
  }
  for (const [parameters, least] of [
    [2, 0],
    [51, 2],
    [1000, 21]
  ] as const) {
    const encoded = Array.from({ length: parameters }, (_, part) => `${part}=${'%41'.repeat(3333)}`).join('&')
    const { parsed, turns } = await parse(encoded)
    t.strictSame([...parsed], [...parseForm(encoded)])
    t.ok(turns >= least, `${turns} turns for ${parameters} parameters`)
  }
  await t.rejects(parse(`${'x'.repeat(16_384)}x`), { code: 'invalid_request' })
  await t.rejects(parse('a=1&a=2'), { code: 'invalid_request' })
})

t.test('a form beyond the bounds is 400, and 413 before that when it is longer than a body may be', async t => {
  const { http } = await createInhabited({ bodyLimit: 200_000 })
  const send = (form: string, headers: Readonly<Record<string, string>> = {}) =>
    http.inject({
      method: 'POST',
      url: '/auth/token',
      headers: { ...FORM_TYPE, ...headers },
      payload: Readable.from([form.slice(0, 100_000), form.slice(100_000)], { objectMode: false })
    })
  const longest = 'x'.repeat(200_000)
  const answer = await send(longest, { 'content-length': '200000' })
  t.equal(answer.statusCode, 400)
  t.equal(answer.json().error_description, 'a parameter is longer than 16384 bytes: send a shorter one')
  const chunked = { 'transfer-encoding': 'chunked' }
  t.equal((await send(longest, chunked)).statusCode, 400)
  t.equal((await send(`${longest}x`, chunked)).statusCode, 413)
  const many = Array.from({ length: 20_000 }, (_, part) => `p${part}=1`).join('&')
  t.equal((await send(many, chunked)).statusCode, 400)
})

t.test('a long form is refused while it arrives when much of it is neither ASCII nor percent-encoded', async t => {
  const { http } = await createInhabited()
  const send = (part: string) => {
    const payload = Array.from({ length: 700 }, (_, index) => `p${index}=${part.repeat(4000)}`).join('&')
    return http.inject({ method: 'POST', url: '/auth/token', headers: FORM_TYPE, payload })
  }
  const refused = await send('é')
  const error_description = 'the form is long and not percent-encoded: encode all but ASCII'
  t.strictSame([refused.statusCode, refused.json()], [400, { error: 'invalid_request', error_description }])
  t.equal((await send('ee')).statusCode, 401)
})
