import { once } from 'node:events'
import type { Server } from 'node:net'
import t, { type Test } from 'tap'
import { createHost as createExpress } from '../examples/express.js'
import { createHost as createHono } from '../examples/hono.js'
import { createHost as createNodeHttp } from '../examples/node-http.js'
import { type Heroes, openHeroes } from '../examples/open.js'
import { startWorker } from '../examples/worker.js'
import { migratedDatabase } from '../support/databases.js'
import { guessPasswords, useHost } from '../support/host-session.js'

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
  const url = await migratedDatabase(t)
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
