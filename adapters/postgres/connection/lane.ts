import { takeAnswer } from './answer.js'
import { connectTimeout, orConnectTimeout } from './connect-timeout.js'
import type { Run, Value } from './driver.js'
import { endsConnection, isReadOnly, mayDependOnEncryption, refusedConnection, refusesParameters } from './errors.js'
import type { Hosts } from './hosts.js'
import { createLinkedList } from './linked-list.js'
import { createPlanAge, DISCARD_PLANS, PLANNING } from './planning.js'
import { findPooling, STATEMENTS_LOST } from './pooler.js'
import { neverResent } from './resending.js'
import { openSession, type Session } from './session.js'
import { connectionLost, type Encryption, encryptionsFor, type ServerAddress } from './socket.js'
import { createTimeouts, type Timeouts } from './timeouts.js'

export interface LaneOptions {
  /** False behind a pooler that gives each transaction another connection. */
  readonly prepare: boolean
  /** True for the connection that all look-ups share. */
  readonly lookups: boolean
}

/**
 * One connection to the first of several hosts that is good enough. A connection that is lost is never opened again:
 * without the caller's knowledge, the next statement would run outside the transaction that it belongs to.
 */
export interface Lane {
  readonly lost: boolean
  /** Settles with the rows or with the driver's own error. */
  send(statement: Statement): void
  /** The same as a promise. */
  run(text: string, values: readonly Value[], silence?: Timeouts): ReturnType<Run>
  /** Ends the connection at once and rejects its running statements. */
  drop(): void
  /** Waits for running statements, at most a second, and ends the connection. */
  end(): Promise<void>
}

/** A statement, and what is called for its rows or its error. Only the first call of the two counts. */
export interface Statement {
  readonly text: string
  readonly values: readonly Value[]
  /**
   * After so long without any answer, the connection counts as dead; {@link SILENCE} by default. A statement that has
   * waited as long for the connection to be opened is never sent.
   */
  readonly silence?: Timeouts | undefined
  readonly resolve: (rows: unknown[][]) => void
  readonly reject: (reason: unknown) => void
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

/** Opens the connection at once. */
export const openLane = (hosts: Hosts, { prepare, lookups }: LaneOptions): Lane => {
  const limits = {
    statement_timeout: STATEMENT_TIMEOUT,
    lock_timeout: lookups ? LOCK_TIMEOUT.shared : LOCK_TIMEOUT.exclusive,
    idle_in_transaction_session_timeout: 10_000,
    default_transaction_isolation: 'read committed',
    // Lists of values have nulls.
    array_nulls: 'on',
    ...PLANNING
  }
  /** The attempt that is under way, or the session that is open. */
  let session: Session | undefined
  let opened = false
  let lost = false
  let leaveHost = (): void => {}
  /** The statements that wait until the connection is open, each with what ends its time limit. */
  const waiting = new Map<Statement, () => void>()
  /** The `reject` of every statement that was sent and has no answer. */
  const unanswered = createLinkedList<(reason: unknown) => void>()
  let endSilence: (() => void) | undefined

  let send = (statement: Statement): void => {
    const { silence = SILENCE, reject } = statement
    const end = silence.begin(() => {
      waiting.delete(statement)
      reject(connectTimeout(silence.milliseconds / 1000))
    })
    waiting.set(statement, end)
  }

  const drop = (reason: unknown = connectionLost()): void => {
    if (lost) return
    lost = true
    leaveHost()
    endSilence?.()
    // postgres.js never settles the statements of a connection that is destroyed, so they are rejected here.
    for (const [{ reject }, end] of waiting) {
      end()
      reject(reason)
    }
    for (let place = unanswered.first; place !== undefined; place = unanswered.first) {
      unanswered.remove(place)
      place.item(reason)
    }
    waiting.clear()
    session?.destroy()
  }

  const attempt = async (place: ServerAddress, encryption: Encryption, withLimits: boolean): Promise<void> => {
    const begin = (parameters: Parameters, onEnd = (): void => {}): Session =>
      openSession(hosts, {
        address: place,
        encryption,
        prepare,
        parameters: { ...PARAMETERS, ...parameters },
        onEnd,
        onReadOnly: () => hosts.leave(place)
      })
    const attempted = begin(withLimits ? limits : {}, () => {
      if (opened && session === attempted) drop()
    })
    session = attempted
    try {
      const state = await attempted.opened
      if (hosts.target === 'primary' ? state.standby : hosts.target === 'read-write' && state.readOnly) {
        hosts.leave(place)
        throw takesNoWrites()
      }
      if (prepare && state.pooled) await adaptToPooler(place, attempted, () => begin({}))
      enter(place, attempted)
    } catch (error) {
      attempted.destroy()
      throw error
    }
  }

  /** Sets the limits where the backend is this connection's own. A backend that others use as well is left as it is. */
  const adaptToPooler = async (place: ServerAddress, { client }: Session, begin: () => Session): Promise<void> => {
    const pooling = await hosts.pooling(place, async () => {
      const other = begin()
      return findPooling(client, other, hosts.connectTimeoutSeconds).finally(() => other.destroy())
    })
    if (pooling === 'transaction') return
    const settings = Object.entries(limits).map(([name, value]) => `set ${name} = '${value}'`)
    await orConnectTimeout(hosts.connectTimeoutSeconds, client.unsafe(settings.join(';')))
  }

  /** Most poolers refuse limits at the start of a connection: they cannot keep those of their clients apart. */
  const attemptWithLimits = async (place: ServerAddress, encryption: Encryption): Promise<void> => {
    try {
      return await attempt(place, encryption, prepare)
    } catch (error) {
      if (lost || !prepare || !refusesParameters(error)) throw error
      return attempt(place, encryption, false)
    }
  }

  const openFirst = async (): Promise<void> => {
    let failure: unknown
    for (const place of hosts.inOrder()) {
      for (const encryption of encryptionsFor(hosts.tls, place)) {
        try {
          return await attemptWithLimits(place, encryption)
        } catch (error) {
          if (lost) return
          if (failure === undefined || saysMore(error)) failure = error
          if (!mayDependOnEncryption(error)) break
        }
      }
      hosts.failed(place)
    }
    throw refusedConnection(failure)
  }

  /** Lets the statements go that have waited for the connection. */
  const enter = (place: ServerAddress, { client }: Session): void => {
    opened = true
    leaveHost = hosts.enter(place, { drop, isIdle: () => unanswered.size === 0 })
    const fallSilent = (): void => {
      drop()
      hosts.leaveIdle(place)
    }
    const endBeforeResending = (): void => {
      hosts.forgetPooling(place)
      drop()
    }
    const sendNow = ({ text, values, silence = SILENCE, resolve, reject }: Statement): void => {
      const unansweredPlace = unanswered.add(reject)
      if (unanswered.size === 1) endSilence = silence.begin(fallSilent)
      const answered = (): void => {
        unanswered.remove(unansweredPlace)
        endSilence?.()
        if (unanswered.size > 0) endSilence = silence.begin(fallSilent)
      }
      const statement = client.unsafe(text, [...values], { prepare: true }).values()
      neverResent(statement, endBeforeResending)
      takeAnswer(
        statement,
        rows => {
          answered()
          resolve(rows)
        },
        (error: unknown) => {
          answered()
          if (isReadOnly(error)) hosts.leave(place)
          // Dropped here because the socket ends a moment later: until then, statements would be sent on it in vain.
          if (endsConnection(error)) drop(error)
          reject(error)
        }
      )
    }
    const plans = createPlanAge()
    send = statement => {
      if (prepare && plans.hasEnded())
        sendNow({ ...statement, text: DISCARD_PLANS, values: [], resolve: () => {}, reject: () => {} })
      sendNow(statement)
    }
    for (const [statement, end] of waiting) {
      end()
      send(statement)
    }
    waiting.clear()
  }

  openFirst().catch(drop)

  const accept = (statement: Statement): void => {
    if (lost) statement.reject(connectionLost())
    else if (statement.values.some(isInvalid)) statement.reject(new TypeError('the date is invalid'))
    else send(statement)
  }

  return {
    get lost() {
      return lost
    },
    send: accept,
    run: (text, values, silence) =>
      new Promise((resolve, reject) => accept({ text, values, silence, resolve, reject })),
    drop,
    async end() {
      if (opened) await session?.client.end({ timeout: 1 })
      drop()
    }
  }
}

type Parameters = Readonly<Record<string, string | number>>

const PARAMETERS: Parameters = { application_name: 'heroes', TimeZone: 'UTC', DateStyle: 'ISO' }

/** postgres.js throws while it writes an invalid date, and takes the error for the failure of the statement before. */
const isInvalid = (value: Value): boolean => value instanceof Date && Number.isNaN(value.getTime())

/** That a host answers and cannot be used says more than that others do not answer. */
const saysMore = (error: unknown): boolean => isReadOnly(error) || Object(error).code === STATEMENTS_LOST

const takesNoWrites = (): Error => Object.assign(new Error('the database takes no writes'), { code: '25006' })
