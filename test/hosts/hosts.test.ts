import { once } from 'node:events'
import { mkdirSync, rmdirSync } from 'node:fs'
import type { Server } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { clientWith } from '../contract/records.js'
import { guessPasswords, useHost } from '../support/host-session.js'
import { createDatabase } from '../support/postgres.js'
import { storeContract } from '../testing.js'
import { createHost as createExpress } from './express.js'
import { createHost as createHono } from './hono.js'
import { openJsonStores } from './json-store.js'
import { createHost as createNodeHttp } from './node-http.js'
import { type Heroes, openHeroes } from './open.js'
import { startWorker } from './worker.js'

type CreateHost = (answer: Heroes['answer']) => Server

const HOSTS: Readonly<Record<string, CreateHost>> = {
  'node:http': createNodeHttp,
  'Express 5': createExpress,
  Hono: createHono
}

/** The address of the host. It stops when the test ends. */
const listen = async (t: Test, createHost: CreateHost, { answer }: Pick<Heroes, 'answer'>): Promise<string> => {
  const server = createHost(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `http://127.0.0.1:${Object(server.address()).port}`
}

t.test('the core serves in each host', async t => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  for (const [store, databaseUrl] of [
    ['memory', undefined],
    ['PostgreSQL', url]
  ] as const) {
    const heroes = await openHeroes(databaseUrl)
    t.teardown(heroes.close)
    for (const [name, createHost] of Object.entries(HOSTS)) {
      await t.test(`${name}, on ${store}`, async t => useHost(t, await listen(t, createHost, heroes), name))
    }
    await t.test(`a worker thread, on ${store}`, async t => {
      const worker = await startWorker(databaseUrl)
      t.teardown(worker.close)
      await useHost(t, await listen(t, createNodeHttp, worker), 'worker')
    })
  }
})

t.test('the limit on guessing holds in each host', async t => {
  for (const [name, createHost] of Object.entries(HOSTS)) {
    const heroes = await openHeroes()
    await t.test(name, async t => guessPasswords(t, await listen(t, createHost, heroes), name))
  }
})

t.test('a store that is written after the documentation keeps every promise: tables in a JSON file', async t => {
  const folder = t.testdir()
  let file = 0
  storeContract(
    (title, body) => t.test(title, body),
    () => openJsonStores(join(folder, `${++file}.json`))
  )
})

t.test('the JSON file has what was stored, and a write that fails changes nothing', async t => {
  const path = join(t.testdir(), 'heroes.json')
  const { heroes, clients } = await openJsonStores(path)
  const hero = await heroes.insert({ name: 'Starling' })
  const client = clientWith({ previousSecret: { digest: 'x', until: new Date(5) }, name: undefined })
  await clients.insert(client)
  const again = await openJsonStores(path)
  t.strictSame(await again.heroes.find(1), hero)
  t.strictSame(await again.clients.find(client.id), client)
  t.equal(await again.heroes.insert({ name: 'Starling' }), undefined)
  mkdirSync(`${path}.new`)
  await t.rejects(again.heroes.insert({ name: 'Robin' }), { code: 'unavailable' })
  t.strictSame(await again.heroes.list({}), [hero])
  rmdirSync(`${path}.new`)
  t.match(await again.heroes.insert({ name: 'Robin' }), { id: 2 })
})
