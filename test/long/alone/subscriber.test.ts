import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { flood } from '../../support/flood.js'
import { load, quantile, statuses } from '../../support/load.js'
import { ask, serveProcess } from '../../support/process.js'
import { requestText } from '../../support/wire.js'
import { ADA } from '../../support/world.js'

/** Of each flood. FLOOD_SECONDS=600 has it for as long as an attacker might. */
const SECONDS = Number(process.env.FLOOD_SECONDS ?? 10)

const LOGIN_PAGE = `/auth/code?${new URLSearchParams({
  response_type: 'code',
  client_id: 'local',
  redirect_uri: 'http://127.0.0.1/callback',
  state: 'any'
})}`

t.setTimeout((2 * SECONDS + 60) * 1000)

// Without limits on logins, nothing but the turns of the queue keeps the flood down.
for (const LOGIN_ATTEMPTS of ['10', '0']) {
  t.test(
    `a flood from 256 networks of one subscriber fails no login from elsewhere, LOGIN_ATTEMPTS=${LOGIN_ATTEMPTS}`,
    async t => {
      const { url } = await serveProcess(t, {
        DATABASE_URL: 'memory:',
        TRUST_PROXY: 'loopback',
        HASH_CONCURRENCY: '1',
        LOGIN_ATTEMPTS
      })
      t.equal((await ask(`${url}/register`, { body: ADA })).status, 200)

      let guesses = 0
      const guess = (): string => {
        guesses += 1
        return requestText(
          'POST',
          LOGIN_PAGE,
          {
            'content-type': 'application/x-www-form-urlencoded',
            'x-forwarded-for': `2001:db8:1:${(guesses % 256).toString(16)}::1`
          },
          new URLSearchParams({ username: `nobody ${guesses}`, password: 'a guess' }).toString()
        )
      }
      // Nobody comes twice from one address, as then the login would be a known one.
      let visits = 0
      const logins = load(
        4,
        (_, connection) => {
          visits += 1
          const from =
            connection % 2 === 0
              ? `198.51.${(visits >> 8) % 256}.${visits % 256}`
              : `2001:db8:2:${(visits % 65_536).toString(16)}::1`
          return [`${url}${LOGIN_PAGE}`, { headers: { 'x-forwarded-for': from }, body: new URLSearchParams(ADA) }]
        },
        100
      )
      const flooding = flood(url, { connections: 80, pipelined: 1, next: guess })
      await sleep(SECONDS * 1000)
      flooding.stop()
      await logins.stop()
      const answers = logins.take()
      const served = answers.filter(({ status }) => status === 302).length
      const what = `${JSON.stringify(statuses(answers))}, p50 ${quantile(answers, 0.5).toFixed()} ms, at most ${quantile(answers, 1).toFixed()} ms`
      t.comment(`logins: ${what}; the flood: ${JSON.stringify(statuses(flooding.take()))}`)
      t.ok(answers.length > SECONDS && served >= 0.95 * answers.length, what)
    }
  )
}
