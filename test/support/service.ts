import { createHash } from 'node:crypto'
import type { LightMyRequestResponse } from 'fastify'
import type { Http } from '../../app/http/http.js'
import { buildServer, type ServerOptions } from '../../app/http/server.js'
import { createLog } from '../../app/serve/log.js'
import { ADA, addClient, CALLBACK, createWorld, SECRET, type World, type WorldOptions } from './world.js'

export type Headers = Readonly<Record<string, string>>
export type Fields = Readonly<Record<string, string | undefined>> | string | Buffer

export interface Asked {
  readonly method?: string
  readonly headers?: Headers
  readonly payload?: string | Buffer
  /** The address that the request comes from. */
  readonly from?: string
}

/** The whole HTTP service over a world. */
export interface Service extends World {
  readonly http: Http
  ask(url: string, request?: Asked): Promise<LightMyRequestResponse>
  /** Sends a value as JSON, or a text as it stands. */
  json(method: string, url: string, body: unknown, headers?: Headers): Promise<LightMyRequestResponse>
  /** Sends a form, or a text as it stands. */
  form(url: string, fields: Fields, headers?: Headers, from?: string): Promise<LightMyRequestResponse>
}

export interface ServiceOptions extends WorldOptions, Partial<ServerOptions> {}

export const PUBLIC_URL = 'http://heroes.example:8080'

/** The service as it is by default, with a clock that stands still. It does not listen and logs nothing. */
export const createService = ({ stores, policy, clock, ...options }: ServiceOptions = {}): Service => {
  const world = createWorld({ ...(stores && { stores }), ...(policy && { policy }), ...(clock && { clock }) })
  const http = buildServer({
    useCases: world.useCases,
    bodyLimit: 10_485_760,
    trustProxy: false,
    protectHeroes: true,
    readScope: undefined,
    writeScope: undefined,
    log: createLog('silent', { write: () => {} }),
    publicUrl: () => PUBLIC_URL,
    ready: async () => {},
    ...options
  })
  const ask: Service['ask'] = (url, { method = 'GET', headers = {}, payload, from } = {}) =>
    http.inject({
      method: method as 'GET',
      url,
      headers: { ...headers },
      ...(payload !== undefined && { payload }),
      ...(from !== undefined && { remoteAddress: from })
    })
  return {
    ...world,
    http,
    ask,
    json: (method, url, body, headers = {}) =>
      ask(url, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
      }),
    form: (url, fields, headers = {}, from = '192.0.2.1') =>
      ask(url, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        payload: typeof fields === 'string' || Buffer.isBuffer(fields) ? fields : encodeForm(fields),
        from
      })
  }
}

/** Form-encoded, without what is undefined. */
export const encodeForm = (fields: Readonly<Record<string, string | undefined>>): string =>
  new URLSearchParams(
    Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined)
  ).toString()

/** RFC 7617's header, of id and secret as they stand. */
export const basic = (id: string, secret = SECRET): Headers => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
})

export const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` })

/** RFC 7636's S256. */
export const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly expires_in: number
  readonly token_type: string
  readonly scope?: string
}

/** A service with the confidential client `app`, the public client `spa` and the user ada. */
export interface Inhabited extends Service {
  /** The password grant of `app`, or of another client, for ada. */
  login(scope?: string, headers?: Headers): Promise<Tokens>
  /** A code of `app` for ada from the login page, which may be told other parameters. */
  code(parameters?: Readonly<Record<string, string | undefined>>): Promise<string>
  /** The headers of ada's login. */
  opened(scope?: string): Promise<Headers>
}

export const createInhabited = async (options: ServiceOptions = {}): Promise<Inhabited> => {
  const service = createService(options)
  await addClient(service, 'app')
  await addClient(service, 'spa', { secret: undefined })
  await service.useCases.registerUser(ADA)
  const login: Inhabited['login'] = async (scope, headers = basic('app')) => {
    const answer = await service.form('/auth/token', { grant_type: 'password', ...ADA, scope }, headers)
    if (answer.statusCode !== 200) throw new Error(answer.payload)
    return answer.json<Tokens>()
  }
  return {
    ...service,
    login,
    async code(parameters) {
      const answer = await service.form('/auth/code', { ...REQUEST, ...ADA, ...parameters })
      const code = new URL(String(answer.headers.location)).searchParams.get('code')
      if (code === null) throw new Error(String(answer.headers.location))
      return code
    },
    opened: async scope => bearer((await login(scope)).access_token)
  }
}

/** An authorization request of the client `app` that lacks nothing. */
export const REQUEST = { client_id: 'app', response_type: 'code', state: 'the state' }

export { CALLBACK }
