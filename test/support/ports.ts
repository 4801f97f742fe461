// Ports of 127.0.0.1 for servers that a test starts itself.

import { once } from 'node:events'
import { Server as HttpServer } from 'node:http'
import { createServer, type Server } from 'node:net'
import type { Test } from 'tap'

/** The port on which a server listens. */
export const portOf = (server: Pick<Server, 'address'>): number => {
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the server listens on no port')
  return address.port
}

/** A port on which nobody listens. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = portOf(server)
  server.close()
  return port
}

/** Lets a server listen until the test ends, and returns the port. */
export const listenUntilEnd = async (
  t: Pick<Test, 'teardown'>,
  server: Server,
  host = '127.0.0.1'
): Promise<number> => {
  server.listen(0, host)
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    if (server instanceof HttpServer) server.closeAllConnections()
  })
  return portOf(server)
}
