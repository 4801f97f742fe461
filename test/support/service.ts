// The whole HTTP service in this process, over memory or given stores. It does not listen: requests are handed in.

import { createHash } from 'node:crypto'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import type { Http } from '../../app/http/http.js'
import { buildServer, type ServerOptions } from '../../app/http/server.js'
import { createSecurityLog } from '../../app/serve/log.js'
import { createCheck, readSnapshot } from './openapi.js'
import { silentLog } from './recorded-log.js'
import { wholeRunLog } from './whole-run.js'
import { FORM_TYPE, JSON_TYPE } from './wire.js'
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

/** The whole HTTP service over a {@link World}. */
export interface Service extends World {
  readonly http: Http
  ask(url: string, request?: Asked): Promise<LightMyRequestResponse>
  /** Sends a value as JSON, or a text as it stands. */
  json(method: string, url: string, body: unknown, headers?: Headers): Promise<LightMyRequestResponse>
  /** Sends a form, or a text as it stands. */
  form(url: string, fields: Fields, headers?: Headers, from?: string): Promise<LightMyRequestResponse>
}

export interface ServiceOptions extends WorldOptions, Partial<Omit<ServerOptions, 'policy'>> {}

export const PUBLIC_URL = 'http://heroes.example:8080'

const check = createCheck(readSnapshot())

/**
 * The service with its default settings, a clock that only the test moves, and no log. Every answer of `ask`, `json` and
 * `form` is held against the committed OpenAPI document.
 */
export const createService = ({
  stores,
  policy,
  clock,
  events = wholeRunLog && createSecurityLog(wholeRunLog.logger),
  ...options
}: ServiceOptions = {}): Service => {
  const world = createWorld({
    ...(stores && { stores }),
    ...(policy && { policy }),
    ...(clock && { clock }),
    ...(events && { events })
  })
  const http = buildServer({
    useCases: world.useCases,
    log: wholeRunLog ?? silentLog(),
    publicUrl: () => PUBLIC_URL,
    policy,
    ...options
  })
  const isKnown = (method: string): method is NonNullable<InjectOptions['method']> =>
    http.supportedMethods.includes(method)
  const ask: Service['ask'] = async (url, { method = 'GET', headers = {}, payload, from } = {}) => {
    if (!isKnown(method)) throw new Error(`the server knows no method ${method}`)
    const answer = await http.inject({
      method,
      url,
      headers: { ...headers },
      ...(payload !== undefined && { payload }),
      ...(from !== undefined && { remoteAddress: from })
    })
    check(method, url, answer, options)
    return answer
  }
  return {
    ...world,
    http,
    ask,
    json: (method, url, body, headers = {}) =>
      ask(url, {
        method,
        headers: { ...JSON_TYPE, ...headers },
        payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
      }),
    form: (url, fields, headers = {}, from = '192.0.2.1') =>
      ask(url, {
        method: 'POST',
        headers: { ...FORM_TYPE, ...headers },
        payload: typeof fields === 'string' || Buffer.isBuffer(fields) ? fields : encodeForm(fields),
        from
      })
  }
}

/** Encodes a form. Fields that are undefined are left out. */
export const encodeForm = (fields: Readonly<Record<string, string | undefined>>): string =>
  new URLSearchParams(
    Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined)
  ).toString()

/** Encodes one text as a form does. */
export const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)

/** Encodes every byte of a text, also those that need no escape. */
export const percentEncoded = (text: string): string =>
  [...Buffer.from(text)].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('')

/** The header of RFC 7617, with the id and the secret as they are. */
export const basic = (id: string, secret = SECRET): Headers => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
})

export const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` })

/** True when the hero endpoints accept the access token. */
export const opens = async ({ ask }: Pick<Service, 'ask'>, accessToken: string): Promise<boolean> =>
  (await ask('/heroes/1', { headers: bearer(accessToken) })).statusCode !== 401

/** The challenge of RFC 7636's method S256. */
export const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly expires_in: number
  readonly token_type: string
  readonly scope?: string
}

/** A service with the confidential client `app`, the public client `spa` and the user {@link ADA}. */
export interface Inhabited extends Service {
  /** Logs ada in with the password grant of `app`, or of the client that `headers` name. */
  login(scope?: string, headers?: Headers): Promise<Tokens>
  /** A code that the login page gives `app` for ada. `parameters` change the request. */
  code(parameters?: Readonly<Record<string, string | undefined>>): Promise<string>
  /** Logs ada in: the headers of a request with her access token. */
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
      const { code } = parametersOf(answer.headers.location)
      if (code === undefined) throw new Error(String(answer.headers.location))
      return code
    },
    opened: async scope => bearer((await login(scope)).access_token)
  }
}

/** The form of ada's login with the password grant. */
export const LOGIN = { grant_type: 'password', ...ADA }

/** The parameters of a complete authorization request of the client `app`. */
export const REQUEST = { client_id: 'app', response_type: 'code', state: 'the state' }

/** The path and query of the login page for {@link REQUEST}. `parameters` change the request. */
export const loginPath = (parameters: Readonly<Record<string, string | undefined>> = {}): string =>
  `/auth/code?${encodeForm({ ...REQUEST, ...parameters })}`

/** The parameters that a redirect to the registered URI adds to it. Throws when it leads elsewhere. */
export const parametersOf = (location: unknown, uri = CALLBACK): Record<string, string> => {
  const text = String(location)
  if (!text.startsWith(uri)) throw new Error(`${text} does not begin with ${uri}`)
  return Object.fromEntries(new URL(text).searchParams)
}

export { CALLBACK }
