// Routes that only tests have: one of each kind that the service has, and slow ones.

import { Type } from '@sinclair/typebox'
import type { Test } from 'tap'
import { formOf, formRoutes } from '../../app/http/bodies/forms.js'
import { jsonRoutes } from '../../app/http/bodies/json.js'
import type { Http, HttpOptions, Log } from '../../app/http/http.js'
import { DomainError } from '../../core/index.js'
import { createTestHttp } from './http.js'
import { signal } from './waiting.js'
import { dial, JSON_TYPE, requestText } from './wire.js'

const NewSample = Type.Object(
  {
    id: Type.Optional(Type.Unknown()),
    name: Type.String({ maxLength: 20 }),
    tags: Type.Optional(Type.Array(Type.String()))
  },
  { additionalProperties: false }
)
const Sample = Type.Object({ id: Type.Integer(), name: Type.String() })

/** A server with these routes and no others. */
export const createSampleHttp = (options: Partial<HttpOptions> = {}): Http => {
  const http = createTestHttp(options)
  http.register(
    jsonRoutes(http => {
      http.get('/sample', async () => [])
      http.post('/sample', { schema: { body: NewSample, response: { 200: Sample } } }, async ({ body }) => {
        return { id: 1, name: body.name, secret: 'kept' }
      })
      http.post(
        '/sample/protected',
        {
          onRequest: async () => {
            throw new DomainError('token_required', 'no token')
          }
        },
        async () => ({})
      )
    })
  )
  http.register(
    formRoutes('oauth', http => http.post('/sample/form', async request => Object.fromEntries(await formOf(request))))
  )
  return http
}

export interface SlowHttp {
  readonly http: Http
  /** Resolves when the slow requests that were waited for have reached their handlers. */
  readonly arrived: Promise<void>
  /** Lets the handlers answer. */
  answer(): void
  /** The names that slow requests have brought, in their order. */
  readonly names: readonly string[]
}

/**
 * {@link createSampleHttp} with `GET /slow/:name` and `POST /slow`, which answer with the name of the request once they are
 * told to. `requests` are waited for.
 */
export const createSlowHttp = (options: Partial<HttpOptions> = {}, requests = 1): SlowHttp => {
  const http = createSampleHttp(options)
  const arrived = signal(requests)
  const answered = signal()
  const names: string[] = []
  const handle = async (name: string) => {
    names.push(name)
    arrived.give()
    await answered.given
    return { name }
  }
  http.get<{ Params: { name: string } }>('/slow/:name', ({ params }) => handle(params.name))
  http.register(
    jsonRoutes(http => {
      http.post('/slow', { schema: { body: Type.Object({ name: Type.String() }) } }, ({ body }) => handle(body.name))
    })
  )
  return { http, arrived: arrived.given, answer: answered.give, names }
}

/**
 * Serves `GET /slow/one` and `GET /slow/two`, sent together, whose client leaves before the answers. `gone` resolves once
 * the log has told of both.
 */
export const serveWhoLeaves = async (t: Pick<Test, 'teardown'>, log: Log, gone: Promise<void>): Promise<void> => {
  const { http, arrived, answer } = createSlowHttp({ log }, 2)
  await http.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => http.close())
  const { socket } = dial(http.listeningOrigin)
  socket.write(getSlow('one') + getSlow('two'))
  await arrived
  socket.destroy()
  await gone
  answer()
}

/** Serves `POST /sample`, whose client leaves while it sends the body. `gone` as with {@link serveWhoLeaves}. */
export const serveWhoBreaksOff = async (t: Pick<Test, 'teardown'>, log: Log, gone: Promise<void>): Promise<void> => {
  const http = createSampleHttp({ log })
  await http.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => http.close())
  const { socket } = dial(http.listeningOrigin)
  const arrived = new Promise(resolve => http.server.once('request', resolve))
  socket.write(`${requestText('POST', '/sample', { ...JSON_TYPE, 'content-length': '100' })}{`)
  await arrived
  socket.destroy()
  await gone
}

/** The bytes of `GET /slow/:name`. */
export const getSlow = (name: string): string => `GET /slow/${name} HTTP/1.1\r\nhost: a\r\n\r\n`

/** The bytes of `POST /slow`. */
export const postSlow = (name: string): string => {
  const body = JSON.stringify({ name })
  return `POST /slow HTTP/1.1\r\nhost: a\r\ncontent-type: ${JSON_TYPE['content-type']}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}
