// A service over memory whose list of all heroes is long, and clients that do not read it.

import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import { createService, type ServiceOptions } from './service.js'

/** More than the system takes for a client that reads nothing. */
export const HEROES = 12_000
const ENTRY = '🦸'.repeat(250)

export const createListing = async (t: Pick<Test, 'teardown'>, options: ServiceOptions = {}) => {
  const service = createService({ protectHeroes: false, ...options })
  for (let hero = 0; hero < HEROES; hero++) {
    await service.ports.heroes.insert({ name: `${hero < 1000 ? 'a' : 'b'}${hero}${ENTRY}` })
  }
  const url = new URL(await service.http.listen({ host: '127.0.0.1', port: 0 }))
  t.teardown(() => service.http.close())
  const open = (path: string, method = 'GET'): Socket => {
    const socket = connect(Number(url.port), url.hostname).on('error', () => {})
    socket.write(`${method} ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`)
    return socket
  }
  /** Clients that ask for the whole list and read nothing, once the service knows of them. */
  const unread = async (count: number): Promise<Socket[]> => {
    let asked = 0
    const all = new Promise<void>(resolve => {
      const onRequest = () => {
        asked += 1
        if (asked < count) return
        service.http.server.off('request', onRequest)
        resolve()
      }
      service.http.server.on('request', onRequest)
    })
    const sockets = Array.from({ length: count }, () => open('/heroes').pause())
    await all
    for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve))
    return sockets
  }
  const ask = async (path: string, method?: string): Promise<string> => text(open(path, method))
  return { ...service, open, unread, ask }
}

/** The status of an answer as it was sent. */
export const status = (answer: string): number => Number(answer.slice(9, 12))
