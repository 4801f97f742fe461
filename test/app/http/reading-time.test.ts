import type { InjectOptions } from 'fastify'
import t from 'tap'
import { basic, createInhabited, encodeForm, loginPath, REQUEST } from '../../support/service.js'
import { FORM_TYPE, JSON_TYPE } from '../../support/wire.js'

const SHORT = 2000
/** What a form takes as one value. Of three doublings a square makes 64, and the texts of callers take 8 times as long. */
const LONG = 8 * SHORT
const MOST_TIMES = 24

/** What expressions stumble over when it is repeated: separators, spaces, halves of escapes, digits, marks. */
const PARTS = [...':;,%+"[ 0a', '::1,', '%41', ', ', '\u0301\u0323']

/** Requests with a text at every place at which the service reads one. */
const inHeader =
  (name: string, url: string, first = '') =>
  (text: string): InjectOptions => ({
    url,
    headers: { [name]: Buffer.from(first + text).toString('latin1') }
  })
const inForm =
  (name: string, others: Record<string, string>) =>
  (text: string): InjectOptions => ({
    url: '/auth/token',
    method: 'POST',
    headers: { ...FORM_TYPE, ...basic('app') },
    payload: encodeForm({ ...others, [name]: text })
  })
const inJson =
  (name: string, url: string) =>
  (text: string): InjectOptions => ({
    url,
    method: 'POST',
    headers: JSON_TYPE,
    payload: { password: '', [name]: text }
  })
const inTarget =
  (before: string) =>
  (text: string): InjectOptions => ({ url: before + text })
const toToken =
  (name: string, first = '') =>
  (text: string): InjectOptions => ({
    url: '/auth/token',
    method: 'POST',
    headers: { ...FORM_TYPE, [name]: first + text },
    payload: 'client_id=app&token=a'
  })
const PLACES: Record<string, (text: string) => InjectOptions> = {
  host: inHeader('host', '/health/live'),
  'host in brackets': inHeader('host', '/health/live', '[::%25'),
  'host of the future': inHeader('host', '/health/live', '[v1.'),
  accept: inHeader('accept', '/'),
  'accept of a browser': inHeader('accept', '/', 'text/html '),
  'accept-encoding': inHeader('accept-encoding', '/health/live'),
  'accept-language': inHeader('accept-language', loginPath()),
  'if-none-match': inHeader('if-none-match', '/openapi.json'),
  traceparent: inHeader('traceparent', '/health/live', `00-${'a'.repeat(32)}-${'a'.repeat(16)}-00-`),
  bearer: inHeader('authorization', '/heroes/1', 'Bearer '),
  basic: toToken('authorization', 'Basic '),
  'pair in basic': text => toToken('authorization')(basic('', text).authorization ?? ''),
  origin: toToken('origin', 'http://'),
  'content-type': toToken('content-type', 'application/x-www-form-urlencoded'),
  'x-forwarded-for': toToken('x-forwarded-for'),
  'x-forwarded-for behind a bracket': toToken('x-forwarded-for', '['),
  'x-forwarded-for behind a proxy': text => toToken('x-forwarded-for', text)(', ::1'),
  path: inTarget('/'),
  'path with a broken escape': inTarget('/%'),
  'path with a name': inTarget('http://a/'),
  id: inTarget('/heroes/'),
  query: inTarget('/heroes?'),
  name: inTarget('/heroes?name='),
  limit: inTarget('/heroes?limit='),
  state: inTarget(`${loginPath({ state: undefined })}&state=`),
  'redirect URI': inTarget(`${loginPath({ redirect_uri: undefined })}&redirect_uri=http://localhost:`),
  challenge: inTarget(`${loginPath()}&code_challenge_method=S256&code_challenge=`),
  'name of a hero': inJson('name', '/heroes'),
  'name of a user': inJson('username', '/register'),
  scope: inForm('scope', { grant_type: 'password', username: 'a', password: '' }),
  username: inForm('username', { grant_type: 'password', password: '' }),
  verifier: inForm('code_verifier', { grant_type: 'authorization_code', code: 'a' }),
  code: inForm('code', { grant_type: 'authorization_code' }),
  'redirect URI of a code': inForm('redirect_uri', { grant_type: 'authorization_code', code: 'a' }),
  'name of a parameter': text => inForm(text, REQUEST)('a')
}

t.test(
  'a text of eight times the length takes no more than eight times as long to read, wherever it stands',
  async t => {
    const { http } = await createInhabited({ trustProxy: 'loopback, uniquelocal', protectHeroes: false })
    const time = async (request: InjectOptions): Promise<number> => {
      const before = performance.now()
      await http.inject({ remoteAddress: '127.0.0.1', ...request })
      return performance.now() - before
    }
    for (const [place, requestWith] of Object.entries(PLACES)) {
      let short = await time(requestWith('a'.repeat(SHORT)))
      for (const part of PARTS) {
        const requestOf = (length: number) => requestWith(`${part.repeat(length / part.length)}!`)
        let long = await time(requestOf(LONG))
        // The machine may have been busy with something else.
        for (let again = 0; again < 10 && long > MOST_TIMES * short; again++) {
          short = Math.max(short, await time(requestOf(SHORT)))
          long = Math.min(long, await time(requestOf(LONG)))
        }
        if (long > MOST_TIMES * short) {
          t.fail(`${place} of ${JSON.stringify(part)}: ${long} and ${short} ms`)
          return
        }
      }
    }
    t.pass('the time of a short text is the control')
  }
)
