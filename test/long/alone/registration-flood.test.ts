import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { serveDatabase } from '../../support/database-service.js'
import { flood } from '../../support/flood.js'
import { load, quantile, statuses } from '../../support/load.js'
import { ask, type Question } from '../../support/process.js'
import { requestText } from '../../support/wire.js'

const SECONDS = 6
const LOGINS = 8

t.test('a flood of registrations from one address fails no login from another, and none takes 5 s', async t => {
  // The limits count, and are so high that the flood does not end by them.
  const { url, form } = await serveDatabase(t, {
    TRUST_PROXY: 'loopback',
    HASH_CONCURRENCY: '1',
    LOGIN_ATTEMPTS: '10',
    REGISTER_ATTEMPTS: '1000000'
  })
  const people = Array.from({ length: LOGINS }, (_, i) => ({ username: `person ${i}`, password: 'correct horse' }))
  for (const person of people) t.equal((await ask(`${url}/register`, { body: person })).status, 200)

  const logIn = (connection: number): Question => {
    const question = form({ grant_type: 'password', ...people[connection] })
    return { ...question, headers: { ...question.headers, 'x-forwarded-for': `192.0.2.${connection}` } }
  }
  const logins = load(LOGINS, (_, connection) => [`${url}/auth/token`, logIn(connection)], 50)
  let count = 0
  const register = (): string =>
    requestText(
      'POST',
      '/register',
      { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.1' },
      JSON.stringify({ username: `user ${count++}`, password: 'a password' })
    )

  await sleep(1000)
  logins.take()
  await sleep(3000)
  const control = logins.take()
  t.comment(`logins without: ${JSON.stringify(statuses(control))}, p50 ${quantile(control, 0.5).toFixed()} ms`)
  t.strictSame(Object.keys(statuses(control)), ['200'])
  for (const [name, connections, pipelined] of [
    ['one connection with 100 pipelined', 1, 100],
    ['120 connections', 120, 1]
  ] as const) {
    const flooding = flood(url, { connections, pipelined, next: register })
    await sleep(SECONDS * 1000)
    const answers = logins.take()
    const flooded = flooding.take()
    flooding.stop()
    const slowest = quantile(answers, 1)
    const what = `${name}: ${JSON.stringify(statuses(answers))}, at most ${slowest.toFixed()} ms`
    t.comment(`${what}, p50 ${quantile(answers, 0.5).toFixed()} ms; the flood: ${JSON.stringify(statuses(flooded))}`)
    t.strictSame(Object.keys(statuses(answers)), ['200'], what)
    t.ok(answers.length >= LOGINS && slowest <= 5000, what)
    // One place in eight is theirs.
    const registered = flooded.filter(({ status }) => status === 200).length
    t.ok(registered >= answers.length / 16, `registrations are served as well: ${registered}`)
    await sleep(1000)
    logins.take()
  }
  await logins.stop()
})
