import t from 'tap'
import { formPairs, parseForm, parseFormInPieces, queryString } from '../../../app/http/forms.js'

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

t.test('a long form is decoded in pieces, with a rest before each but the first', async t => {
  let rests = 0
  const parse = (encoded: string) =>
    parseFormInPieces(encoded, async () => {
      rests += 1
    })
  for (const [parameters, pieces] of [
    [2, 1],
    [49, 1],
    [51, 2],
    [1000, 21]
  ] as const) {
    rests = 0
    const encoded = Array.from({ length: parameters }, (_, part) => `${part}=${'%41'.repeat(3333)}`).join('&')
    t.strictSame([...(await parse(encoded))], [...parseForm(encoded)])
    t.equal(rests, pieces - 1, `${parameters} parameters`)
  }
  await t.rejects(parse(`${'x'.repeat(16_384)}x`), { code: 'invalid_request' })
  await t.rejects(parse('a=1&a=2'), { code: 'invalid_request' })
})
