import postgres from 'postgres'
import type { Pooling } from './pooler.js'
import { type ServerAddress, SSL_MODES, type Tls } from './socket.js'

/** Which servers are good enough, in the words of libpq. */
const TARGETS = ['any', 'read-write', 'primary'] as const

export interface HostsOptions {
  /** By default those of the URL, as postgres.js reads it. */
  readonly hosts?: readonly ServerAddress[] | undefined
  /** By default the URL's `sslmode`, or else `prefer`. */
  readonly tls?: Tls | undefined
  /** By default the URL's `target_session_attrs`, or else `read-write` where there are several hosts. */
  readonly target?: (typeof TARGETS)[number] | undefined
  /** How long a host may take until it has answered a first statement. 2 by default. */
  readonly connectTimeoutSeconds?: number | undefined
}

/** A connection that stands on a host. */
export interface Guest {
  isIdle(): boolean
  drop(): void
}

/** The hosts of one database, and the connections that a process has to each. */
export interface Hosts {
  /** The user, the password and the `options` of every connection. */
  readonly url: string
  readonly database: string
  readonly tls: Tls
  readonly target: (typeof TARGETS)[number]
  readonly connectTimeoutSeconds: number
  /** The order in which they are to be tried: as they were given, but those that failed come last, the latest last. */
  inOrder(): readonly ServerAddress[]
  failed(address: ServerAddress): void
  /** Tells of a connection to the host, until the returned function is called. */
  enter(address: ServerAddress, guest: Guest): () => void
  /** Tries a host that takes no writes last, and drops every connection to it. Whoever takes any host keeps the others. */
  leave(address: ServerAddress): void
  /** Drops the idle connections to a host that has stopped answering. Each of the others notices that by itself. */
  leaveIdle(address: ServerAddress): void
  /** How the pooler at this address works, found out by `find` unless that is known. */
  pooling(address: ServerAddress, find: () => Promise<Pooling>): Promise<Pooling>
  /** After a prepared statement was lost: the pooler may work in another way since. */
  forgetPooling(address: ServerAddress): void
}

export const createHosts = (url: string, options: HostsOptions): Hosts => {
  // postgres.js would read it, refuse libpq's `any`, and end connections on which this adapter decides.
  delete process.env.PGTARGETSESSIONATTRS
  const { host, port, database } = postgres(url, { max: 1 }).options
  // postgres.js does not decode it.
  const [, path] = /^[^?#]*?:\/\/[^/?#]*\/([^?#]+)/.exec(url) ?? []
  let order = options.hosts ?? host.map((name, index) => ({ host: name, port: Number(port[index]) }))
  const target =
    options.target ?? readParameter(url, 'target_session_attrs', TARGETS) ?? (order.length > 1 ? 'read-write' : 'any')
  const guests = new Set<{ readonly at: ServerAddress; readonly guest: Guest }>()
  const guestsOf = (address: ServerAddress): readonly Guest[] =>
    [...guests].filter(({ at }) => at === address).map(({ guest }) => guest)

  const poolings = new Map<ServerAddress, Promise<Pooling>>()
  const forgetPooling = (address: ServerAddress): void => void poolings.delete(address)

  const failed = (address: ServerAddress): void => {
    order = [...order.filter(other => other !== address), address]
  }

  return {
    url,
    database: path === undefined ? database : decodeURIComponent(path),
    target,
    tls: options.tls ?? { mode: readParameter(url, 'sslmode', SSL_MODES) ?? 'prefer' },
    connectTimeoutSeconds: options.connectTimeoutSeconds ?? 2,
    inOrder: () => order,
    failed,
    enter(address, guest) {
      const entry = { at: address, guest }
      guests.add(entry)
      return () => void guests.delete(entry)
    },
    leave(address) {
      failed(address)
      if (target === 'any') return
      for (const guest of guestsOf(address)) guest.drop()
    },
    leaveIdle(address) {
      failed(address)
      for (const guest of guestsOf(address)) if (guest.isIdle()) guest.drop()
    },
    pooling(address, find) {
      const known = poolings.get(address)
      if (known !== undefined) return known
      const found = find()
      poolings.set(address, found)
      found.catch(() => forgetPooling(address))
      return found
    },
    forgetPooling
  }
}

const readParameter = <T extends string>(url: string, name: string, allowed: readonly T[]): T | undefined => {
  const given = new RegExp(`[?&]${name}=([^&]*)`).exec(url)?.[1]
  if (given === undefined) return undefined
  const value = allowed.find(word => word === given)
  if (value === undefined) throw new TypeError(`${name} must be one of ${allowed.join(', ')}`)
  return value
}
