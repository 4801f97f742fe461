import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { exitOnSignal, readSettings } from './settings.js'

// What every hand-written service of this specification must do, and nothing more.

export const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

export type Route = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void

export const FIXED_HEADERS = {
  server: 'heroes/1',
  'x-xss-protection': '1; mode=block',
  'x-frame-options': 'SAMEORIGIN',
  'x-content-type-options': 'nosniff'
}

export const send = (response: ServerResponse, status: number, body: string): void => {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    ...FIXED_HEADERS
  })
  response.end(body)
}

export const refuse = (response: ServerResponse, status: number): void =>
  send(response, status, `{"error":"${status}"}`)

/** The bearer token. Undefined when there is none. */
export const bearerOf = ({ headers: { authorization } }: Pick<IncomingMessage, 'headers'>): string | undefined =>
  authorization?.startsWith('Bearer ') ? authorization.slice(7) : undefined

const HERO = /^\/heroes\/(-?\d{1,15})$/

/** The id in the path. Undefined when the path is another one. */
export const heroIdOf = ({ url = '' }: IncomingMessage): number | undefined => {
  const id = HERO.exec(url)?.[1]
  return id === undefined ? undefined : Number(id)
}

export const bodyOf = (request: IncomingMessage): Promise<string> =>
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
export const clientOf = ({
  headers: { authorization }
}: IncomingMessage): { id: string; digest: Buffer } | undefined => {
  if (!authorization?.startsWith('Basic ')) return undefined
  const text = Buffer.from(authorization.slice(6), 'base64').toString()
  const colon = text.indexOf(':')
  return { id: text.slice(0, colon), digest: digestOf(text.slice(colon + 1)) }
}

export const serve = (route: Route): void => {
  const fail = (response: ServerResponse, error: unknown): void => {
    console.error(error)
    refuse(response, 500)
  }
  const server = createServer((request, response) => {
    try {
      Promise.resolve(route(request, response)).catch(error => fail(response, error))
    } catch (error) {
      fail(response, error)
    }
  })
  server.listen(readSettings().port, '127.0.0.1')
  exitOnSignal()
}
