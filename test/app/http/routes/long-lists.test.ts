import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { serveDatabase } from '../../../support/database-service.js'
import { ask } from '../../../support/process.js'
import { createService, type ServiceOptions } from '../../../support/service.js'
import { signal } from '../../../support/waiting.js'
import { dial } from '../../../support/wire.js'

/** More than the system takes for a client that reads nothing. */
const HEROES = 12_000
const ENTRY = '🦸'.repeat(250)

const createListing = async (t: Pick<Test, 'teardown'>, options: ServiceOptions = {}) => {
  const service = createService({ protectHeroes: false, ...options })
  for (let hero = 0; hero < HEROES; hero++) {
    await service.ports.heroes.insert({ name: `${hero < 1000 ? 'a' : 'b'}${hero}${ENTRY}` })
  }
  const url = new URL(await service.http.listen({ host: '127.0.0.1', port: 0 }))
  t.teardown(() => service.http.close())
  const open = (path: string, method = 'GET'): Socket => {
    const socket = connect(Number(url.port), url.hostname).on('error', () => {})
    socket.write(`${method} ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`)
    return socket
  }
  /** Clients that ask for the whole list and read nothing, once the service knows of them. */
  const unread = async (count: number): Promise<Socket[]> => {
    let asked = 0
    const all = new Promise<void>(resolve => {
      const onRequest = () => {
        asked += 1
        if (asked < count) return
        service.http.server.off('request', onRequest)
        resolve()
      }
      service.http.server.on('request', onRequest)
    })
    const sockets = Array.from({ length: count }, () => open('/heroes').pause())
    await all
    for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve))
    return sockets
  }
  const ask = async (path: string, method?: string): Promise<string> => text(open(path, method))
  return { ...service, open, unread, ask }
}

const status = (answer: string): number => Number(answer.slice(9, 12))

t.test('wire 3.11: two long lists are made or sent at a time and eight wait; beyond, 503', async t => {
  const { unread, ask } = await createListing(t)
  const clients = await unread(10)
  for (const answer of [await ask('/heroes'), await ask('/heroes?after=0'), await ask('/heroes?name=b')]) {
    t.match(answer, /^HTTP\/1\.1 503 .*retry-after: 1\r\n.*ask for a part of the list, with a limit of up to 1000"\}$/s)
  }
  t.equal(status(await ask('/heroes', 'HEAD')), 503)
  for (const path of ['/heroes?limit=1000', '/heroes?name=a', '/heroes?after=11000', '/heroes/1']) {
    t.equal(status(await ask(path)), 200, `${path} is no long list`)
  }
  for (const client of clients) client.destroy()
  for (let round = 0; round < 3; round++) {
    const more = await unread(9)
    const waiting = ask('/heroes')
    for (const client of more) client.destroy()
    const [head = '', body = ''] = (await waiting).split('\r\n\r\n')
    t.match(head, `200 OK`, 'whoever waits has a place when it is free')
    t.match(head, `content-length: ${Buffer.byteLength(body)}\r\n`)
    t.equal(JSON.parse(body).length, HEROES)
    t.match(await ask('/heroes', 'HEAD'), `content-length: ${Buffer.byteLength(body)}\r\n`)
  }
})

t.test('a long list is compressed while it is made, with the length of what is sent', async t => {
  const { http } = await createListing(t)
  const answer = await http.inject({ url: '/heroes', headers: { 'accept-encoding': 'gzip' } })
  t.match(answer.headers, { 'content-encoding': 'gzip', 'content-length': String(answer.rawPayload.length) })
  t.equal(answer.headers.vary, 'accept-encoding')
  t.equal(JSON.parse(gunzipSync(answer.rawPayload).toString()).length, HEROES)
})

t.test('lists that nobody reads are cut off, so that others have theirs, and do not fill the memory', async t => {
  const { unread, ask } = await createListing(t, { readerMilliseconds: 1000 })
  const before = process.memoryUsage()
  const clients = await unread(24)
  const during = process.memoryUsage()
  const taken = (kind: 'heapUsed' | 'external'): number => during[kind] - before[kind]
  t.ok(taken('heapUsed') + taken('external') < 8 * HEROES * 1050, `${taken('heapUsed')} and ${taken('external')} bytes`)
  let answered = 503
  while (answered === 503) {
    await sleep(20)
    answered = status(await ask('/heroes'))
  }
  t.equal(answered, 200)
  for (const client of clients) client.destroy()
})

t.test('a list whose client has left is not made to its end', async t => {
  const { useCases } = createService()
  for (let hero = 0; hero <= 1000; hero++) await useCases.createHero({ name: `${hero}` })
  const [left, ended] = [signal(), signal()]
  let pieces = 0
  const allHeroes = async function* () {
    try {
      for (; pieces < 100; pieces++) {
        if (pieces === 1) {
          client.destroy()
          await left.given
        }
        yield [{ id: pieces, name: 'of a piece' }]
      }
    } finally {
      ended.give()
    }
  }
  const { http } = createService({ protectHeroes: false, useCases: { ...useCases, allHeroes } })
  t.teardown(() => http.close())
  http.server.on('request', (_request, response) => response.once('close', left.give))
  const { port } = new URL(await http.listen({ host: '127.0.0.1', port: 0 }))
  const client = connect(Number(port), '127.0.0.1')
  client.write('GET /heroes HTTP/1.1\r\nhost: a\r\n\r\n')
  await ended.given
  t.equal(pieces, 1, 'the second piece is the last')
})

t.test(
  'wire 3.11: sixteen searches that no index serves leave a writer its connections, whatever their limit',
  async t => {
    const { url, sql } = await serveDatabase(t, { DATABASE_POOL: '4', PROTECT_HEROES: 'false' })
    const searching = async (): Promise<number> => {
      const [row] = await sql`
      select count(*)::int from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state = 'active'
        and query like '%name_lower like %'`
      return row?.count
    }
    const lock = await sql.reserve()
    await lock`begin`
    await lock`lock table hero in access exclusive mode`
    const searches = Promise.all(Array.from({ length: 16 }, () => ask(`${url}/heroes?name=zz&limit=20`)))
    let over = false
    const ended = searches.finally(() => {
      over = true
    })
    const written = ask(`${url}/register`, { body: { username: 'eve', password: 'x' } })
    let most = 0
    while (!over) {
      most = Math.max(most, await searching())
      await sleep(10)
    }
    t.equal(most, 2, 'so many search at a time')
    t.equal((await written).status, 200)
    const refused = (await ended).filter(({ body }) => body.includes('search for three letters or digits in a row'))
    t.ok(refused.length > 0, 'beyond those who wait')
    for (const { status, headers } of refused) t.strictSame([status, headers['retry-after']], [503, '1'])
    await lock`rollback`
    lock.release()
    t.has(await ask(`${url}/heroes?name=zz&limit=20`), { status: 200, body: '[]' })
  }
)

t.test(
  'wire 3.11: a search that reads every name has its place until its statement has ended, although nobody waits',
  async t => {
    const { useCases } = createService()
    const ends: (() => void)[] = []
    const [two, three, left] = [signal(2), signal(3), signal(2)]
    const heroPage: typeof useCases.heroPage = query => {
      if (query.nameContains !== 'zz') return useCases.heroPage(query)
      two.give()
      three.give()
      return new Promise(resolve => ends.push(() => resolve({ heroes: [], nextAfter: undefined })))
    }
    const isSlowSearch = (text: string) => text === 'zz'
    const { http } = createService({ protectHeroes: false, isSlowSearch, useCases: { ...useCases, heroPage } })
    t.teardown(() => http.close())
    const url = await http.listen({ host: '127.0.0.1', port: 0 })
    http.server.on('request', (_request, response) => response.once('close', left.give))
    const clients = [dial(url), dial(url)]
    for (const { socket } of clients) socket.write('GET /heroes?name=zz&limit=20 HTTP/1.1\r\nhost: a\r\n\r\n')
    await two.given
    for (const { socket } of clients) socket.destroy()
    await left.given
    const third = ask(`${url}/heroes?name=zz&limit=20`)
    t.equal((await ask(`${url}/heroes?name=zzz&limit=20`)).status, 200, 'another search need not wait')
    t.equal(ends.length, 2, 'the third waits')
    ends[0]?.()
    await three.given
    ends[2]?.()
    t.equal((await third).status, 200)
    ends[1]?.()
  }
)

t.test('wire 3.11: a search that reads every name and finds more than a thousand takes one place', async t => {
  const { ask, useCases } = createService({ protectHeroes: false, isSlowSearch: () => true })
  await useCases.importHeroes(Array.from({ length: 1001 }, (_, i) => ({ name: `hero ${i}` })))
  const answer = await ask('/heroes?name=h')
  t.equal(answer.json().length, 1001)
})
