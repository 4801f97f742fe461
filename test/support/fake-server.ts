// A server that speaks as much of PostgreSQL's protocol as opening a connection takes, and is what a test wants it to be.

import { createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import { BOOLEAN, error, INTEGER, int32, message, READY, row, text } from './backend-protocol.js'
import type { Certificate } from './certificates.js'
import { listenUntilEnd } from './ports.js'

export interface FakeServer {
  readonly address: { readonly host: string; readonly port: number }
  readonly url: string
  standby: boolean
  /** Its clock, in milliseconds since 1970. */
  time: number
  readOnly: boolean
  /** The SQLSTATE with which connections are refused. */
  refusal: string | undefined
  /** The SQLSTATE with which statements of the service are refused. */
  failure: string | undefined
  /** While true, the server ends a connection at a statement of the service, and does not answer it. */
  ending: boolean
  /** While true, the server takes connections and answers nothing. */
  silent: boolean
  /** The certificate with which TLS is offered. */
  certificate: Certificate | undefined
  /** While true, connections without TLS are refused as `pg_hba.conf` does: with 28000. */
  tlsAlone: boolean
  /** While true, connections with TLS are refused so. */
  plainAlone: boolean
  /** Whether each connection that was opened is encrypted, in their order. */
  readonly opened: boolean[]
  /** Whose certificate each connection with TLS has shown: undefined for none. */
  readonly shown: (string | undefined)[]
  /** The statements of the service, in their order. */
  readonly statements: string[]
  /** The connections that are open. */
  readonly sockets: Set<Socket>
  /** Tells every connection that a setting has a new value, as PostgreSQL does by itself. */
  report(name: string, value: string): void
}

const PID = 4711

/** Starts a server that listens until the test ends. It answers every statement of the service with its own port. */
export const startFakeServer = async (t: Pick<Test, 'teardown'>, host = '127.0.0.1'): Promise<FakeServer> => {
  const server = createServer(plain => {
    fake.sockets.add(plain)
    plain.on('error', () => {}).on('close', () => fake.sockets.delete(plain))
    let socket: Socket = plain
    let started = false
    const onData = (data: Buffer): void => {
      if (fake.silent) return
      if (!started && data.length === 8) {
        if (fake.certificate === undefined) return void plain.write('N')
        const { certificate: cert, key } = fake.certificate
        plain.off('data', onData)
        plain.write('S')
        const tls = new TLSSocket(plain, { isServer: true, cert, key, requestCert: true, rejectUnauthorized: false })
        tls.once('secure', () =>
          fake.shown.push(tls.getPeerCertificate().subject && String(tls.getPeerCertificate().subject.CN))
        )
        socket = tls.on('error', () => {}).on('data', onData)
      } else if (!started) {
        const encrypted = socket !== plain
        const hostless = encrypted ? fake.plainAlone : fake.tlsAlone
        const refusal = fake.refusal ?? (hostless ? '28000' : undefined)
        if (refusal !== undefined) return void socket.end(error(refusal))
        started = true
        fake.opened.push(encrypted)
        socket.write(Buffer.concat([message('R', int32(0)), message('K', int32(PID), int32(1)), READY]))
      } else if (data.toString('latin1', 0, 1) === 'Q') {
        const statement = data.toString('utf8', 5, data.length - 1)
        if (statement.includes('pg_is_in_recovery')) {
          const values = [fake.standby, fake.readOnly].map(value => (value ? 't' : 'f'))
          return void socket.write(row([BOOLEAN, BOOLEAN, INTEGER], [...values, String(PID)]))
        }
        if (statement.includes('clock_timestamp')) {
          const none = Buffer.concat([message('C', text('SELECT 0')), READY])
          return void socket.write(fake.readOnly ? none : row([INTEGER], [String(fake.time * 1000)]))
        }
        fake.statements.push(statement)
        if (fake.ending) return void socket.destroy()
        if (fake.failure !== undefined) socket.write(Buffer.concat([error(fake.failure), READY]))
        else socket.write(row([INTEGER], [String(fake.address.port)]))
      }
    }
    plain.on('data', onData)
  })
  const port = await listenUntilEnd(t, server, host)
  const fake: FakeServer = {
    address: { host, port },
    url: `postgres://u:p@127.0.0.1:${port}/d`,
    standby: false,
    time: 0,
    readOnly: false,
    refusal: undefined,
    failure: undefined,
    ending: false,
    silent: false,
    certificate: undefined,
    tlsAlone: false,
    plainAlone: false,
    opened: [],
    shown: [],
    statements: [],
    sockets: new Set(),
    report(name, value) {
      for (const socket of fake.sockets) socket.write(message('S', text(name), text(value)))
    }
  }
  t.teardown(() => {
    for (const socket of fake.sockets) socket.destroy()
  })
  return fake
}
