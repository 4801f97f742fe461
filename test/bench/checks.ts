import type { Running } from './contestants.js'
import { basic, bearer, CLIENT, expiredToken, heroName, revokedToken, type Sizes, secret } from './data.js'

/**
 * Checks that a contestant answers and refuses as the others do, before it is timed: one that skips a check would be faster for
 * that. Where there are chains it uses up the first one and makes a hero.
 */
export const check = async (running: Running, sizes: Sizes): Promise<void> => {
  const valid = secret('access', 1)
  const refused = [expiredToken(sizes), revokedToken(sizes), 0].map(number => secret('access', number))
  const read = await get(running, '/heroes/7', valid)
  expect(running, 'a read', read.status === 200 && read.text === JSON.stringify({ id: 7, name: heroName(7) }))
  expect(running, 'a hero that is not there', (await get(running, '/heroes/999999999', valid)).status === 404)
  const page = await get(running, '/heroes?limit=2&after=1', valid)
  const expected = [2, 3].map(id => ({ id, name: heroName(id) }))
  expect(running, 'a page', page.status === 200 && page.text === JSON.stringify(expected))
  const found = await get(running, '/heroes?limit=1&name=ERO+5', valid)
  expect(running, 'a search', found.text === JSON.stringify([{ id: 5, name: heroName(5) }]))

  for (const token of refused) {
    expect(running, `a read with ${token}`, (await get(running, '/heroes/7', token)).status === 401)
    expect(running, `a list with ${token}`, (await get(running, '/heroes', token)).status === 401)
  }
  expect(running, 'a read without a token', (await ask(running, '/heroes/7')).status === 401)
  if (sizes.chains === 0) return
  await checkCreates(running, refused)
  await checkRefreshes(running, sizes)
}

const checkCreates = async (running: Running, refused: readonly string[]): Promise<void> => {
  const valid = secret('access', 1)
  const post = (name: string, token: string) =>
    ask(running, '/heroes', {
      method: 'POST',
      headers: { authorization: bearer(token), 'content-type': 'application/json' },
      body: JSON.stringify({ name })
    })
  const made = await post('a new hero', valid)
  expect(running, 'a new hero', made.status === 200 && JSON.parse(made.text).name === 'a new hero')
  const read = await get(running, `/heroes/${JSON.parse(made.text).id}`, valid)
  expect(running, 'a hero that was made', read.text === made.text)
  expect(running, 'a name that is taken', (await post('a new hero', valid)).status === 409)
  expect(running, 'a name that is empty', (await post('', valid)).status === 400)
  for (const token of refused) {
    expect(running, `a new hero with ${token}`, (await post('another hero', token)).status === 401)
  }
}

const checkRefreshes = async (running: Running, sizes: Sizes): Promise<void> => {
  const refresh = (token: string, clientSecret = CLIENT.secret) =>
    ask(running, '/auth/token', {
      method: 'POST',
      headers: { authorization: basic(clientSecret) },
      body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: token })
    })
  const first = secret('refresh', sizes.tokens + 1)
  expect(running, "a wrong client's secret", [400, 401].includes((await refresh(first, 'another-secret')).status))
  const answer = await refresh(first)
  expect(running, 'a refresh', answer.status === 200)
  const { access_token: access, refresh_token: next } = JSON.parse(answer.text)
  const read = await get(running, '/heroes/7', access)
  expect(running, 'a read with the new token', read.status === 200)
  expect(running, 'the next refresh', next !== first && (await refresh(next)).status === 200)
  for (const number of [revokedToken(sizes), 0]) {
    expect(running, `a refresh with ${number}`, (await refresh(secret('refresh', number))).status === 400)
  }
}

const get = (running: Running, path: string, token: string) =>
  ask(running, path, { headers: { authorization: bearer(token) } })

const ask = async ({ port }: Running, path: string, init: RequestInit = {}) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
  return { status: response.status, text: await response.text() }
}

const expect = ({ name }: Running, what: string, holds: boolean): void => {
  if (!holds) throw new Error(`${name} answers wrongly: ${what}`)
}
