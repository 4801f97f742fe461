// A server in this process that has what all endpoints share, but none of the service's endpoints.

import { createHttp, type Http, type HttpOptions } from '../../app/http/http.js'
import { silentLog } from './recorded-log.js'
import { dial } from './wire.js'

/** A server without routes. It logs nothing unless it is given a log. */
export const createTestHttp = (options: Partial<HttpOptions> = {}): Http =>
  createHttp({
    version: '7.1.2',
    bodyLimit: 1000,
    bodyMemory: 268_435_456,
    keepAliveSeconds: 72,
    trustProxy: false,
    log: silentLog(),
    errorPage: ({ status, message }) => ({
      headers: { 'content-type': 'text/html; charset=utf-8', 'x-page': 'yes' },
      body: `<p>${status} ${message}</p>`
    }),
    publicUrl: () => 'http://heroes.example',
    ...options
  })

/** The headers of every answer of {@link createTestHttp}. */
export const CONSTANT_HEADERS = {
  server: 'heroes/7',
  'x-xss-protection': '1; mode=block',
  'x-frame-options': 'SAMEORIGIN',
  'x-content-type-options': 'nosniff'
}

/** Lets the server listen. The function that it returns sends bytes over a new connection and resolves with all that came until the end of the connection. */
export const listen = async (http: Http): Promise<(...parts: (string | Buffer)[]) => Promise<string>> => {
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  return (...parts) => {
    const { socket, closed } = dial(url)
    for (const part of parts) socket.write(part)
    return closed
  }
}
