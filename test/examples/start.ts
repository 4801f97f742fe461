// node start.js HOST, where HOST is a file beside this one. DATABASE_URL names a PostgreSQL server; without it there is memory.
import { once } from 'node:events'
import { openHeroes } from './open.js'
import { startWorker } from './worker.js'

const [, , host = 'node-http'] = process.argv
const { DATABASE_URL } = process.env

const { answer, close } = host === 'worker' ? await startWorker(DATABASE_URL) : await openHeroes(DATABASE_URL)
const importHost = () => {
  if (host === 'express') return import('./express.js')
  if (host === 'hono') return import('./hono.js')
  return import('./node-http.js')
}
const { createHost } = await importHost()
const server = createHost(answer).listen(0, '127.0.0.1')
await once(server, 'listening')
console.log(`listening on ${Object(server.address()).port}`)
process.once('SIGTERM', () => server.close(close))
