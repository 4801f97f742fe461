import t, { type Test } from 'tap'
import { createMemoryStores } from '../../../adapters/memory/stores.js'
import { DomainError } from '../../../core/index.js'
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
        },
        async insertIfAuthorized(hero, access, at) {
          calls.push('insertIfAuthorized')
          const token = await tokens.findByAccess(access)
          return token !== undefined && token.expiresAt > at ? heroes.insert(hero) : 'refused'
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

t.test('a hero whose request has arrived as a whole is stored in the step that judges the token', async t => {
  const { opened, ask } = await serve(t)
  const open = await opened()
  t.strictSame(await ask(post(open, '{"name":"a"}')), [200, undefined, 'insertIfAuthorized'])
  t.strictSame(await ask(post(UNKNOWN, '{"name":"b"}')), [401, REFUSED, 'insertIfAuthorized'])
  const [status, , ...calls] = await ask(post(open, '{"name":"a"}'))
  t.strictSame([status, ...calls], [409, 'insertIfAuthorized'])
})

t.test('so is each hero of a connection that is alone', async t => {
  const { origin, opened, calls } = await serve(t)
  const open = await opened()
  const { socket, received } = dial(origin)
  for (let count = 1; count <= 20; count++) {
    socket.write(post(open, `{"name":"${count}"}`).replace('connection: close\r\n', ''))
    while (statusesIn(received()).length < count) await turns(1)
  }
  t.strictSame(calls, Array(20).fill('insertIfAuthorized'))
  socket.destroy()
})

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

t.test('the check comes first when the body is long or has no known length, or when writing needs a scope', async t => {
  const { opened, ask } = await serve(t)
  const open = await opened()
  const long = JSON.stringify({ id: 'x'.repeat(4096), name: 'a' })
  t.strictSame(await ask(post(open, long)), [200, undefined, 'findByAccess', 'insert'])
  t.strictSame(await ask(post(UNKNOWN, long)), [401, REFUSED, 'findByAccess'])
  const chunked = post(open, '', `${JSON_TYPE}transfer-encoding: chunked\r\n`).replace('content-length: 0\r\n', '')
  const answer = await ask(`${chunked}c\r\n{"name":"b"}\r\n0\r\n\r\n`)
  t.strictSame(answer, [200, undefined, 'findByAccess', 'insert'])
  const [empty, , ...callsForEmpty] = await ask(post(open, ''))
  t.strictSame([empty, ...callsForEmpty], [400, 'findByAccess'])

  const scoped = await serve(t, { writeScope: 'a' })
  const strong = await scoped.opened('a')
  t.strictSame(await scoped.ask(post(strong, '{"name":"a"}')), [200, undefined, 'findByAccess', 'insert'])
  const [status, , ...calls] = await scoped.ask(post(await scoped.opened('b'), '{"name":"b"}'))
  t.strictSame([status, ...calls], [403, 'findByAccess'])

  const unprotected = await serve(t, { protectHeroes: false })
  t.strictSame(await unprotected.ask(post(UNKNOWN, '{"name":"a"}')), [200, undefined, 'insert'])
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

t.test('of a service whose store cannot be reached nobody learns whether the token is valid', async t => {
  const stores = createMemoryStores()
  const unavailable = async (): Promise<never> => {
    throw new DomainError('unavailable', 'the store is away', { retryAfterSeconds: 1 })
  }
  const { http, opened } = await createInhabited({
    stores: { ...stores, heroes: { ...stores.heroes, insertIfAuthorized: unavailable } }
  })
  const send = await listen(http)
  t.teardown(() => http.close())
  const open = `authorization: ${String((await opened()).authorization)}\r\n`
  for (const authorization of [open, UNKNOWN]) {
    t.equal(readAnswer(await send(post(authorization, '{"name":"a"}'))).status, 503)
  }
})
