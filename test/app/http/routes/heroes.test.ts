import t from 'tap'
import { createInhabited, createService, type Headers, PUBLIC_URL, type Service } from '../../../support/service.js'

/** A service that asks for no token, with heroes of these names. Their ids begin with 1. */
const withHeroes = async (...names: string[]): Promise<Service> => {
  const service = createService({ protectHeroes: false })
  for (const name of names) await service.json('POST', '/heroes', { name })
  return service
}

const namesAt = async ({ ask }: Service, url: string): Promise<string[]> =>
  (await ask(url)).json().map(({ name }: { name: string }) => name)

t.test('the list has every hero, in the order of the ids', async t => {
  const service = await withHeroes('c', 'a', 'b')
  await service.ask('/heroes/2', { method: 'DELETE' })
  await service.json('PUT', '/heroes/1', { name: 'z' })
  await service.json('POST', '/heroes', { name: 'a' })
  t.strictSame((await service.ask('/heroes')).json(), [
    { id: 1, name: 'z' },
    { id: 3, name: 'b' },
    { id: 4, name: 'a' }
  ])
})

t.test('a list of some thousand heroes is complete', async t => {
  const service = createService({ protectHeroes: false })
  for (let i = 1; i <= 2500; i += 1) await service.useCases.createHero({ name: `Hero ${i}` })
  const answer = await service.ask('/heroes')
  t.equal(answer.json().length, 2500)
  t.strictSame(answer.json().at(-1), { id: 2500, name: 'Hero 2500' })
  t.equal(
    (await service.ask('/heroes?name=5')).json().length,
    (await namesAt(service, '/heroes')).filter(name => name.includes('5')).length
  )
  t.equal((await service.ask('/heroes?after=2400')).json().length, 100)
})

t.test('the name filter finds parts of names, ignores case and has no special characters', async t => {
  const service = await withHeroes('Starling', 'STAR%', 'a_b', 'axb', 'back\\slash', 'Éclair', 'straße', 'İstanbul')
  const found: [filter: string, names: string[]][] = [
    ['star', ['Starling', 'STAR%']],
    ['LING', ['Starling']],
    ['%', ['STAR%']],
    ['_', ['a_b']],
    ['\\', ['back\\slash']],
    ['a%b', []],
    ['éCLAIR', ['Éclair']],
    ['STRASSE', []],
    ['STRAßE', ['straße']],
    ['i̇s', ['İstanbul']],
    ['İS', ['İstanbul']],
    ['.*', []]
  ]
  for (const [filter, names] of found) {
    t.strictSame(await namesAt(service, `/heroes?name=${encodeURIComponent(filter)}`), names, filter)
  }
  t.equal((await namesAt(service, '/heroes?name=')).length, 8)
})

t.test('a page has `limit` heroes from behind the id `after`, and a link to the next page if there is one', async t => {
  const service = await withHeroes('a', 'b', 'c', 'd', 'e')
  const first = await service.ask('/heroes?limit=2')
  t.strictSame(
    first.json().map(({ id }: { id: number }) => id),
    [1, 2]
  )
  t.equal(first.headers.link, `<${PUBLIC_URL}/heroes?limit=2&after=2>; rel="next"`)
  t.notOk((await service.ask('/heroes?limit=2&after=3')).headers.link)
  t.notOk((await service.ask('/heroes?limit=5')).headers.link)
  t.notOk((await service.ask('/heroes?after=2')).headers.link)
  t.strictSame(await namesAt(service, '/heroes?after=3'), ['d', 'e'])
  t.strictSame(await namesAt(service, '/heroes?after=-9&limit=1'), ['a'])
  t.strictSame(await namesAt(service, `/heroes?limit=9&after=${'9'.repeat(30)}`), [])
})

t.test('following the links shows every hero of the filter once, in order', async t => {
  const service = await withHeroes(...Array.from({ length: 25 }, (_, i) => `Ä&b=${i % 2} ${i}`))
  const wanted = await namesAt(service, `/heroes?name=${encodeURIComponent('ä&B=1')}`)
  const seen: string[] = []
  let url: string | undefined = `/heroes?limit=5&name=${encodeURIComponent('ä&B=1')}`
  while (url !== undefined && seen.length <= wanted.length) {
    seen.push(...(await namesAt(service, url)))
    const link: unknown = (await service.ask(url)).headers.link
    url = /^<http:\/\/heroes\.example:8080(.*)>; rel="next"$/.exec(String(link))?.[1]
  }
  t.equal(seen.length, 12)
  t.strictSame(seen, wanted)
})

t.test('a bad or repeated limit, after or name is 400, and unknown keys are ignored', async t => {
  const { ask } = await withHeroes('a')
  const bad = [
    'limit=0',
    'limit=1001',
    'limit=-1',
    'limit=x',
    'limit=',
    'limit=1.0',
    'limit=1e3',
    `limit=${'9'.repeat(30)}`
  ]
  bad.push('limit=1&limit=1', 'limit=1&%6cimit=2', 'after=x', 'after=', 'after=1.5', 'after=1&after=2', 'name=a&name=a')
  bad.push('name=%00', 'name=%ff', 'name=%', 'name=a&name=')
  for (const query of bad) {
    const answer = await ask(`/heroes?${query}`)
    t.strictSame([answer.statusCode, Object.keys(answer.json())], [400, ['error']], query)
  }
  for (const query of [
    'limit=1',
    'limit=1000',
    'after=-1',
    'x=1&x=2',
    'NAME=b',
    'order=name',
    '__proto__=1',
    'x=%zz&%zz=limit',
    'x=%ff&y=%00',
    `${'a&'.repeat(5000)}limit=1`,
    '&&',
    ''
  ]) {
    const answer = await ask(`/heroes?${query}`)
    t.strictSame([answer.statusCode, answer.json().length], [200, 1], query)
  }
})

t.test('an id may be any integer, and one that no hero has is 404', async t => {
  const { ask, json } = await withHeroes('a')
  for (const id of [
    '0',
    '-0',
    '-1',
    '-5',
    '2',
    '2147483648',
    '9007199254740993',
    '9'.repeat(30),
    `-${'9'.repeat(30)}`,
    '9'.repeat(5000)
  ]) {
    t.equal((await ask(`/heroes/${id}`)).statusCode, 404, id)
    t.equal((await json('PUT', `/heroes/${id}`, { name: 'b' })).statusCode, 404, id)
    t.equal((await ask(`/heroes/${id}`, { method: 'DELETE' })).statusCode, 404, id)
  }
  for (const id of ['1', '01', '00000000000000000000000000000001', '%31'])
    t.equal((await ask(`/heroes/${id}`)).statusCode, 200, id)
})

t.test('an id that is no integer is 400 for every method', async t => {
  const { ask, json } = await withHeroes('a')
  for (const id of ['abc', '1.0', '1.', '-', '--1', '1-', '1e1', '1%20', '%2B1', 'NaN', 'Infinity']) {
    t.equal((await ask(`/heroes/${id}`)).statusCode, 400, id)
    t.equal((await json('PUT', `/heroes/${id}`, { name: 'b' })).statusCode, 400, id)
    t.equal((await ask(`/heroes/${id}`, { method: 'DELETE' })).statusCode, 400, id)
  }
})

t.test('a name is 1 to 255 characters, counted as code points', async t => {
  const { json } = await withHeroes()
  const fits = ['a', 'x'.repeat(255), '🦸'.repeat(255), ' ', 'é', '\n', '\u200b']
  for (const name of fits) t.strictSame((await json('POST', '/heroes', { name })).json().name, name)
  for (const name of ['', 'x'.repeat(256), '🦸'.repeat(256), 'x'.repeat(9_000_000)]) {
    const answer = await json('POST', '/heroes', { name })
    t.strictSame([answer.statusCode, answer.json()], [400, { error: 'name must have 1 to 255 characters' }])
  }
})

t.test('names that differ by case, by a space or by Unicode form are different names', async t => {
  const { json } = await withHeroes('Ada')
  for (const name of ['ada', 'Ada ', '\u00e9', 'e\u0301'])
    t.equal((await json('POST', '/heroes', { name })).statusCode, 200)
  t.equal((await json('POST', '/heroes', { name: 'e\u0301' })).statusCode, 409)
})

t.test('PUT renames a hero and refuses what POST refuses', async t => {
  const { json, ask } = await withHeroes('a', 'b')
  const renamed = await json('PUT', '/heroes/1', { id: [{}], name: 'c' })
  t.strictSame([renamed.statusCode, renamed.json()], [200, { id: 1, name: 'c' }])
  t.strictSame((await json('PUT', '/heroes/1', { name: 'c' })).json(), { id: 1, name: 'c' }, 'its own name again')
  t.equal((await json('PUT', '/heroes/1', { name: 'b' })).statusCode, 409)
  t.equal((await json('PUT', '/heroes/9', { name: 'b' })).statusCode, 404)
  t.equal((await json('POST', '/heroes', { name: 'a' })).statusCode, 200, 'the old name is free')
  for (const body of [[], {}, { name: '' }, { name: 'd', x: 1 }, { name: null }]) {
    t.equal((await json('PUT', '/heroes/1', body)).statusCode, 400, JSON.stringify(body))
  }
  t.equal((await ask('/heroes/1')).json().name, 'c')
})

t.test('DELETE is 204 without a body, then 404, and the id is not given out again', async t => {
  const { json, ask } = await withHeroes('a')
  const answer = await ask('/heroes/1', { method: 'DELETE' })
  t.strictSame([answer.statusCode, answer.payload, answer.headers['content-length']], [204, '', undefined])
  t.equal((await ask('/heroes/1', { method: 'DELETE' })).statusCode, 404)
  t.equal((await ask('/heroes/1')).statusCode, 404)
  t.equal((await json('POST', '/heroes', { name: 'a' })).json().id, 2)
})

t.test('HEAD has the headers of GET and no body', async t => {
  const { ask } = await withHeroes('a', 'b')
  for (const url of ['/heroes', '/heroes?limit=1', '/heroes/1', '/heroes/9', '/heroes/x']) {
    const [get, head] = [await ask(url), await ask(url, { method: 'HEAD' })]
    const { date: _, ...headers } = get.headers
    t.match(head.headers, headers, url)
    t.strictSame([head.statusCode, head.payload], [get.statusCode, ''])
  }
})

t.test(
  'a request with several faults is refused for the first: 404, 405, 401, 403, 415, 413, 400, then 404 and 409 of the hero',
  async t => {
    const { ask, opened, json } = await createInhabited({ writeScope: 'a', bodyLimit: 100 })
    const [weak, strong] = [await opened('b'), await opened('a')]
    await json('POST', '/heroes', { name: 'taken' }, strong)
    await json('POST', '/heroes', { name: 'other' }, strong)
    const put = async (url: string, headers: Headers, payload: string, method = 'PUT') =>
      (await ask(url, { method, headers, payload })).statusCode
    const long = 'x'.repeat(101)
    const [text, type] = [{ 'content-type': 'text/plain' }, { 'content-type': 'application/json' }]
    t.equal(await put('/nothing/1', text, long), 404)
    t.equal(await put('/heroes/x', text, long, 'PATCH'), 405)
    t.equal(await put('/heroes/x', text, long), 401)
    t.equal(await put('/heroes/x', { ...weak, ...text }, long), 403)
    t.equal(await put('/heroes/x', { ...strong, ...text }, long), 415)
    t.equal(await put('/heroes/x', { ...strong, ...type, 'content-encoding': 'gzip' }, long), 415)
    t.equal(await put('/heroes/9', { ...strong, 'content-encoding': 'gzip' }, '', 'DELETE'), 404)
    t.equal(await put('/heroes/x', { ...strong, ...type }, long), 413)
    t.equal(await put('/heroes/9', { ...strong, ...type }, '{"nam":"taken"}'), 400)
    t.equal(await put('/heroes/x', { ...strong, ...type }, '{"name":"taken"}'), 400)
    t.equal(await put('/heroes/9', { ...strong, ...type }, '{"name":"taken"}'), 404)
    t.equal(await put('/heroes/2', { ...strong, ...type }, '{"name":"taken"}'), 409)
  }
)
