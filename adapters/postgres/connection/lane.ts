import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import postgres from 'postgres'
import type { Run, Value } from './driver.js'
import { endsConnection } from './errors.js'
import { neverResent } from './resending.js'
import { createTimeouts, type Timeouts } from './timeouts.js'

/** Where a server listens. A host that begins with a slash is the folder of its socket. */
export interface ServerAddress {
  readonly host: string
  readonly port: number
}

export interface LaneOptions {
  /** In their order: the first that answers is taken. By default those of the URL, as postgres.js reads it. */
  readonly hosts?: readonly ServerAddress[] | undefined
  /** False behind a pooler that gives each transaction another connection. */
  readonly prepare: boolean
  /** Only for statements that find rows by their keys: they are planned once for all values. */
  readonly lookups: boolean
}

/**
 * One connection to a server, for as long as it lasts. It is never made anew: a statement that ran on a second one
 * without its caller's knowledge would be outside the transaction that it belongs to.
 */
export interface Lane {
  readonly lost: boolean
  /** `silence`: after how long without any answer the connection counts as dead. Rejects with the driver's own errors. */
  run(text: string, values: readonly Value[], silence?: Timeouts): ReturnType<Run>
  drop(): void
  /** Lets what runs come to its end, for a second. */
  end(): Promise<void>
}

/** The server ends a statement that runs longer, in milliseconds: a connection that stays silent beyond this is dead. */
const STATEMENT_TIMEOUT = 3000
const SILENCE = createTimeouts(STATEMENT_TIMEOUT + 500)
/**
 * How long a statement waits for a lock, in milliseconds, before it fails with 55P03. On a connection that many share, all
 * behind it wait as well. A row's lock is held for one statement, a table's for a migration.
 */
const LOCK_TIMEOUT = { shared: 100, exclusive: 500 }
const CONNECT_TIMEOUT_SECONDS = 2

/** A plan made while the tables were small stays until they are analysed: it must not read them whole, nor an index. */
export const LOOKUP_PLANNING = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off'
} as const

/** Connects with the first statement. */
export const openLane = (url: string, { hosts, prepare, lookups }: LaneOptions): Lane => {
  let socket: Socket | undefined
  let connected = false
  let lost = false
  const running = new Set<(reason: unknown) => void>()
  let endSilence: (() => void) | undefined

  const options = {
    max: 1,
    // At its own limit of 100 postgres.js waits until every answer is there before it sends again.
    max_pipeline: 10_000,
    prepare,
    // Arrays travel as PostgreSQL's literals; asking each server for its array types costs every connection a statement.
    fetch_types: false,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    max_lifetime: null,
    idle_timeout: 0,
    onnotice: () => {},
    onclose: () => drop(),
    // Of our own making: postgres.js only half-closes the socket of a frozen server, which keeps the process alive for good.
    socket: async (address: Address) => {
      try {
        if (connected) throw connectionLost()
        connected = true
        return await connectToFirst(hosts ?? addressesOf(address), opened => {
          socket = opened
        })
      } catch (error) {
        // Of several hosts postgres.js would take this for the first one's failure, and wait for the next for good.
        drop(error)
        throw error
      }
    },
    connection: {
      application_name: 'heroes',
      TimeZone: 'UTC',
      DateStyle: 'ISO',
      ...(prepare && {
        // A transaction-mode pooler refuses these, as it cannot keep them apart.
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
    for (const reject of running) reject(reason)
    running.clear()
    // At once: nothing that the driver would still send may reach the server.
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
        running.add(reject)
        if (running.size === 1) endSilence = silence.begin(drop)
        const heard = (): void => {
          running.delete(reject)
          endSilence?.()
          if (running.size > 0) endSilence = silence.begin(drop)
        }
        const statement = client.unsafe(text, values.map(encodable), { prepare: true }).values()
        neverResent(statement, drop)
        statement.then(
          rows => {
            heard()
            resolve(rows)
          },
          (error: unknown) => {
            heard()
            // Not left to the end of the socket, which comes a moment later: the next statement would run into it.
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

/** What postgres.js has made of the URL. */
interface Address {
  readonly host: readonly string[]
  readonly port: readonly number[]
}

const addressesOf = ({ host, port }: Address): readonly ServerAddress[] =>
  host.map((name, index) => ({ host: name, port: Number(port[index]) }))

/** Resolves with the connection to the first that takes it; `opened` gets each socket as it is made. */
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
      // The name that TLS asks the certificate for.
      return Object.assign(socket, { host })
    } catch (error) {
      socket.destroy()
      failure ??= signal.aborted ? connectTimeout() : error
    }
  }
  throw failure
}

/** postgres.js throws while it writes a date that is none, and takes that for the failure of the statement before. */
const encodable = (value: Value): Value => {
  if (value instanceof Date && Number.isNaN(value.getTime())) throw new TypeError('the date is invalid')
  return value
}

const connectTimeout = (): Error =>
  Object.assign(new Error(`no connection within ${CONNECT_TIMEOUT_SECONDS} s`), { code: 'CONNECT_TIMEOUT' })

const connectionLost = (): Error => Object.assign(new Error('the connection was lost'), { code: 'CONNECTION_CLOSED' })
