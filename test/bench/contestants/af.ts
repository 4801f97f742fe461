import { type FastifyReply, fastify } from 'fastify'
import postgres from 'postgres'
import { bearerOf, FIXED_HEADERS } from './hand.js'
import { findHero, insertHero, isHeroName } from './hand-heroes.js'
import { exitOnSignal, readSettings } from './settings.js'

/** Fastify and postgres.js with its pool of ten: what most would write. Each request is one prepared statement, as in a1. */
const { databaseUrl, port } = readSettings()
const sql = postgres(databaseUrl, { max: 10 })
const app = fastify()

const refuse = (reply: FastifyReply, status: number): FastifyReply => reply.code(status).send({ error: String(status) })

app.addHook('onRequest', async (_, reply) => {
  reply.headers(FIXED_HEADERS)
})

app.get<{ Params: { id: string } }>('/heroes/:id', async (request, reply) => {
  const token = bearerOf(request)
  if (token === undefined) return refuse(reply, 401)
  const row = await findHero(sql, token, Number(request.params.id))
  if (!row?.live) return refuse(reply, 401)
  if (row.name === null) return refuse(reply, 404)
  return { id: Number(row.id), name: row.name }
})

app.post<{ Body: { name?: unknown } }>('/heroes', async (request, reply) => {
  const token = bearerOf(request)
  if (token === undefined) return refuse(reply, 401)
  const { name } = request.body
  if (!isHeroName(name)) return refuse(reply, 400)
  const row = await insertHero(sql, token, name)
  if (!row?.live) return refuse(reply, 401)
  if (row.id === null) return refuse(reply, 409)
  return { id: Number(row.id), name }
})

exitOnSignal()
await app.listen({ port, host: '127.0.0.1' })
