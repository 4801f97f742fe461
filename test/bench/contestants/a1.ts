import type { IncomingMessage, ServerResponse } from 'node:http'
import postgres from 'postgres'
import { bearerOf, bodyOf, digestOf, heroIdOf, refuse, send, serve } from './hand.js'
import { exchangeCode, password, refreshToken } from './hand-grants.js'
import { findHero, insertHero, isHeroName } from './hand-heroes.js'
import { readSettings } from './settings.js'

/** node:http and postgres.js with its pool of ten. Each request is one prepared statement, which looks up the token and the hero. */
const sql = postgres(readSettings().databaseUrl, { max: 10 })

const find = async (request: IncomingMessage, response: ServerResponse, id: number): Promise<void> => {
  const token = bearerOf(request)
  if (token === undefined) return refuse(response, 401)
  const row = await findHero(sql, token, id)
  if (!row?.live) return refuse(response, 401)
  if (row.name === null) return refuse(response, 404)
  send(response, 200, JSON.stringify({ id: Number(row.id), name: row.name }))
}

const create = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const token = bearerOf(request)
  if (token === undefined) return refuse(response, 401)
  const { name } = JSON.parse(await bodyOf(request))
  if (!isHeroName(name)) return refuse(response, 400)
  const row = await insertHero(sql, token, name)
  if (!row?.live) return refuse(response, 401)
  if (row.id === null) return refuse(response, 409)
  send(response, 200, JSON.stringify({ id: Number(row.id), name }))
}

/** Every hero, or a page. The rows are turned into JSON here, as in most services. */
const list = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const token = bearerOf(request)
  if (token === undefined) return refuse(response, 401)
  const [bearer] = await sql`
    select true from token t join "grant" g on g.id = t.grant_id
    where t.access_digest = ${digestOf(token)} and t.expirationdate > ${new Date()}
      and t.spent_at is null and t.revoked_at is null and g.revoked_at is null`
  if (bearer === undefined) return refuse(response, 401)
  const query = new URL(request.url ?? '', 'http://localhost').searchParams
  const limit = query.get('limit')
  const rows = await sql<{ id: string; name: string }[]>`
    select id, name from hero where id > ${Number(query.get('after') ?? 0)} order by id
    limit ${limit === null ? null : Number(limit)}`
  send(response, 200, JSON.stringify(rows.map(({ id, name }) => ({ id: Number(id), name }))))
}

serve(async (request, response) => {
  const id = heroIdOf(request)
  if (id !== undefined) return find(request, response, id)
  if (request.method === 'GET' && request.url?.startsWith('/heroes')) return list(request, response)
  if (request.method === 'POST' && request.url === '/heroes') return create(request, response)
  if (request.method === 'POST' && request.url === '/auth/token') return grant(request, response)
  refuse(response, 404)
})

const grant = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const form = new URLSearchParams(await bodyOf(request))
  if (form.get('grant_type') === 'refresh_token') return refreshToken(sql, request, response, form)
  if (form.get('grant_type') === 'authorization_code') return exchangeCode(sql, request, response, form)
  if (form.get('grant_type') === 'password') return password(sql, request, response, form)
  refuse(response, 400)
}
