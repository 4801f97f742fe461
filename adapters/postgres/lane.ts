import { connect, type Socket } from 'node:net'
import postgres from 'postgres'
import type { Run, Value } from './driver.js'
import { endsConnection } from './errors.js'
import { createTimeouts, type Timeouts } from './timeouts.js'

export interface LaneOptions {
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
const CONNECT_TIMEOUT_SECONDS = 2

/** A plan made while the tables were small stays until they are analysed: it must not read them whole, nor an index. */
export const LOOKUP_PLANNING = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off'
} as const

/** Connects with the first statement. */
export const openLane = (url: string, { prepare, lookups }: LaneOptions): Lane => {
  let socket: Socket | undefined
  let lost = false
  const running = new Set<(reason: unknown) => void>()
  let endSilence = (): void => {}

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
    socket: ({ host: [host], port: [port], path }: Address) => {
      if (socket !== undefined) throw connectionLost()
      socket = path ? connect({ path }) : connect({ host, port, noDelay: true })
      // The name that TLS asks the certificate for.
      return Object.assign(socket, { host })
    },
    connection: {
      application_name: 'heroes',
      TimeZone: 'UTC',
      DateStyle: 'ISO',
      ...(prepare && {
        // A transaction-mode pooler refuses these, as it cannot keep them apart.
        statement_timeout: STATEMENT_TIMEOUT,
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
    endSilence()
    // By hand: what waits for a connection that is never made, postgres.js forgets.
    for (const reject of running) reject(reason)
    running.clear()
    void client.end({ timeout: 0 }).then(() => socket?.destroy())
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
          endSilence()
          if (running.size > 0) endSilence = silence.begin(drop)
        }
        client
          .unsafe(text, [...values], { prepare: true })
          .values()
          .then(
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

/** What postgres.js has made of the URL; of several hosts the first one is asked. */
interface Address {
  readonly host: readonly [string, ...string[]]
  readonly port: readonly [number, ...number[]]
  readonly path: string | false
}

const connectionLost = (): Error => Object.assign(new Error('the connection was lost'), { code: 'CONNECTION_CLOSED' })
