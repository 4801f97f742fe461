import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { serveDatabase } from '../../support/database-service.js'
import { ask } from '../../support/process.js'

const HEROES = 100_000

t.test('24 lists of 100,000 long names that nobody reads end no process with a heap of 512 MB', async t => {
  const env = { PROTECT_HEROES: 'false', NODE_OPTIONS: '--max-old-space-size=512' }
  const { url, sql, stop } = await serveDatabase(t, env)
  await sql`insert into hero (name, name_lower)
    select i || repeat('🦸', 245), i || repeat('🦸', 245) from generate_series(1, ${HEROES}) i`

  const { port, hostname } = new URL(url)
  const clients = Array.from({ length: 24 }, () => {
    const socket = connect(Number(port), hostname).on('error', () => {})
    socket.write('GET /heroes HTTP/1.1\r\nhost: a\r\n\r\n')
    return socket.pause()
  })
  for (let second = 0; second < 15; second++) {
    const { status, seconds } = await ask(`${url}/heroes?limit=10`)
    t.equal(status, 200)
    t.ok(seconds < 5, `a short list takes ${seconds} s`)
    await sleep(1000)
  }
  let whole = await ask(`${url}/heroes`)
  while (whole.status === 503) whole = await ask(`${url}/heroes`)
  t.equal(JSON.parse(whole.body).length, HEROES, 'the places of those that were cut off are free')
  for (const client of clients) client.destroy()
  t.equal(await stop(), 0)
})
