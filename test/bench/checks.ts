import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BASIC, CHAINS_FILE, heroName, PASSWORD, PREFIX, secret, TOKENS_FILE, username } from './data.js'
import type { Running } from './processes.js'

// Before a contestant is timed, it must refuse what the others refuse: one that skips a check would be faster for that.

const NUMBER = 7

export const checkReads = async (running: Running): Promise<void> => {
  const { contestant, ownSecrets, folder } = running
  const { answersHeroes } = contestant
  const token = ownSecrets ? firstLine(join(folder, TOKENS_FILE)) : secret(PREFIX.access, NUMBER)
  const path = contestant.readPath.replace('{hero}', String(NUMBER))
  const get = (path: string, authorization?: string) =>
    ask(running, path, { headers: authorization === undefined ? {} : { authorization } })

  const found = await get(path, `Bearer ${token}`)
  expect(running, 'a valid token', found.status === 200)
  if (answersHeroes) expect(running, found.text, found.text === JSON.stringify({ id: NUMBER, name: heroName(NUMBER) }))
  else expect(running, found.text, typeof JSON.parse(found.text).sub === 'string')
  const refused = [secret('benchunknown', NUMBER)]
  // The stores of the other libraries do not hold these tokens.
  if (!ownSecrets && contestant.name !== 'node-oauth') {
    refused.push(secret(PREFIX.expired, 1), secret(PREFIX.revoked, 1), secret(PREFIX.ended, 1))
  }
  for (const token of refused) expect(running, token, (await get(path, `Bearer ${token}`)).status === 401)
  expect(running, 'no token', [400, 401].includes((await get(path)).status))
  if (answersHeroes) {
    const missing = await get(contestant.readPath.replace('{hero}', '999999999'), `Bearer ${token}`)
    expect(running, 'a hero that is not there', missing.status === 404)
  }
}

export const checkCreates = async (running: Running): Promise<void> => {
  const post = (name: string, token: string) =>
    ask(running, '/heroes', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name })
    })
  const valid = secret(PREFIX.access, NUMBER)
  const made = await post('a new hero', valid)
  expect(running, made.text, made.status === 200 && JSON.parse(made.text).name === 'a new hero')
  const { id } = JSON.parse(made.text)
  const read = await ask(running, `/heroes/${id}`, { headers: { authorization: `Bearer ${valid}` } })
  expect(running, 'a hero that was made', read.text === made.text)
  expect(running, 'a name that is taken', (await post('a new hero', valid)).status === 409)
  for (const prefix of [PREFIX.expired, PREFIX.revoked, PREFIX.ended]) {
    expect(running, prefix, (await post('another', secret(prefix, 1))).status === 401)
  }
}

/** Uses up the chain of refresh tokens with this number. */
export const checkRefreshes = async (running: Running, first: number): Promise<void> => {
  const { ownSecrets, folder } = running
  const token = ownSecrets ? lines(join(folder, CHAINS_FILE))[first - 1] : secret(PREFIX.chain, first)
  const refresh = (token: unknown, basic = BASIC) =>
    askForToken(running, { grant_type: 'refresh_token', refresh_token: String(token) }, basic)
  const wrong = `Basic ${Buffer.from('bench:another-secret').toString('base64')}`
  expect(running, 'a wrong client secret', [400, 401].includes((await refresh(token, wrong)).status))
  const answer = await refresh(token)
  expect(running, answer.text, answer.status === 200)
  const next = JSON.parse(answer.text).refresh_token
  expect(running, 'a new refresh token', typeof next === 'string' && next !== token)
  expect(running, 'the next refresh', (await refresh(next)).status === 200)
  expect(running, 'an unknown refresh token', (await refresh(secret('benchunknown', 1))).status === 400)
}

/** Uses up the code with this number. */
export const checkCodes = async (running: Running, first: number): Promise<void> => {
  const exchange = () =>
    askForToken(running, { grant_type: 'authorization_code', code: secret(PREFIX.code, first) }, BASIC)
  const answer = await exchange()
  expect(running, answer.text, answer.status === 200 && JSON.parse(answer.text).access_token?.length === 32)
  expect(running, 'a code used twice', (await exchange()).status === 400)
}

export const checkLogins = async (running: Running): Promise<void> => {
  const login = (password: string) =>
    askForToken(running, { grant_type: 'password', username: username(1), password }, BASIC)
  expect(running, 'a login', (await login(PASSWORD)).status === 200)
  expect(running, 'a wrong password', (await login(`not ${PASSWORD}`)).status === 400)
}

export interface Answer {
  readonly status: number
  readonly text: string
}

export const ask = async ({ url }: Pick<Running, 'url'>, path: string, init: RequestInit = {}): Promise<Answer> => {
  const response = await fetch(url + path, init)
  return { status: response.status, text: await response.text() }
}

export const askForToken = (
  running: Pick<Running, 'url' | 'contestant'>,
  form: Readonly<Record<string, string>>,
  basic: string
): Promise<Answer> =>
  ask(running, running.contestant.tokenPath, {
    method: 'POST',
    headers: { authorization: basic },
    body: new URLSearchParams(form)
  })

const lines = (file: string): string[] => readFileSync(file, 'utf8').split('\n')
const firstLine = (file: string): string => lines(file)[0] ?? ''

const expect = ({ contestant }: Running, what: string, holds: boolean): void => {
  if (!holds) throw new Error(`${contestant.name} answers wrongly: ${what}`)
}
