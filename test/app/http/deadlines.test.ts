import type { FastifyReply, FastifyRequest } from 'fastify'
import t from 'tap'
import { formRoutes } from '../../../app/http/bodies/forms.js'
import { jsonRoutes } from '../../../app/http/bodies/json.js'
import { CONSTANT_HEADERS, createTestHttp, listen } from '../../support/http.js'
import { recordLog } from '../../support/recorded-log.js'
import { createSlowHttp, postSlow } from '../../support/sample-routes.js'
import { signal, turns } from '../../support/waiting.js'
import { dial, FORM_TYPE, JSON_TYPE, readAnswer, statusesIn } from '../../support/wire.js'

const getOnce = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`

t.test('a request that is not answered in time is 503, and what its handler answers later is dropped', async t => {
  const { log, take } = recordLog('info')
  const http = createTestHttp({ answerMilliseconds: 50, log })
  const goOn = signal()
  const settled: Promise<unknown>[] = []
  const wait = async () => {
    await goOn.given
  }
  const slow = async (_request: FastifyRequest, reply: FastifyReply) => {
    const done = goOn.given.then(() => {
      reply.code(201).header('location', '/late')
      return { late: true }
    })
    settled.push(done)
    return done
  }
  const failing = async () => {
    const done = goOn.given.then(() => {
      throw new Error('too late')
    })
    settled.push(done.catch(() => {}))
    return done
  }
  http.get('/checked', { onRequest: wait }, async () => t.fail('it is never handled'))
  const config = { whenLate: 'ask for less' }
  http.get('/list', { config }, slow)
  http.register(
    jsonRoutes(http => {
      http.post('/json', failing)
      http.post('/checked', { onRequest: wait }, async () => t.fail('it is never handled'))
    })
  )
  http.register(formRoutes('oauth', http => http.get('/oauth', failing)))
  http.register(formRoutes('page', http => http.put('/page', slow)))
  const send = await listen(http)
  t.teardown(() => http.close())
  const head = (line: string, length: number, type: string) =>
    `${line} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: ${length}\r\ncontent-type: ${type}\r\n\r\n`
  const answers = await Promise.all([
    send(getOnce('/checked')),
    send(getOnce('/list')),
    send(getOnce('/list').replace('GET', 'HEAD')),
    send(getOnce('/oauth')),
    send(head('POST /json', 2, JSON_TYPE['content-type']), '{}'),
    send(`${head('POST /checked', 2, JSON_TYPE['content-type'])}{}`),
    send(`${head('PUT /page', 3, FORM_TYPE['content-type'])}a=1`)
  ])
  goOn.give()
  await Promise.all(settled)
  for (const answer of answers) {
    t.strictSame(statusesIn(answer), [503])
    t.match(readAnswer(answer).headers, { ...CONSTANT_HEADERS, 'retry-after': '1' })
    t.notMatch(readAnswer(answer).headers, { location: String })
  }
  const [checked, list, headOfList, auth, sent, held, page] = answers.map(readAnswer)
  const tooLong = { error: 'the answer took too long' }
  t.same(
    [checked, sent, held].map(answer => JSON.parse(String(answer?.body))),
    [tooLong, tooLong, tooLong]
  )
  t.same(JSON.parse(String(list?.body)), { error: 'the answer took too long: ask for less' })
  t.equal(headOfList?.body, '')
  t.match(auth, {
    headers: { 'cache-control': 'no-store', pragma: 'no-cache' },
    body: '{"error":"temporarily_unavailable","error_description":"the answer took too long"}'
  })
  t.match(page, { headers: { 'content-type': 'text/html; charset=utf-8' }, body: /^<p>503 / })
  const logged = take()
  t.equal(logged.filter(({ level, status }) => level === 30 && status === 503).length, answers.length)
  t.equal(logged.filter(({ level, msg }) => level === 50 && msg === 'a request failed').length, 1)
  t.equal(logged.length, answers.length + 1)
})

t.test('the time in which a body arrives does not count', async t => {
  const { http, arrived, answer } = createSlowHttp({ answerMilliseconds: 500 })
  const never = signal()
  http.get('/never', () => never.given)
  const send = await listen(http)
  t.teardown(() => http.close())
  const { socket, closed } = dial(http.listeningOrigin)
  const request = postSlow('one').replace('host: a', 'host: a\r\nconnection: close')
  socket.write(request.slice(0, -1))
  // Each of these requests comes later than the first and is out of time before it.
  for (let turn = 0; turn < 3; turn++) t.strictSame(statusesIn(await send(getOnce('/never'))), [503])
  socket.write(request.slice(-1))
  await arrived
  t.match(await closed, /^HTTP\/1\.1 503 /, 'the time goes on when the body is complete')
  answer()
  never.give()
})

t.test('a request whose body arrives late has the time that was left when the body began', async t => {
  const ANSWER = 1000
  const { http, arrived, answer } = createSlowHttp({ answerMilliseconds: ANSWER })
  const clock = createTestHttp({ answerMilliseconds: ANSWER / 4 })
  const never = signal()
  clock.get('/never', () => never.given)
  await listen(http)
  const tick = await listen(clock)
  t.teardown(() => Promise.all([http.close(), clock.close()]))
  const quarter = async () => t.strictSame(statusesIn(await tick(getOnce('/never'))), [503])
  const { socket, closed } = dial(http.listeningOrigin)
  const request = postSlow('one').replace('host: a', 'host: a\r\nconnection: close')
  socket.write(request.slice(0, -1))
  for (let passed = 0; passed < 5; passed++) await quarter()
  socket.write(request.slice(-1))
  await arrived
  await quarter()
  answer()
  t.strictSame(statusesIn(await closed), [200])
  never.give()
})

t.test(
  'a client that has left before its request is out of time is not answered, and no failure is logged',
  async t => {
    const { log, take } = recordLog('error')
    const http = createTestHttp({ answerMilliseconds: 500, log })
    const never = signal()
    const arrived = signal()
    http.get('/never', () => {
      arrived.give()
      return never.given
    })
    const send = await listen(http)
    t.teardown(() => http.close())
    const { socket } = dial(http.listeningOrigin)
    socket.write('GET /never HTTP/1.1\r\nhost: a\r\n\r\n')
    await arrived.given
    socket.destroy()
    t.strictSame(statusesIn(await send(getOnce('/never'))), [503])
    t.equal(take().length, 1)
    never.give()
  }
)

t.test('the time that has passed before a body arrives counts, and does not begin anew behind the body', async t => {
  const ANSWER = 800
  const checked = signal()
  const begun = signal(2)
  const never = signal()
  const http = createTestHttp({ answerMilliseconds: ANSWER })
  const clock = createTestHttp({ answerMilliseconds: ANSWER / 4 })
  for (const server of [http, clock]) server.get('/never', () => never.given)
  const check = async () => {
    begun.give()
    await checked.given
  }
  http.register(jsonRoutes(http => http.post('/checked', { onRequest: check }, () => never.given)))
  const sends = [await listen(http), await listen(clock)] as const
  t.teardown(() => Promise.all([http.close(), clock.close()]))
  const [send, tick] = sends
  const quarter = async () => t.strictSame(statusesIn(await tick(getOnce('/never'))), [503])
  const over: string[] = []
  const note = async (name: string, answer: Promise<string>) => {
    t.strictSame(statusesIn(await answer), [503], name)
    over.push(name)
  }
  const head = `POST /checked HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 2\r\ncontent-type: ${JSON_TYPE['content-type']}\r\n\r\n`
  const late = dial(http.listeningOrigin)
  late.socket.write(head)
  const answers = [note('whole', send(`${head}{}`)), note('late body', late.closed)]
  await begun.given
  await quarter()
  await quarter()
  answers.push(note('begun later', send(getOnce('/never'))))
  await quarter()
  checked.give()
  await turns(20)
  late.socket.write('{}')
  await Promise.all(answers)
  t.equal(over.at(-1), 'begun later')
  never.give()
})

t.test('of two requests that are sent together each has its own time', async t => {
  const { http, arrived, answer } = createSlowHttp({ answerMilliseconds: 400 })
  const never = signal()
  http.get('/never', () => never.given)
  const send = await listen(http)
  t.teardown(() => http.close())
  const sent = send(`GET /slow/one HTTP/1.1\r\nhost: a\r\n\r\n${getOnce('/never')}`)
  await arrived
  answer()
  t.strictSame(statusesIn(await sent), [200, 503])
  never.give()
})
