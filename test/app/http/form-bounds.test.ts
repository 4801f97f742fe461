import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { withinFormBounds } from '../../../app/http/form-bounds.js'
import { parseForm } from '../../../app/http/forms.js'
import { createInhabited } from '../../support/service.js'
import { FORM_TYPE } from '../../support/wire.js'

const LONGEST = 'x'.repeat(16_384)
const many = (count: number): string => Array.from({ length: count }, (_, part) => `p${part}=1`).join('&')

/** What is passed on of a form that arrives in chunks of so many bytes, and what Fastify is told of its length. */
const pass = async (form: Buffer, size: number) => {
  const chunks = Array.from({ length: Math.ceil(form.length / size) }, (_, at) =>
    form.subarray(at * size, (at + 1) * size)
  )
  const bounded = withinFormBounds(Readable.from(chunks, { objectMode: false }))
  return { passed: await buffer(bounded), length: bounded.receivedEncodedLength }
}

t.test('a form within the bounds is passed on as it is, however it is cut', async t => {
  const forms = [
    'a=1',
    `a=${LONGEST}&${LONGEST}=b&${LONGEST}&=${LONGEST}`,
    `${LONGEST}=${LONGEST}`,
    many(1000) + 'x'.repeat(100),
    '&'.repeat(999),
    'é'.repeat(8192),
    `a=${'='.repeat(16_384)}`,
    `${'=&'.repeat(999)}=`
  ]
  for (const form of forms.map(text => Buffer.from(text))) {
    for (const size of [1, 7, 4096, 65_536]) {
      const { passed, length } = await pass(form, size)
      t.ok(passed.equals(form), `${form.subarray(0, 20)} in ${size}`)
      t.equal(length, form.length)
    }
  }
})

t.test(
  'of a form beyond the bounds next to nothing is passed on after that, and it is refused all the same',
  async t => {
    // Within the bounds itself.
    const rest = Array.from({ length: 40 }, (_, part) => `&r${part}=${'x'.repeat(16_000)}`).join('')
    const forms = [
      `a=${LONGEST}x`,
      `${LONGEST}x`,
      `${LONGEST}x=a`,
      `a=1&b=${'='.repeat(16_385)}`,
      many(1001),
      '&'.repeat(1000),
      Buffer.alloc(16_385, 0xff).toString('latin1')
    ]
    for (const form of forms.map(text => Buffer.from(text + rest, 'latin1'))) {
      for (const size of [7, 4096, 65_536]) {
        const { passed, length } = await pass(form, size)
        t.ok(passed.length < 140_000, `${passed.length} of ${form.length} bytes`)
        t.equal(length, form.length)
        for (const text of [passed, form]) t.throws(() => parseForm(text.toString()), { code: 'invalid_request' })
      }
    }
  }
)

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
  t.equal((await send(many(20_000), chunked)).statusCode, 400)
})
