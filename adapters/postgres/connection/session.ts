import type { Socket } from 'node:net'
import postgres from 'postgres'
import { BYTEA } from './bytea.js'
import { orConnectTimeout } from './connect-timeout.js'
import type { Hosts } from './hosts.js'
import { connectionLost, type Encryption, openSocket, type ServerAddress } from './socket.js'

export interface SessionOptions {
  readonly address: ServerAddress
  readonly encryption: Encryption
  readonly prepare: boolean
  /** What the server is told at the start of the connection. */
  readonly parameters: Readonly<Record<string, string | number>>
  /** Called when the connection ends, however it ends, and also before it was opened. */
  onEnd(): void
  /** Called when the server says that it became a standby or takes no writes by default. */
  onReadOnly(): void
}

/** What the server said of itself at the first statement. */
export interface ServerState {
  readonly standby: boolean
  readonly readOnly: boolean
  /** Whether another process than the one that runs the statements answered the connection, as with a pooler. */
  readonly pooled: boolean
}

/** A connection of postgres.js to one host, which is never opened again. */
export interface Session {
  readonly client: postgres.Sql
  /** Rejects when the server refuses the connection, does not answer in time, or when the session is destroyed. */
  readonly opened: Promise<ServerState>
  /** Ends the connection at once. Running statements are left without an answer. */
  destroy(): void
}

const FIRST_STATEMENT = `
  select pg_is_in_recovery(), current_setting('transaction_read_only')::boolean, pg_backend_pid()`

/** What a server reports by itself from PostgreSQL 14 on. */
const REPORTED = new Set(['in_hot_standby', 'default_transaction_read_only'])

export const openSession = (
  { url, database, tls, connectTimeoutSeconds }: Hosts,
  { address, encryption, prepare, parameters, onEnd, onReadOnly }: SessionOptions
): Session => {
  const sockets: Socket[] = []
  let destroyed = false
  let asked = false
  let open = false

  const destroy = (): void => {
    destroyed = true
    for (const socket of sockets) socket.destroy()
    void client.end({ timeout: 0 })
  }

  const driverOptions = {
    // One host alone: of several, postgres.js takes an error of `socket` for the failure of the first one and waits for
    // the next one for ever.
    host: address.host,
    port: address.port,
    database,
    ssl: false,
    max: 1,
    // At its default limit of 100, postgres.js waits for all answers before it sends another statement.
    max_pipeline: 10_000,
    prepare,
    // Arrays are sent as PostgreSQL's literals. To fetch the array types would cost every connection a statement.
    fetch_types: false,
    types: { bytea: BYTEA },
    // The time limit below is for all of the opening.
    connect_timeout: 0,
    max_lifetime: null,
    idle_timeout: 0,
    onnotice: () => {},
    onclose: onEnd,
    onparameter: (name: string, value: unknown) => {
      if (open && REPORTED.has(name) && value === 'on') onReadOnly()
    },
    // The socket is made here so that it can be destroyed. postgres.js only half-closes the socket of a frozen server,
    // which keeps the process alive for ever.
    socket: async () => {
      if (asked || destroyed) throw connectionLost()
      asked = true
      return openSocket(address, {
        encryption,
        tls,
        made: socket => sockets.push(socket)
      })
    },
    connection: parameters
  }
  const client = postgres(url, driverOptions)

  const first = async (): Promise<ServerState> => {
    const result = await client.unsafe(FIRST_STATEMENT).values()
    open = true
    const [[standby, readOnly, pid] = []] = result
    return { standby: standby === true, readOnly: readOnly === true, pooled: pid !== result.state.pid }
  }

  return { client, opened: orConnectTimeout(connectTimeoutSeconds, first(), destroy), destroy }
}
