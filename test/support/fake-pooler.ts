// A pooler in front of backends that are no more than sets of prepared statements: what PgBouncer does, as far as a
// client can tell when it opens a connection.

import { createServer, type Socket } from 'node:net'
import type { Test } from 'tap'
import {
  BOOLEAN,
  dataRow,
  error,
  INTEGER,
  int16,
  int32,
  message,
  READY,
  row,
  rowDescription
} from './backend-protocol.js'
import { listenUntilEnd } from './ports.js'

export interface FakePooler {
  readonly url: string
  mode: 'session' | 'transaction'
  /** Whether a prepared statement is there on whichever backend the client gets next. */
  carries: boolean
  /** Whether other parameters of a connection than PgBouncer's own are refused. */
  refuses: boolean
  /** Where the loss of a statement is reported: PostgreSQL's own routine makes postgres.js send the statement again. */
  routine: string
  /** Statements that begin so are never answered. */
  silentAt: string | undefined
  /** How many clients are taken at once. */
  mostClients: number
  /** How many backends there are. */
  size: number
  /** The parameters with which clients opened their connections, in their order. */
  readonly startups: string[]
  /** The statements without parameters, each with the backend that ran it. */
  readonly statements: { readonly statement: string; readonly backend: number }[]
}

interface Client {
  readonly socket: Socket
  backend: number | undefined
  inTransaction: boolean
  readonly waiting: (() => void)[]
}

/** Starts a pooler that listens until the test ends. */
export const startFakePooler = async (t: Pick<Test, 'teardown'>): Promise<FakePooler> => {
  const clients = new Set<Client>()
  const prepared = new Map<number, Set<string>>()

  const acquire = (client: Client): boolean => {
    if (client.backend !== undefined) return true
    const used = new Set([...clients].map(({ backend }) => backend))
    client.backend = Array.from({ length: pooler.size }, (_, index) => index + 1).find(backend => !used.has(backend))
    return client.backend !== undefined
  }
  const release = (client: Client): void => {
    if (pooler.mode === 'transaction' && !client.inTransaction) client.backend = undefined
    for (const other of clients) if (other.waiting.length > 0 && acquire(other)) other.waiting.shift()?.()
  }
  /** Runs `work` once the client has a backend. */
  const onBackend = (client: Client, work: (backend: number) => void): void => {
    const run = (): void => {
      work(client.backend ?? 0)
      release(client)
    }
    if (acquire(client)) run()
    else client.waiting.push(run)
  }

  const runSimple = (client: Client, statement: string, backend: number): void => {
    pooler.statements.push({ statement, backend })
    if (pooler.silentAt !== undefined && statement.startsWith(pooler.silentAt)) return
    if (statement.startsWith('begin')) client.inTransaction = true
    if (statement === 'rollback') client.inTransaction = false
    const types = statement.includes('pg_is_in_recovery') ? [BOOLEAN, BOOLEAN, INTEGER] : [INTEGER]
    client.socket.write(row(types, ['f', 'f', String(backend)].slice(-types.length)))
  }

  const server = createServer({ noDelay: true }, socket => {
    const client: Client = { socket, backend: undefined, inTransaction: false, waiting: [] }
    clients.add(client)
    socket
      .on('error', () => {})
      .on('close', () => {
        clients.delete(client)
        client.inTransaction = false
        client.backend = undefined
        release(client)
      })
    let started = false
    let name = ''
    socket.on('data', data => {
      if (!started) {
        if (data.length === 8) return void socket.write('N')
        const startup = data.toString('utf8', 8)
        pooler.startups.push(startup)
        if (pooler.refuses && startup.includes('statement_timeout')) return void socket.end(error('08P01'))
        if (clients.size > pooler.mostClients) return void socket.end(error('53300'))
        started = true
        return void socket.write(Buffer.concat([message('R', int32(0)), message('K', int32(0), int32(0)), READY]))
      }
      for (let at = 0; at < data.length; at += 1 + data.readInt32BE(at + 1)) {
        const type = data.toString('latin1', at, at + 1)
        const body = data.subarray(at + 5, at + 1 + data.readInt32BE(at + 1))
        const [first = '', second = ''] = body.toString('latin1').split('\0')
        if (type === 'Q') onBackend(client, backend => runSimple(client, first, backend))
        if (type === 'P') name = first
        if (type === 'D') {
          onBackend(client, backend => {
            prepared.set(backend, (prepared.get(backend) ?? new Set()).add(name))
            socket.write(
              Buffer.concat([message('1'), message('t', int16(1), int32(INTEGER)), rowDescription([INTEGER])])
            )
          })
        }
        if (type === 'B') name = second
        if (type === 'E') {
          onBackend(client, backend => {
            const failed = !(pooler.carries || prepared.get(backend)?.has(name))
            socket.write(
              failed ? error('26000', pooler.routine) : Buffer.concat([message('2'), dataRow([String(backend)])])
            )
          })
        }
        if (type === 'S') onBackend(client, () => socket.write(READY))
      }
    })
  })
  const port = await listenUntilEnd(t, server)
  const pooler: FakePooler = {
    url: `postgres://u:p@127.0.0.1:${port}/d?sslmode=disable`,
    mode: 'transaction',
    carries: false,
    refuses: false,
    routine: 'FetchPreparedStatement',
    silentAt: undefined,
    mostClients: 100,
    size: 2,
    startups: [],
    statements: []
  }
  t.teardown(() => {
    for (const { socket } of clients) socket.destroy()
  })
  return pooler
}
