import t, { type Test } from 'tap'
import { createMemoryStores } from '../../../adapters/memory/stores.js'
import { listen } from '../../support/http.js'
import { createInhabited, type ServiceOptions } from '../../support/service.js'
import { turns } from '../../support/waiting.js'
import { dial, readAnswer, statusesIn } from '../../support/wire.js'

const JSON_TYPE = 'content-type: application/json\r\n'

const post = (authorization: string, body: string, headers = JSON_TYPE): string =>
  `POST /heroes HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${authorization}${headers}` +
  `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

/** A service that listens, and the calls to its stores that judge a token or store a hero. */
const serve = async (t: Test, options: ServiceOptions = {}) => {
  const stores = createMemoryStores()
  const calls: string[] = []
  const { heroes, tokens } = stores
  const service = await createInhabited({
    ...options,
    stores: {
      ...stores,
      heroes: {
        ...heroes,
        insert(hero) {
          calls.push('insert')
          return heroes.insert(hero)
        }
      },
      tokens: {
        ...tokens,
        findByAccess(digest) {
          calls.push('findByAccess')
          return tokens.findByAccess(digest)
        }
      }
    }
  })
  const send = await listen(service.http)
  t.teardown(() => service.http.close())
  const opened = async (scope?: string) => `authorization: ${String((await service.opened(scope)).authorization)}\r\n`
  const ask = async (request: string) => {
    calls.length = 0
    const { status, body } = readAnswer(await send(request))
    return [status, JSON.parse(body).error, ...calls]
  }
  return { ...service, calls, opened, ask, origin: service.http.listeningOrigin }
}

const UNKNOWN = `authorization: Bearer ${'x'.repeat(32)}\r\n`
const REFUSED = 'the access token is unknown, expired or revoked: get a new one'

t.test('whoever has no token is refused before anything else, whatever is wrong with the body', async t => {
  const { opened, ask } = await serve(t, { bodyLimit: 100 })
  const open = await opened()
  const wrong: readonly (readonly [string, string, number])[] = [
    ['{"name":"a"}', 'content-type: text/plain\r\n', 415],
    ['{"name":"a"}', `${JSON_TYPE}content-encoding: gzip\r\n`, 415],
    ['{"name":"a"}', '', 415],
    [`{"name":"${'a'.repeat(100)}"}`, JSON_TYPE, 413],
    ['{', JSON_TYPE, 400],
    ['[]', JSON_TYPE, 400],
    ['{"nam":"a"}', JSON_TYPE, 400],
    ['{"name":""}', JSON_TYPE, 400],
    ['{"name":"\\ud800"}', JSON_TYPE, 400]
  ]
  for (const [body, headers, expected] of wrong) {
    const [status, , ...calls] = await ask(post(open, body, headers))
    t.strictSame([status, ...calls], [expected, 'findByAccess'], body)
    t.strictSame(await ask(post(UNKNOWN, body, headers)), [401, REFUSED, 'findByAccess'], body)
    for (const malformed of ['', 'authorization: Bearer x\r\n']) {
      t.equal((await ask(post(malformed, body, headers)))[0], 401)
      t.strictSame((await ask(post(malformed, body, headers))).slice(2), [], 'nothing is looked up')
    }
  }
})

t.test('the check comes before the body, when the body has yet to arrive', async t => {
  const { origin, opened, calls } = await serve(t)
  for (const [authorization, status, expected] of [
    [await opened(), 200, ['findByAccess', 'insert']],
    [UNKNOWN, 401, ['findByAccess']]
  ] as const) {
    calls.length = 0
    const { socket, received, closed } = dial(origin)
    const [head = '', body = ''] = post(authorization, '{"name":"late"}').split(/(?<=\r\n\r\n)/)
    socket.write(head)
    while (calls.length === 0) await turns(1)
    if (status === 200) t.equal(received(), '')
    socket.write(body)
    t.strictSame(statusesIn(await closed), [status])
    t.strictSame(calls, expected)
  }
})
