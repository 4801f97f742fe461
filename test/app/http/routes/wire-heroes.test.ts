import t from 'tap'
import { DomainError } from '../../../../core/index.js'
import { bearer, createInhabited, createService } from '../../../support/service.js'
import { rejecting } from '../../../support/world.js'

const JSON_TYPE = 'application/json; charset=utf-8'

t.test('wire 3.1: heroes are stored, listed, fetched and created', async t => {
  const { json, ask } = createService({ protectHeroes: false })
  const created = (await json('POST', '/heroes', { name: 'Starling' })).json()
  t.same((await ask('/heroes')).json(), [created])
  t.same((await ask(`/heroes/${created.id}`)).json(), created)
})

t.test('wire 3.4: protected hero endpoints ask for a valid bearer access token', async t => {
  const { ask, json, opened } = await createInhabited()
  const open = await opened()
  t.equal((await ask('/heroes')).statusCode, 401)
  t.equal((await json('POST', '/heroes', { name: 'Starling' })).statusCode, 401)
  t.equal((await ask('/heroes', { headers: open })).statusCode, 200)
  t.equal((await json('POST', '/heroes', { name: 'Starling' }, open)).statusCode, 200)
})

t.test('wire 3.2: an id is an integer that the service counts up, and one that is sent is ignored', async t => {
  const { json } = createService({ protectHeroes: false })
  const first = (await json('POST', '/heroes', { id: 77, name: 'a' })).json()
  const second = (await json('POST', '/heroes', { id: 'text', name: 'b' })).json()
  t.ok(Number.isInteger(first.id))
  t.not(first.id, 77)
  t.equal(second.id, first.id + 1)
})

t.test('wire 3.3: a name is a string, unique among heroes, and a second one is 409', async t => {
  const { json } = createService({ protectHeroes: false })
  t.equal((await json('POST', '/heroes', { name: 'a' })).statusCode, 200)
  t.equal((await json('POST', '/heroes', { name: 'a' })).statusCode, 409)
  t.equal((await json('POST', '/heroes', { name: 5 })).statusCode, 400)
})

t.test('wire 3.1: a hero is an object with the keys id and name', async t => {
  const { json } = createService({ protectHeroes: false })
  t.strictSame((await json('POST', '/heroes', { name: 'a' })).json(), { id: 1, name: 'a' })
})

t.test('wire 3.4: every hero endpoint asks for Authorization: Bearer when they are protected', async t => {
  const { ask, json, opened } = await createInhabited()
  const open = await opened()
  const requests = (headers = {}) => [
    ask('/heroes', { headers }),
    ask('/heroes/1', { headers }),
    json('POST', '/heroes', { name: 'a' }, headers),
    json('PUT', '/heroes/1', { name: 'b' }, headers),
    ask('/heroes/1', { method: 'DELETE', headers })
  ]
  for (const answer of await Promise.all(requests())) t.equal(answer.statusCode, 401)
  for (const answer of await Promise.all(requests(bearer('x'.repeat(32))))) t.equal(answer.statusCode, 401)
  for (const answer of await Promise.all(requests(open))) t.not(answer.statusCode, 401)
})

t.test('wire 3.12: no shared cache may keep the refusal of a database that is away', async t => {
  const stores = rejecting(() => new DomainError('unavailable', 'away', { retryAfterSeconds: 1 }))
  const { ask } = createService({ protectHeroes: false, stores })
  const { statusCode, headers } = await ask('/heroes')
  t.strictSame([statusCode, headers['cache-control']], [503, 'private'])
})

t.test('wire 3.12: every answer of the heroes says that no shared cache may keep it, refusals too', async t => {
  const service = await createInhabited()
  const { ask, json } = service
  const open = await service.opened()
  const answers = [
    [200, await json('POST', '/heroes', { name: 'a' }, open)],
    [200, await ask('/heroes', { headers: open })],
    [200, await ask('/heroes', { method: 'HEAD', headers: open })],
    [200, await ask('/heroes/1', { headers: open })],
    [200, await json('PUT', '/heroes/1', { name: 'b' }, open)],
    [409, await json('POST', '/heroes', { name: 'b' }, open)],
    [401, await ask('/heroes')],
    [401, await ask('/heroes/1', { method: 'DELETE' })],
    [404, await ask('/heroes/99', { headers: open })],
    [405, await ask('/heroes', { method: 'DELETE', headers: open })],
    [400, await ask('/heroes?limit=x', { headers: open })],
    [400, await json('POST', '/heroes', '{', open)],
    [400, await ask('/heroes', { headers: { ...open, host: ' ' } })],
    [415, await json('POST', '/heroes', 'x', { ...open, 'content-type': 'text/plain' })],
    [204, await ask('/heroes/1', { method: 'DELETE', headers: open })]
  ] as const
  for (const [status, { statusCode, headers }] of answers) {
    t.strictSame([statusCode, headers['cache-control']], [status, 'private'])
  }
})

t.test('wire 3.5: GET /heroes answers 200 and an array, empty when there are none', async t => {
  const { ask, json } = createService({ protectHeroes: false })
  const none = await ask('/heroes')
  t.strictSame([none.statusCode, none.headers['content-type'], none.payload], [200, JSON_TYPE, '[]'])
  await json('POST', '/heroes', { name: 'a' })
  await json('POST', '/heroes', { name: 'b' })
  t.strictSame((await ask('/heroes')).json(), [
    { id: 1, name: 'a' },
    { id: 2, name: 'b' }
  ])
})

t.test('wire 3.6: GET /heroes/{id} answers 200 and one hero', async t => {
  const { ask, json } = createService({ protectHeroes: false })
  await json('POST', '/heroes', { name: 'a' })
  const answer = await ask('/heroes/1')
  t.strictSame([answer.statusCode, answer.json()], [200, { id: 1, name: 'a' }])
})

t.test('wire 3.8: POST /heroes answers 200 and the hero with its id, and a sent id is ignored', async t => {
  const { json } = createService({ protectHeroes: false })
  const answer = await json('POST', '/heroes', { id: 9, name: 'a' })
  t.strictSame([answer.statusCode, answer.json()], [200, { id: 1, name: 'a' }])
})

t.test('wire 3.6: an id that no hero has is 404 with no hero body', async t => {
  const { ask } = createService({ protectHeroes: false })
  const answer = await ask('/heroes/1')
  t.equal(answer.statusCode, 404)
  t.strictSame(Object.keys(answer.json()), ['error'])
})

t.test('wire 3.7: an id that is no integer is 400 and no failure', async t => {
  const { ask } = createService({ protectHeroes: false })
  for (const id of ['abc', '1.0', '1e3', '0x1', '1x', 'null', '+1', ' 1', '--1', '%31%20', '1%00', '%zz', '٣']) {
    const answer = await ask(`/heroes/${encodeURI(id).replaceAll('%25', '%')}`)
    t.equal(answer.statusCode, 400, id)
    t.strictSame(answer.json(), { error: 'id must be an integer' })
  }
})

t.test('wire 1.7: POST /heroes refuses a body that is not a single JSON object with 400', async t => {
  const { ask, json } = createService({ protectHeroes: false })
  for (const body of ['[]', '[{"name":"a"}]', 'null', '5', '"a"', 'true', '']) {
    t.equal((await json('POST', '/heroes', body)).statusCode, 400, body)
  }
  t.strictSame((await ask('/heroes')).json(), [])
})

t.test('wire 1.7: POST /heroes refuses a key that is not a field of a hero with 400', async t => {
  const { ask, json } = createService({ protectHeroes: false })
  for (const extra of [{ power: 1 }, { Name: 'b' }, { names: [] }, { '': 1 }]) {
    t.equal((await json('POST', '/heroes', { name: 'a', ...extra })).statusCode, 400, JSON.stringify(extra))
  }
  t.strictSame((await ask('/heroes')).json(), [])
})

t.test('wire 2.8: POST /heroes refuses a name that exists with 409', async t => {
  const { ask, json } = createService({ protectHeroes: false })
  await json('POST', '/heroes', { name: 'a' })
  const answer = await json('POST', '/heroes', { name: 'a' })
  t.strictSame(
    [answer.statusCode, answer.json()],
    [409, { error: 'a hero with this name exists: choose another name' }]
  )
  t.equal((await ask('/heroes')).json().length, 1)
})

t.test('wire 3.9: PUT and DELETE are for one hero, and 405 on the collection', async t => {
  const { ask, json } = createService({ protectHeroes: false })
  await json('POST', '/heroes', { name: 'a' })
  t.equal((await json('PUT', '/heroes/1', { name: 'b' })).statusCode, 200)
  t.equal((await ask('/heroes/1', { method: 'DELETE' })).statusCode, 204)
  for (const method of ['PUT', 'DELETE', 'PATCH']) {
    const answer = await ask('/heroes', { method })
    t.strictSame([answer.statusCode, answer.headers.allow], [405, 'GET, HEAD, POST'], method)
  }
})

t.test('wire 3.10: GET /heroes takes name, limit and after, and ignores other keys', async t => {
  const { ask, json } = createService({ protectHeroes: false })
  for (const name of ['a', 'b', 'ab']) await json('POST', '/heroes', { name })
  t.equal((await ask('/heroes?name=a')).json().length, 2)
  t.equal((await ask('/heroes?limit=1&after=1')).json()[0].name, 'b')
  t.equal((await ask('/heroes?order=name')).statusCode, 200)
})
