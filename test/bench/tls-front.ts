import { connect } from 'node:net'
import { createServer } from 'node:tls'
import { createAuthority } from '../support/certificates.js'

/** Ends TLS in front of a contestant, as a proxy does: a process of its own. Prints its port once it listens. */
const target = Number(process.argv[2])
const { certificate: cert, key } = createAuthority('bench').issue('127.0.0.1')
const server = createServer({ cert, key }, client => {
  const upstream = connect(target, '127.0.0.1').setNoDelay()
  client.setNoDelay()
  for (const [from, to] of [
    [client, upstream],
    [upstream, client]
  ] as const) {
    from.on('error', () => to.destroy()).pipe(to)
  }
})
server.listen(0, '127.0.0.1', () => console.log(Object(server.address()).port))
