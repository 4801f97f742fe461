import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { verify } from '@node-rs/argon2'
import type postgres from 'postgres'
import { clientOf, digestOf, refuse, send } from './hand.js'

// The token endpoint as a transaction of four statements: BEGIN, a conditional UPDATE that makes every check, an INSERT and
// COMMIT. A transaction needs all four, and the grant needs all checks.

const HOUR = 3_600_000
const MONTH = 30 * 24 * HOUR

type Spent = { id: string; secret: Buffer | null }[]

type Grant = (
  sql: postgres.Sql,
  request: IncomingMessage,
  response: ServerResponse,
  form: URLSearchParams
) => Promise<void>

export const refreshToken: Grant = (sql, request, response, form) =>
  exchange(sql, request, response, (transaction, client, now) => {
    const digest = digestOf(form.get('refresh_token') ?? '')
    return transaction<Spent>`
      update token set spent_at = ${now} from "grant" g join client c on c.id = g.client_id
      where token.refresh_digest = ${digest} and token.spent_at is null and token.refresh_expirationdate > ${now}
        and g.id = token.grant_id and g.client_id = ${client} and g.revoked_at is null and g.expires_at > ${now}
      returning g.id, c.secret_digest as secret`
  })

export const exchangeCode: Grant = (sql, request, response, form) =>
  exchange(sql, request, response, (transaction, client, now) => {
    const digest = digestOf(form.get('code') ?? '')
    return transaction<Spent>`
      update code set spent = true from "grant" g join client c on c.id = g.client_id
      where code.digest = ${digest} and not code.spent and code.expirationdate > ${now}
        and g.id = code.grant_id and g.client_id = ${client} and g.revoked_at is null
      returning g.id, c.secret_digest as secret`
  })

/** The hash is compared before the transaction begins, which then has two statements. */
export const password: Grant = async (sql, request, response, form) => {
  const client = clientOf(request)
  if (client === undefined) return refuse(response, 401)
  const [known] = await sql<{ id: number; hash: string; secret: Buffer | null }[]>`
    select u.id, u.hashedpassword as hash, c.secret_digest as secret from "user" u, client c
    where u.username = ${form.get('username') ?? ''} and c.id = ${client.id}`
  if (known?.secret == null || !timingSafeEqual(known.secret, client.digest)) return refuse(response, 400)
  if (!(await verify(known.hash, form.get('password') ?? ''))) return refuse(response, 400)
  const grant = randomUUID()
  const pair = newPair()
  const now = new Date()
  await sql.begin(async transaction => {
    await transaction`
      insert into "grant" (id, user_id, client_id, scopes, expires_at, sweep_at)
      values (${grant}, ${known.id}, ${client.id}, '{}', ${after(now, 12 * MONTH)}, ${after(now, MONTH)})`
    await insertToken(transaction, grant, pair, now)
  })
  sendPair(response, pair)
}

type Spend = (transaction: postgres.TransactionSql, client: string, now: Date) => PromiseLike<Spent>

const exchange = async (
  sql: postgres.Sql,
  request: IncomingMessage,
  response: ServerResponse,
  spend: Spend
): Promise<void> => {
  const client = clientOf(request)
  if (client === undefined) return refuse(response, 401)
  const pair = newPair()
  const now = new Date()
  const issued = await sql
    .begin(async transaction => {
      const [spent] = await spend(transaction, client.id, now)
      if (spent?.secret == null || !timingSafeEqual(spent.secret, client.digest)) throw new Refused()
      await insertToken(transaction, spent.id, pair, now)
      return true
    })
    .catch((error: unknown) => {
      if (error instanceof Refused) return false
      throw error
    })
  if (!issued) return refuse(response, 400)
  sendPair(response, pair)
}

interface Pair {
  readonly access: string
  readonly refresh: string
}

const newPair = (): Pair => ({ access: randomBytes(16).toString('hex'), refresh: randomBytes(16).toString('hex') })

const after = (now: Date, milliseconds: number): Date => new Date(now.getTime() + milliseconds)

const insertToken = (transaction: postgres.TransactionSql, grant: string, { access, refresh }: Pair, now: Date) =>
  transaction`
    insert into token
      (access_digest, refresh_digest, grant_id, scopes, issuedate, expirationdate, refresh_expirationdate)
    values (${digestOf(access)}, ${digestOf(refresh)}, ${grant}, '{}', ${now}, ${after(now, HOUR)}, ${after(now, MONTH)})`

const sendPair = (response: ServerResponse, { access, refresh }: Pair): void =>
  send(
    response,
    200,
    JSON.stringify({ access_token: access, refresh_token: refresh, expires_in: 3600, token_type: 'bearer' })
  )

class Refused extends Error {}
