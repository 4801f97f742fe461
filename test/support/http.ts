import { connect } from 'node:net'
import { createHttp, type Http, type HttpOptions } from '../../app/http/http.js'
import { createLog } from '../../app/serve/log.js'

/** A server of small routes, silent unless it is given a log. */
export const createTestHttp = (options: Partial<HttpOptions> = {}): Http =>
  createHttp({
    version: '7.1.2',
    bodyLimit: 1000,
    trustProxy: false,
    log: createLog('silent', { write: () => {} }),
    errorPage: (status, message) => ({
      headers: { 'content-type': 'text/html; charset=utf-8', 'x-page': 'yes' },
      body: `<p>${status} ${message}</p>`
    }),
    ...options
  })

/** Listens, and gives what sends bytes over a connection of its own and resolves with all that came back until its end. */
export const listen = async (http: Http): Promise<(...parts: (string | Buffer)[]) => Promise<string>> => {
  const address = new URL(await http.listen({ host: '127.0.0.1', port: 0 }))
  return (...parts) =>
    new Promise((resolve, reject) => {
      let received = ''
      const socket = connect(Number(address.port), address.hostname)
      socket.on('data', data => {
        received += data.toString('latin1')
      })
      socket.on('error', reject)
      socket.on('close', () => resolve(received))
      for (const part of parts) socket.write(part)
    })
}

/** What one side of a test waits for and the other gives. */
export const signal = (): { readonly given: Promise<void>; readonly give: () => void } => {
  let give = () => {}
  const given = new Promise<void>(resolve => {
    give = resolve
  })
  return { given, give }
}
