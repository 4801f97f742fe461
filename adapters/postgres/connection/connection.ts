import type { Ask } from './clock.js'
import type { Observer, Value } from './driver.js'
import { endsConnection, isReadOnly } from './errors.js'
import type { HostConnection, Hosts } from './hosts.js'
import { LIMITS, startTimer } from './limits.js'
import { openOnFirst } from './opening.js'
import { DISCARD_PLANS, PLAN_LIFETIME, PLANNING } from './planning.js'
import type { Client } from './postgres-js.js'
import { connectionLost } from './socket.js'

interface ConnectionOptions extends Pick<Observer, 'onStatement'> {
  /** False behind a pooler that gives each transaction another connection. */
  readonly prepare: boolean
  /** True for a connection that look-ups alone use. */
  readonly lookups: boolean
  readonly readClock: (ask: Ask) => Promise<void>
}

/**
 * One connection to the first of several hosts that is good enough, for one statement at a time. A connection that is lost
 * is never opened again: without the caller's knowledge, the next statement would run outside the transaction that it
 * belongs to.
 */
export interface Connection extends HostConnection {
  /**
   * Rejects with the driver's own error. After `silence`, in milliseconds, without an answer, the connection counts as
   * dead; {@link LIMITS} has the usual time.
   */
  run(text: string, values: readonly Value[], silence?: number): Promise<unknown[][]>
  /**
   * Resolves once the connection is open, and lets statements be planned anew where their plans are old. Outside
   * transactions: inside, the isolation level could no longer be set. Rejects when no host is good enough.
   */
  ready(): Promise<void>
  /** Waits for the running statement, at most a second, and ends the connection. */
  end(): Promise<void>
}

/** Opens the connection at once. */
export const openConnection = (hosts: Hosts, options: ConnectionOptions): Connection => {
  const { prepare, lookups, readClock, onStatement } = options
  const ended = new AbortController()
  let client: Client | undefined
  let plansEndAt = Number.POSITIVE_INFINITY
  /** The `reject` of the statement that is under way. */
  let running: ((reason: unknown) => void) | undefined

  const drop = (reason: unknown = connectionLost()): void => {
    if (ended.signal.aborted) return
    running?.(reason)
    ended.abort()
  }

  const limits = {
    statement_timeout: LIMITS.statement,
    lock_timeout: lookups ? LIMITS.lock.lookups : LIMITS.lock.others,
    idle_in_transaction_session_timeout: LIMITS.idleInTransaction,
    default_transaction_isolation: 'read committed',
    // Lists of values have nulls.
    array_nulls: 'on',
    // Any other value makes a search through the index of names find but some.
    gin_fuzzy_search_limit: 0,
    ...PLANNING
  }
  const open = async () => {
    const opened = await openOnFirst(hosts, { prepare, limits, readClock, signal: ended.signal, onEnd: drop })
    client = opened.client
    hosts.opened(opened.address, connection)
    plansEndAt = performance.now() + PLAN_LIFETIME
    return opened
  }
  const send: Connection['run'] = async (text, values, silence = LIMITS.silence) => {
    const { client, address } = await opening
    return new Promise((resolve, reject) => {
      if (ended.signal.aborted) return reject(connectionLost())
      running = reject
      const sentAt = performance.now()
      const stop = startTimer(silence, () => {
        drop()
        hosts.leaveIdle(address)
      })
      const answer = client.run(text, values).finally(() => {
        stop()
        running = undefined
        onStatement?.((performance.now() - sentAt) / 1000)
      })
      answer.then(
        ({ rows }) => resolve(rows),
        (error: unknown) => {
          if (isReadOnly(error)) hosts.leave(address)
          // Dropped here because the socket ends a moment later: until then, statements would be sent on it in vain.
          if (endsConnection(error)) drop()
          reject(error)
        }
      )
    })
  }

  const opening = open()
  opening.catch(drop)
  const connection: Connection = {
    get lost() {
      return ended.signal.aborted
    },
    get idle() {
      return running === undefined
    },
    run: send,
    async ready() {
      await opening
      if (!prepare || performance.now() <= plansEndAt) return
      plansEndAt = performance.now() + PLAN_LIFETIME
      await send(DISCARD_PLANS, [])
    },
    drop,
    async end() {
      await client?.end(LIMITS.close)
      drop()
    }
  }
  return connection
}
