import type { Ask } from './clock.js'
import { isReadOnly, isRefusal, mayDependOnEncryption, refusedConnection, refusesParameters } from './errors.js'
import type { Hosts } from './hosts.js'
import { orConnectTimeout } from './limits.js'
import { findPooling, STATEMENTS_LOST } from './pooler.js'
import { type Client, createClient } from './postgres-js.js'
import { connectionLost, type Encryption, encryptionsFor, type ServerAddress } from './socket.js'

interface OpeningOptions {
  /** False behind a pooler that gives each transaction another connection. */
  readonly prepare: boolean
  /** Settings that only this connection's own backend may have. */
  readonly limits: StartParameters
  readonly readClock: (ask: Ask) => Promise<void>
  /** Aborted: ends the connection at once, and no further host is tried. */
  readonly signal: AbortSignal
  /** Called when the connection ends, once it was open. */
  readonly onEnd: () => void
}

type StartParameters = Readonly<Record<string, string | number>>

const PARAMETERS: StartParameters = { application_name: 'heroes', TimeZone: 'UTC', DateStyle: 'ISO' }

/** A way to reach a host. */
interface Way {
  readonly address: ServerAddress
  readonly encryption: Encryption
  /** Whether the limits are told at the start of the connection. */
  readonly withLimits: boolean
}

/** Opens a connection to the first host that is good enough. Rejects with the error that says most of why there is none. */
export const openOnFirst = async (hosts: Hosts, options: OpeningOptions) => {
  let failure: unknown
  for (const address of hosts.inOrder()) {
    for (const encryption of encryptionsFor(hosts.tls, address)) {
      try {
        return { client: await open(hosts, { address, encryption, withLimits: options.prepare }, options), address }
      } catch (error) {
        if (options.signal.aborted) throw connectionLost()
        if (failure === undefined || weight(error) > weight(failure)) failure = error
        if (!mayDependOnEncryption(error)) break
      }
    }
    hosts.failed(address)
  }
  throw refusedConnection(failure)
}

/**
 * How much an error says of why no host can be used: most, that a host takes no writes or is behind a pooler that cannot be
 * used; then, that it refuses the service; least, that it does not answer.
 */
const weight = (error: unknown): number => {
  if (isReadOnly(error) || Object(error).code === STATEMENTS_LOST) return 2
  return isRefusal(error) ? 1 : 0
}

/** Most poolers refuse limits at the start of a connection: they cannot keep those of their clients apart. */
const open = (hosts: Hosts, way: Way, options: OpeningOptions): Promise<Client> =>
  attempt(hosts, way, options).catch((error: unknown) => {
    if (options.signal.aborted || !way.withLimits || !refusesParameters(error)) throw error
    return attempt(hosts, { ...way, withLimits: false }, options)
  })

/** What a server reports by itself from PostgreSQL 14 on when it becomes a standby, or takes no writes by default. */
const REPORTED = new Set(['in_hot_standby', 'default_transaction_read_only'])

const attempt = async (hosts: Hosts, way: Way, options: OpeningOptions): Promise<Client> => {
  const { address, encryption, withLimits } = way
  const { prepare, limits, readClock, signal, onEnd } = options
  let opened = false
  const common = { address, encryption, prepare }
  const client = createClient(hosts, {
    ...common,
    parameters: { ...PARAMETERS, ...(withLimits && limits) },
    onEnd: () => opened && onEnd(),
    onReport: (name, value) => opened && REPORTED.has(name) && value === 'on' && hosts.leave(address)
  })
  signal.addEventListener('abort', client.destroy, { once: true })
  const limit = hosts.connectMilliseconds
  try {
    const state = await orConnectTimeout(limit, readServer(client, readClock))
    if (hosts.target === 'primary' ? state.standby : hosts.target === 'read-write' && state.readOnly) {
      hosts.leave(address)
      throw Object.assign(new Error('the database takes no writes'), { code: '25006' })
    }
    if (prepare && state.pooled) {
      const openOther = () => createClient(hosts, { ...common, parameters: PARAMETERS })
      const pooling = await hosts.pooling(address, () => findPooling(client, openOther(), limit))
      // A backend that others use as well is left as it is.
      if (pooling === 'session') await orConnectTimeout(limit, client.run(settingAll(limits)))
    }
    opened = true
    return client
  } catch (error) {
    signal.removeEventListener('abort', client.destroy)
    client.destroy()
    throw error
  }
}

const settingAll = (limits: StartParameters): string =>
  Object.entries(limits)
    .map(([name, value]) => `set ${name} = '${value}'`)
    .join(';')

/** What a server says of itself. */
const SERVER = `
  select pg_is_in_recovery(), current_setting('transaction_read_only')::boolean, pg_backend_pid()`

/** `pooled`: another process than the one that runs the statements has answered the connection. */
const readServer = async (client: Client, readClock: OpeningOptions['readClock']) => {
  const { rows, pid } = await client.run(SERVER)
  const [[standby, readOnly, backend] = []] = rows
  // By itself: the first statement's round trip has the whole opening of the connection in it.
  await readClock(async statement => (await client.run(statement)).rows)
  return { standby: standby === true, readOnly: readOnly === true, pooled: backend !== pid }
}
