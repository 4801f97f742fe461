import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type FastifyReply, fastify } from 'fastify'
import { digestOf, findHero, insertHero, isLive, listHeroes, rotate } from './hand-statements.js'

// The server written by hand: what every such server must do, and nothing more. Reads, lists and refreshes are on node:http, and
// new heroes, which have a body of JSON, on Fastify.

const HEADERS = {
  server: 'heroes/1',
  'x-xss-protection': '1; mode=block',
  'x-frame-options': 'SAMEORIGIN',
  'x-content-type-options': 'nosniff'
}

const send = (response: ServerResponse, status: number, value: unknown): void => {
  const body = JSON.stringify(value)
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    ...HEADERS
  })
  response.end(body)
}

const refuse = (response: ServerResponse, status: number): void => send(response, status, { error: String(status) })

const bearerOf = ({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined =>
  headers.authorization?.startsWith('Bearer ') ? headers.authorization.slice(7) : undefined

const read = async (request: IncomingMessage, response: ServerResponse, id: number): Promise<void> => {
  const token = bearerOf(request)
  const row = token === undefined ? undefined : await findHero(token, id)
  if (!row?.live) return refuse(response, 401)
  if (row.name === null) return refuse(response, 404)
  send(response, 200, { id: Number(row.id), name: row.name })
}

const list = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const token = bearerOf(request)
  if (token === undefined || !(await isLive(token))) return refuse(response, 401)
  const query = new URL(request.url ?? '', 'http://localhost').searchParams
  const limit = query.get('limit')
  const heroes = await listHeroes({
    after: Number(query.get('after')),
    limit: limit === null ? null : Number(limit),
    part: query.get('name')?.toLowerCase()
  })
  send(response, 200, heroes)
}

const refresh = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const form = new URLSearchParams(await bodyOf(request))
  const client = clientOf(request)
  if (client === undefined) return refuse(response, 401)
  if (form.get('grant_type') !== 'refresh_token') return refuse(response, 400)
  const pair = await rotate(client, form.get('refresh_token') ?? '')
  if (pair === undefined) return refuse(response, 400)
  send(response, 200, {
    access_token: pair.access,
    refresh_token: pair.refresh,
    expires_in: 3600,
    token_type: 'bearer'
  })
}

const bodyOf = (request: IncomingMessage): Promise<string> =>
  new Promise((resolve, reject) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', chunk => {
      body += chunk
    })
    request.on('end', () => resolve(body))
    request.on('error', reject)
  })

/** The id and the digest of the secret in HTTP Basic. */
const clientOf = ({ headers: { authorization } }: IncomingMessage): { id: string; digest: Buffer } | undefined => {
  if (!authorization?.startsWith('Basic ')) return undefined
  const text = Buffer.from(authorization.slice(6), 'base64').toString()
  const colon = text.indexOf(':')
  return { id: text.slice(0, colon), digest: digestOf(text.slice(colon + 1)) }
}

const READ = /^\/heroes\/(\d{1,15})$/

/** Undefined for what Fastify serves. */
const serve = (request: IncomingMessage, response: ServerResponse): Promise<void> | undefined => {
  const { method, url = '' } = request
  if (method === 'POST' && url === '/auth/token') return refresh(request, response)
  if (method !== 'GET') return undefined
  const id = READ.exec(url)?.[1]
  if (id !== undefined) return read(request, response, Number(id))
  return url.startsWith('/heroes') ? list(request, response) : undefined
}

const app = fastify({
  serverFactory: onFastify =>
    createServer((request, response) => {
      const served = serve(request, response)
      if (served === undefined) return onFastify(request, response)
      served.catch(error => {
        console.error(error)
        refuse(response, 500)
      })
    })
})

const refuseThere = (reply: FastifyReply, status: number) => reply.code(status).send({ error: String(status) })

app.addHook('onRequest', async (_, reply) => {
  reply.headers(HEADERS)
})

app.post<{ Body: { name?: unknown } }>('/heroes', async (request, reply) => {
  const token = bearerOf(request)
  if (token === undefined) return refuseThere(reply, 401)
  const { name } = request.body
  if (typeof name !== 'string' || name === '' || name.length > 255) return refuseThere(reply, 400)
  const row = await insertHero(token, name)
  if (!row?.live) return refuseThere(reply, 401)
  if (row.id === null) return refuseThere(reply, 409)
  return { id: Number(row.id), name }
})

process.on('SIGTERM', () => process.exit(0))
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
