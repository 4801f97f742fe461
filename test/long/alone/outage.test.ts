import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { serveDatabase } from '../../support/database-service.js'
import { startServer } from '../../support/postgres.js'
import { type Answer, ask, type Question } from '../../support/process.js'
import { LOGIN, loginPath, REQUEST } from '../../support/service.js'
import { startStopwatch } from '../../support/stopwatch.js'
import { ADA } from '../../support/world.js'

const server = await startServer()
t.teardown(() => server.remove())
const { url, child, form, logIn } = await serveDatabase(t, { DATABASE_URL: server.url })
const { access: token, refresh, headers } = await logIn()

/** Requests that cannot be answered without the database, to every endpoint that has some. */
const questions: readonly [path: string, question: Question][] = [
  ['/health/ready', {}],
  ['/heroes', { headers }],
  ['/heroes/1', { headers }],
  ['/heroes', { headers, body: { name: 'Starling' } }],
  ['/heroes/1', { headers, method: 'PUT', body: { name: 'Corvid' } }],
  ['/heroes/1', { headers, method: 'DELETE' }],
  ['/register', { body: { username: 'grace', password: 'a password' } }],
  ['/auth/token', form(LOGIN)],
  ['/auth/token', form({ grant_type: 'refresh_token', refresh_token: refresh })],
  ['/auth/token', form({ grant_type: 'authorization_code', code: 'a'.repeat(32) })],
  ['/auth/revoke', form({ token })],
  ['/auth/introspect', form({ token })],
  [loginPath(), {}],
  ['/auth/code', { body: new URLSearchParams({ ...REQUEST, ...ADA }) }]
]

/** What happens to the database server. */
const away: Record<string, () => unknown> = {
  'is shut down': () => server.stop(),
  'is killed': () => server.kill(),
  'is frozen': () => server.pause()
}

for (const [what, take] of Object.entries(away)) {
  t.test(
    `while PostgreSQL ${what}, every answer is a 503 within five seconds, and within two seconds afterwards the service serves again`,
    async t => {
      t.equal((await ask(`${url}/heroes`, { headers })).status, 200)
      // Requests that are under way are answered too, whether before or after the loss is noticed.
      const under = Promise.all(questions.slice(0, 3).map(([path, question]) => ask(`${url}${path}`, question)))
      await take()
      const answers: Answer[] = []
      const live = ask(`${url}/health/live`)
      for (const round of [1, 2]) {
        answers.push(...(await Promise.all(questions.map(([path, question]) => ask(`${url}${path}`, question)))))
        t.equal(answers.length, round * questions.length)
      }
      t.ok((await live).status === 200 && (await live).seconds < 1)
      for (const [index, { status, headers, body, seconds }] of answers.entries()) {
        const [path, { method }] = questions[index % questions.length] ?? ['', {}]
        const what = `${method ?? ''} ${path}`
        t.equal(status, 503, what)
        t.match(headers['retry-after'], /^[1-9]\d*$/, what)
        t.ok(seconds < 5, `${what} in ${seconds} s`)
        if (path.startsWith('/auth/code')) t.match(headers['content-type'], 'text/html', what)
        else if (path.startsWith('/auth/')) t.match(JSON.parse(body), { error: 'temporarily_unavailable' }, what)
      }
      for (const { status, seconds } of await under) {
        t.ok([200, 404, 503].includes(status) && seconds < 5)
      }

      if (what === 'is frozen') server.resume()
      else await server.start()
      const counted = startStopwatch()
      while ((await ask(`${url}/health/ready`)).status !== 200) await sleep(20)
      const whole = await Promise.all([
        ask(`${url}/heroes`, { headers }),
        ask(`${url}/register`, { body: { username: `user ${what}`, password: 'a password' } }),
        ask(`${url}/auth/token`, form(LOGIN))
      ])
      t.strictSame(
        whole.map(({ status }) => status),
        [200, 200, 200]
      )
      t.ok(counted() < 2, `the service serves again after ${counted()} s`)
      t.equal(child.exitCode, null)
    }
  )
}
