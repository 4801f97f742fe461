// What this adapter knows of postgres.js beyond its documentation (3.4.9), and works around.

import type { Socket } from 'node:net'
import postgres from 'postgres'
import { parseInstant, type Value } from './driver.js'
import { connectionLost, type Encryption, openSocket, type ServerAddress, type Tls } from './socket.js'

/** What is the same for every host. `url`: the user, the password and the `options`. */
interface Target {
  readonly url: string
  readonly database: string
  readonly tls: Tls
}

interface ClientOptions {
  readonly address: ServerAddress
  readonly encryption: Encryption
  readonly prepare: boolean
  /** What the server is told at the start of the connection. */
  readonly parameters: Readonly<Record<string, string | number>>
  /** Called when the connection ends, however it ends, and also before it was opened. */
  readonly onEnd?: () => unknown
  /** Called with each setting that the server reports by itself, those at the start included. */
  readonly onReport?: (name: string, value: unknown) => unknown
}

export type Client = ReturnType<typeof createClient>

/** The escapes of `bytea` in PostgreSQL's older form. */
const ESCAPED = /\\(?:\\|([0-7]{3}))/g

/**
 * postgres.js parses a statement anew and sends it once more when its plan is out of date (0A000, 26000), but with values
 * that it has already turned into text. Its own types take that text for the value: a `true` becomes false, and bytes
 * others. Those here take it for what it is.
 */
export const TYPES = {
  boolean: {
    to: 16,
    from: [16],
    serialize: (value: unknown) => (value === true || value === 't' ? 't' : 'f'),
    parse: (text: string) => text === 't'
  },
  bytea: {
    to: 17,
    from: [17],
    serialize: (bytes: Uint8Array | string) =>
      typeof bytes === 'string' ? bytes : `\\x${Buffer.from(bytes).toString('hex')}`,
    /** In either form of `bytea_output`, which nobody may set behind a pooler. postgres.js reads `hex` alone. */
    parse(text: string): Buffer {
      if (text.startsWith('\\x')) return Buffer.from(text.slice(2), 'hex')
      const bytes = text.replace(ESCAPED, (_, octal) => (octal ? String.fromCharCode(Number.parseInt(octal, 8)) : '\\'))
      return Buffer.from(bytes, 'latin1')
    }
  },
  // postgres.js would make an invalid Date of what is no instant of JavaScript's.
  date: {
    to: 1184,
    from: [1184],
    serialize: (value: Date | string) => (typeof value === 'string' ? value : value.toISOString()),
    parse: parseInstant
  }
}

/** One connection of postgres.js to one host, which is opened by its first statement and never again. */
export const createClient = ({ url, database, tls }: Target, options: ClientOptions) => {
  const { address, encryption, prepare, parameters, onEnd = () => {}, onReport } = options
  const sockets: Socket[] = []
  let destroyed = false
  const driverOptions = {
    // One host alone: of several, postgres.js takes an error of `socket` for the failure of the first one and waits for
    // the next one for ever.
    host: address.host,
    port: address.port,
    database,
    ssl: false,
    max: 1,
    prepare,
    // Arrays are sent as PostgreSQL's literals. To fetch the array types would cost every connection a statement.
    fetch_types: false,
    types: TYPES,
    // Who opens the connection has a limit for all of the opening.
    connect_timeout: 0,
    max_lifetime: null,
    idle_timeout: 0,
    onnotice: () => {},
    onclose: onEnd,
    ...(onReport && { onparameter: onReport }),
    // Made here so that it can be destroyed. postgres.js only half-closes the socket of a frozen server, which keeps the
    // process alive for ever.
    socket: async () => {
      if (sockets.length > 0 || destroyed) throw connectionLost()
      return openSocket(address, { encryption, tls, made: socket => sockets.push(socket) })
    },
    connection: parameters
  }
  const client = postgres(url, driverOptions)
  return {
    /**
     * Runs one statement. No other may be under way. `name` is that of the prepared statement, and `pid` the process that the
     * server named at the start of the connection.
     */
    async run(text: string, values: readonly Value[] = []) {
      // Prepared where the connection's own `prepare` allows it: by default `unsafe` prepares nothing.
      const result = await client.unsafe(text, [...values], { prepare: true }).values()
      // After a statement that failed behind its k-th row, postgres.js leaves the first k places of the next result empty.
      const rows: unknown[][] = result.length === 0 || 0 in result ? result : result.filter(() => true)
      return { rows, name: result.statement.name, pid: result.state.pid }
    },
    /** Waits for the statement that is under way, at most so long, and says goodbye to the server. */
    end: (milliseconds: number): Promise<void> => client.end({ timeout: milliseconds / 1000 }),
    /** Ends the connection at once. */
    destroy(): void {
      destroyed = true
      for (const socket of sockets) socket.destroy()
      void client.end({ timeout: 0 })
    }
  }
}
