import { once } from 'node:events'
import t from 'tap'
import { startService } from '../../support/listening-service.js'
import { bearer, createInhabited, type Headers, PUBLIC_URL } from '../../support/service.js'
import { dial, JSON_TYPE, readAnswer, requestText } from '../../support/wire.js'

const CHALLENGE = `Bearer realm="heroes", resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource"`

t.test('a 401 names the scheme, and names an error only when a bearer token was presented', async t => {
  const { ask, opened, clock } = await createInhabited()
  const open = await opened()
  const challenge = async (headers: Headers) => {
    const answer = await ask('/heroes', { headers })
    t.equal(answer.statusCode, 401)
    return answer.headers['www-authenticate']
  }
  const spellings = ['', 'Bearer', 'Bearer ', 'Basic YTpi', 'Token x', 'Bearerx', 'x']
  for (const authorization of spellings) t.equal(await challenge({ authorization }), CHALLENGE, authorization)
  t.equal(await challenge({}), CHALLENGE)
  const wrong = ['x', 'x'.repeat(32), 'x'.repeat(9000), 'a b', '"', 'ÿ', `${String(open.authorization).slice(7)}x`]
  for (const token of wrong) t.equal(await challenge(bearer(token)), `${CHALLENGE}, error="invalid_token"`, token)
  clock.advance(3600)
  t.equal(await challenge(open), `${CHALLENGE}, error="invalid_token"`)
})

t.test('the token is read from the Authorization header alone, and the scheme in any case', async t => {
  const { ask, form, login } = await createInhabited()
  const { access_token } = await login()
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer ']) {
    t.equal((await ask('/heroes', { headers: { authorization: `${scheme} ${access_token}` } })).statusCode, 200, scheme)
  }
  t.equal((await ask(`/heroes?access_token=${access_token}`)).statusCode, 401)
  t.equal((await form('/heroes', { access_token })).statusCode, 401)
  t.equal((await ask('/heroes', { headers: { cookie: `access_token=${access_token}` } })).statusCode, 401)
})

t.test('a token without the scope that reading or writing needs is 403, which names the scope', async t => {
  const { ask, json, opened } = await createInhabited({ readScope: 'a:heroes.read', writeScope: 'a:heroes' })
  const access = async (scope?: string) => {
    const headers = await opened(scope)
    const read = await ask('/heroes', { headers })
    const one = await ask('/heroes/1', { headers })
    const write = await json('POST', '/heroes', { name: String(scope) }, headers)
    const change = await json('PUT', '/heroes/99', { name: 'x' }, headers)
    const remove = await ask('/heroes/99', { method: 'DELETE', headers })
    t.equal(read.statusCode === 403, one.statusCode === 403)
    t.equal(new Set([write, change, remove].map(answer => answer.statusCode === 403)).size, 1)
    for (const [answer, needed] of [
      [read, 'a:heroes.read'],
      [write, 'a:heroes']
    ] as const) {
      const challenge = `Bearer realm="heroes", error="insufficient_scope", scope="${needed}"`
      t.equal(answer.headers['www-authenticate'], answer.statusCode === 403 ? challenge : undefined)
    }
    return [read.statusCode, write.statusCode]
  }
  t.strictSame(await access('a'), [200, 200])
  t.strictSame(await access('a:heroes'), [200, 200])
  t.strictSame(await access('a:heroes.read'), [200, 403])
  t.strictSame(await access('a.read'), [200, 403])
  t.strictSame(await access('a:heroes.write'), [403, 403])
  t.strictSame(await access('a:heroes:x'), [403, 403])
  t.strictSame(await access('b'), [403, 403])
  t.strictSame(await access(), [403, 403])
})

t.test('a request without a valid token gets the same 401 whatever ids, names and queries it has', async t => {
  const { ask, json, opened } = await createInhabited()
  await json('POST', '/heroes', { name: 'a' }, await opened())
  const [known, ...others] = await Promise.all([
    ask('/heroes/1'),
    ask('/heroes/2'),
    ask('/heroes/x'),
    ask('/heroes?limit=x'),
    json('POST', '/heroes', { name: 'a' }),
    json('POST', '/heroes', '{'),
    ask('/heroes/1', { method: 'DELETE' })
  ])
  for (const answer of others) {
    t.equal(answer.statusCode, 401)
    t.equal(answer.payload, known?.payload)
  }
})

t.test('wire 2.1: without a valid token a request is answered whether or not its body arrives', async t => {
  const { url } = await startService(t)
  for (const authorization of [undefined, 'Bearer x', `Bearer ${'x'.repeat(32)}`]) {
    const { socket, received } = dial(url)
    const headers = { ...JSON_TYPE, 'content-length': '100', ...(authorization !== undefined && { authorization }) }
    socket.write(requestText('POST', '/heroes', headers))
    await once(socket, 'data')
    t.equal(readAnswer(received()).status, 401, String(authorization))
    socket.destroy()
  }
})
