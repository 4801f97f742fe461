import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import postgres from 'postgres'
import type { Run, Value } from './driver.js'
import { endsConnection } from './errors.js'
import { neverResent } from './resending.js'
import { createTimeouts, type Timeouts } from './timeouts.js'

/** Where a server listens. A host that begins with a slash is the folder of the server's socket. */
export interface ServerAddress {
  readonly host: string
  readonly port: number
}

export interface LaneOptions {
  /** The first of them that takes the connection is used. By default the hosts of the URL, as postgres.js reads it. */
  readonly hosts?: readonly ServerAddress[] | undefined
  /** False behind a pooler that gives each transaction another connection. */
  readonly prepare: boolean
  /** True for a connection whose statements all find rows by their keys. They are planned once for all values. */
  readonly lookups: boolean
}

/**
 * One connection to a server. A connection that is lost is never opened again: without the caller's knowledge, the next
 * statement would run outside the transaction that it belongs to.
 */
export interface Lane {
  readonly lost: boolean
  /** After `silence` without any answer, the connection counts as dead. Rejects with the driver's own errors. */
  run(text: string, values: readonly Value[], silence?: Timeouts): ReturnType<Run>
  /** Ends the connection at once and rejects its running statements. */
  drop(): void
  /** Waits for running statements, at most a second, and ends the connection. */
  end(): Promise<void>
}

/** In milliseconds. The server ends a statement that runs longer, so a connection that is silent for longer is dead. */
const STATEMENT_TIMEOUT = 3000
const SILENCE = createTimeouts(STATEMENT_TIMEOUT + 500)
/**
 * How long a statement waits for a lock, in milliseconds, before it fails with 55P03. On the connection that all
 * look-ups share, the statements behind it wait as well. The lock of a row is held for one statement, the lock of a
 * table for a migration.
 */
const LOCK_TIMEOUT = { shared: 100, exclusive: 500 }
const CONNECT_TIMEOUT_SECONDS = 2

/**
 * A plan that is made while the tables are small stays until they are analysed. These settings keep it from reading a
 * whole table or index.
 */
export const LOOKUP_PLANNING = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off'
} as const

/** The first statement opens the connection. */
export const openLane = (url: string, { hosts, prepare, lookups }: LaneOptions): Lane => {
  let socket: Socket | undefined
  let connected = false
  let lost = false
  /** The `reject` of every statement that has no answer. */
  const unanswered = new Set<(reason: unknown) => void>()
  let endSilence: (() => void) | undefined

  const options = {
    max: 1,
    // At its default limit of 100, postgres.js waits for all answers before it sends another statement.
    max_pipeline: 10_000,
    prepare,
    // Arrays are sent as PostgreSQL's literals. To fetch the array types would cost every connection a statement.
    fetch_types: false,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    max_lifetime: null,
    idle_timeout: 0,
    onnotice: () => {},
    onclose: () => drop(),
    // The socket is made here so that `drop` can destroy it. postgres.js only half-closes the socket of a frozen
    // server, which keeps the process alive for ever.
    socket: async (address: Address) => {
      try {
        if (connected) throw connectionLost()
        connected = true
        return await connectToFirst(hosts ?? addressesOf(address), opened => {
          socket = opened
        })
      } catch (error) {
        // If the URL has several hosts, postgres.js takes this error for the failure of the first one and waits for the
        // next one for ever.
        drop(error)
        throw error
      }
    },
    connection: {
      application_name: 'heroes',
      TimeZone: 'UTC',
      DateStyle: 'ISO',
      ...(prepare && {
        // A transaction-mode pooler refuses these settings, as it cannot keep those of its clients apart.
        statement_timeout: STATEMENT_TIMEOUT,
        lock_timeout: lookups ? LOCK_TIMEOUT.shared : LOCK_TIMEOUT.exclusive,
        idle_in_transaction_session_timeout: 10_000,
        default_transaction_isolation: 'read committed' as const,
        ...(lookups && LOOKUP_PLANNING)
      })
    }
  }
  const client = postgres(url, options)

  const drop = (reason: unknown = connectionLost()): void => {
    if (lost) return
    lost = true
    endSilence?.()
    // postgres.js never settles statements that wait for a connection which fails to open, so they are rejected here.
    for (const reject of unanswered) reject(reason)
    unanswered.clear()
    // Destroyed before the driver's own end, so that nothing that the driver would still send reaches the server.
    socket?.destroy()
    void client.end({ timeout: 0 })
  }

  return {
    get lost() {
      return lost
    },
    run: (text, values, silence = SILENCE) =>
      new Promise((resolve, reject) => {
        if (lost) throw connectionLost()
        unanswered.add(reject)
        if (unanswered.size === 1) endSilence = silence.begin(drop)
        const answered = (): void => {
          unanswered.delete(reject)
          endSilence?.()
          if (unanswered.size > 0) endSilence = silence.begin(drop)
        }
        const statement = client.unsafe(text, values.map(encodable), { prepare: true }).values()
        neverResent(statement, drop)
        statement.then(
          rows => {
            answered()
            resolve(rows)
          },
          (error: unknown) => {
            answered()
            // Dropped here because the socket ends a moment later: until then, statements would be sent on it in vain.
            if (endsConnection(error)) drop(error)
            reject(error)
          }
        )
      }),
    drop,
    async end() {
      await client.end({ timeout: 1 })
      drop()
    }
  }
}

/** The hosts and ports that postgres.js has read from the URL. */
interface Address {
  readonly host: readonly string[]
  readonly port: readonly number[]
}

const addressesOf = ({ host, port }: Address): readonly ServerAddress[] =>
  host.map((name, index) => ({ host: name, port: Number(port[index]) }))

/**
 * Resolves with the socket of the first address that takes the connection. `opened` gets each socket when it is made.
 */
const connectToFirst = async (
  addresses: readonly ServerAddress[],
  opened: (socket: Socket) => void
): Promise<Socket> => {
  let failure: unknown
  for (const { host, port } of addresses) {
    const socket = host.startsWith('/')
      ? connect({ path: `${host}/.s.PGSQL.${port}` })
      : connect({ host, port, noDelay: true })
    opened(socket)
    const signal = AbortSignal.timeout(CONNECT_TIMEOUT_SECONDS * 1000)
    try {
      await once(socket, 'connect', { signal })
      // TLS checks the certificate for this name.
      return Object.assign(socket, { host })
    } catch (error) {
      socket.destroy()
      failure ??= signal.aborted ? connectTimeout() : error
    }
  }
  throw failure
}

/**
 * Refuses an invalid date: postgres.js throws while it writes one, and takes the error for the failure of the statement
 * before.
 */
const encodable = (value: Value): Value => {
  if (value instanceof Date && Number.isNaN(value.getTime())) throw new TypeError('the date is invalid')
  return value
}

const connectTimeout = (): Error =>
  Object.assign(new Error(`no connection within ${CONNECT_TIMEOUT_SECONDS} s`), { code: 'CONNECT_TIMEOUT' })

const connectionLost = (): Error => Object.assign(new Error('the connection was lost'), { code: 'CONNECTION_CLOSED' })
