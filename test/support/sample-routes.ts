import { Type } from '@sinclair/typebox'
import { formOf, formRoutes, jsonRoutes } from '../../app/http/bodies.js'
import { parseForm, queryString } from '../../app/http/forms.js'
import type { Http } from '../../app/http/http.js'
import { DomainError, type ErrorCode } from '../../core/index.js'

const Id = Type.Object({ id: Type.String() })
const NewHero = Type.Object(
  {
    id: Type.Optional(Type.Unknown()),
    name: Type.String({ maxLength: 20 }),
    tags: Type.Optional(Type.Array(Type.String()))
  },
  { additionalProperties: false }
)
const Hero = Type.Object({ id: Type.Integer(), name: Type.String() })

const failures: Record<string, unknown> = {
  hidden: new Error('secret of the inside'),
  retry: new DomainError('unavailable', 'the database is away', { retryAfterSeconds: 2, cause: new Error('refused') }),
  'not-an-error': 'just a text',
  foreign: Object.assign(new Error('of another service'), { statusCode: 502 })
}
const failure = (name: string): unknown =>
  failures[name] ?? new DomainError(name as ErrorCode, 'the message', { requiredScope: 'heroes.read' })

/** Routes of every kind, which answer what a test needs. */
export const addRoutes = (http: Http): Http => {
  http.register(
    jsonRoutes(http => {
      http.get('/heroes', async () => [])
      http.get('/heroes/:id', { schema: { params: Id, response: { 200: Hero } } }, async ({ params }) => {
        if (!/^-?[0-9]+$/.test(params.id)) throw new DomainError('invalid_input', 'the id is not an integer')
        return { id: params.id.length, name: 'Superman', secret: 'kept' }
      })
      http.post('/heroes', { schema: { body: NewHero, response: { 200: Hero } } }, async ({ body }) => {
        return { id: 1, name: body.name }
      })
      http.delete('/heroes/:id', async (_request, reply) => reply.code(204).send())
      http.post('/echo', async ({ body }) => ({ body }))
      http.post(
        '/protected',
        {
          onRequest: async () => {
            throw new DomainError('token_required', 'no token')
          }
        },
        async () => ({})
      )
      http.get('/fail/:name', { schema: { params: Type.Object({ name: Type.String() }) } }, async ({ params }) => {
        throw failure(params.name)
      })
      http.get('/unserializable', async () => ({ count: 1n }))
    })
  )
  http.register(
    formRoutes('oauth', http => {
      http.post('/auth/token', async request => Object.fromEntries(formOf(request)))
      http.get('/auth/fail/:name', { schema: { params: Type.Object({ name: Type.String() }) } }, async ({ params }) => {
        throw failure(params.name)
      })
    })
  )
  http.register(
    formRoutes('page', http => {
      http.get('/auth/code', async (request, reply) => {
        return reply.type('text/html; charset=utf-8').send(`<p>${parseForm(queryString(request.url)).get('state')}</p>`)
      })
      http.post('/auth/code', async request => Object.fromEntries(formOf(request)))
    })
  )
  return http
}

export const json = { 'content-type': 'application/json' }
export const form = { 'content-type': 'application/x-www-form-urlencoded' }

/** What every answer has. */
export const constant = {
  server: 'heroes/7',
  'x-xss-protection': '1; mode=block',
  'x-frame-options': 'SAMEORIGIN',
  'x-content-type-options': 'nosniff'
}

/** The status, the headers and the body of a response on the wire. */
export const read = (answer: string): { status: number; headers: Record<string, string>; body: string } => {
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  const [line = '', ...fields] = head.split('\r\n')
  const headers = Object.fromEntries(fields.map(field => [field.split(': ')[0]?.toLowerCase(), field.split(': ')[1]]))
  return { status: Number(line.split(' ')[1]), headers, body: rest.join('\r\n\r\n') }
}
