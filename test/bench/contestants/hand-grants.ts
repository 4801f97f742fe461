import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
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

type Spend = (transaction: postgres.TransactionSql, client: string, now: Date) => PromiseLike<Spent>

const exchange = async (
  sql: postgres.Sql,
  request: IncomingMessage,
  response: ServerResponse,
  spend: Spend
): Promise<void> => {
  const client = clientOf(request)
  if (client === undefined) return refuse(response, 401)
  const access = randomBytes(16).toString('hex')
  const refresh = randomBytes(16).toString('hex')
  const now = new Date()
  const answer = await sql
    .begin(async transaction => {
      const [spent] = await spend(transaction, client.id, now)
      if (spent?.secret == null || !timingSafeEqual(spent.secret, client.digest)) throw new Refused()
      await transaction`
        insert into token
          (access_digest, refresh_digest, grant_id, scopes, issuedate, expirationdate, refresh_expirationdate)
        values (${digestOf(access)}, ${digestOf(refresh)}, ${spent.id}, '{}', ${now},
          ${new Date(now.getTime() + HOUR)}, ${new Date(now.getTime() + MONTH)})`
      return { access_token: access, refresh_token: refresh, expires_in: 3600, token_type: 'bearer' }
    })
    .catch((error: unknown) => {
      if (error instanceof Refused) return undefined
      throw error
    })
  if (answer === undefined) return refuse(response, 400)
  send(response, 200, JSON.stringify(answer))
}

class Refused extends Error {}
