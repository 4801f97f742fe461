// What a sample host of test/examples/ must answer, wherever it runs.

import type { Test } from 'tap'
import { ask } from './process.js'
import { bearer } from './service.js'

/** Goes through every endpoint of the host at `url`, as a user whom the host does not have yet. */
export const useHost = async (t: Test, url: string, username: string): Promise<void> => {
  const user = { username, password: 'correct horse' }
  t.match(await ask(`${url}/register`, { body: user }), { status: 200, body: /^\{"id":\d+\}$/ })
  t.match(await ask(`${url}/register`, { body: user }), { status: 409 })
  const { accessToken } = JSON.parse((await ask(`${url}/token`, { body: user })).body)
  const headers = { ...bearer(accessToken) }
  const name = `the hero of ${username}`
  const created = await ask(`${url}/heroes`, { headers, body: { name } })
  t.match(created, { status: 200, headers: { 'content-type': /^application\/json/ } })
  const listed = await ask(`${url}/heroes`, { headers })
  t.match(listed, { status: 200 })
  t.match(JSON.parse(listed.body).at(-1), { ...JSON.parse(created.body), name })
  for (const refused of [{}, bearer('x'), bearer(`${accessToken}x`)]) {
    t.match(await ask(`${url}/heroes`, { headers: { ...refused } }), { status: 401 })
  }
  for (const path of ['/', '/nothing', '/heroes/1', '/toString']) {
    t.match(await ask(`${url}${path}`, { headers }), { status: 404, body: /nothing at this path/ }, path)
  }
  for (const body of ['', '{', 'null', '[]', '{"name":5}', '{"name":""}', `{"name":"${'x'.repeat(10_000)}"}`]) {
    t.match(await ask(`${url}/heroes`, { headers, body }), { status: 400, body: /^\{"error":"/ }, body.slice(0, 20))
  }
  t.match(await ask(`${url}/register`, { body: '{"username":"bob","password":{}}' }), { status: 400 })
}

/** Ten wrong passwords are the limit, whatever address and grant type the body names. */
export const guessPasswords = async (t: Test, url: string, username: string): Promise<void> => {
  await ask(`${url}/register`, { body: { username, password: 'correct horse' } })
  const attempts: number[] = []
  for (let attempt = 1; attempt <= 12; attempt++) {
    const body = { username, password: 'wrong', address: `x${attempt}`, grantType: 'refresh_token', scope: 'x' }
    attempts.push((await ask(`${url}/token`, { body })).status)
  }
  t.strictSame(attempts, [...Array(10).fill(400), 429, 429])
  const right = { username, password: 'correct horse', address: 'x1' }
  t.match(await ask(`${url}/token`, { body: right }), { status: 429 }, 'the right password is refused too')
}
