import { connect } from 'node:net'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { createListing, HEROES, status } from '../../../support/listing.js'
import { ask } from '../../../support/process.js'
import { createService } from '../../../support/service.js'
import { signal } from '../../../support/waiting.js'
import { dial } from '../../../support/wire.js'

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

t.test(
  'wire 3.11: a search that reads every name and finds more than a thousand takes one place, and finds no others',
  async t => {
    const { ask, useCases } = createService({ protectHeroes: false, isSlowSearch: () => true })
    await useCases.importHeroes([...Array.from({ length: 1001 }, (_, i) => ({ name: `hero ${i}` })), { name: 'other' }])
    const answer = await ask('/heroes?name=o%20')
    t.equal(answer.json().length, 1001)
  }
)
