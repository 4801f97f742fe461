import postgres from 'postgres'
import { LIMITS } from './limits.js'
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

/** What is to be known of a connection to a host. */
export interface HostConnection {
  readonly lost: boolean
  readonly idle: boolean
  /** Ends the connection at once and rejects its running statement. */
  drop(): void
}

export type Hosts = ReturnType<typeof createHosts>

/** The hosts of one database, and the connections that a process has to each. */
export const createHosts = (url: string, options: HostsOptions) => {
  // postgres.js would read it, refuse libpq's `any`, and end connections on which this adapter decides.
  delete process.env.PGTARGETSESSIONATTRS
  const { host, port, database } = postgres(url, { max: 1 }).options
  // postgres.js does not decode it.
  const [, path] = /^[^?#]*?:\/\/[^/?#]*\/([^?#]+)/.exec(url) ?? []
  let order = options.hosts ?? host.map((name, index) => ({ host: name, port: Number(port[index]) }))
  const target =
    options.target ?? readParameter(url, 'target_session_attrs', TARGETS) ?? (order.length > 1 ? 'read-write' : 'any')
  let connections: readonly { readonly at: ServerAddress; readonly connection: HostConnection }[] = []
  const dropThose = (address: ServerAddress, which: (connection: HostConnection) => boolean): void => {
    for (const { at, connection } of connections) if (at === address && which(connection)) connection.drop()
  }

  const poolings = new Map<ServerAddress, Promise<Pooling>>()
  const failed = (address: ServerAddress): void => {
    poolings.delete(address)
    order = [...order.filter(other => other !== address), address]
  }

  return {
    /** The user, the password and the `options` of every connection. */
    url,
    database: path === undefined ? database : decodeURIComponent(path),
    target,
    tls: options.tls ?? { mode: readParameter(url, 'sslmode', SSL_MODES) ?? 'prefer' },
    /** How long an attempt at a host may take. */
    connectMilliseconds: (options.connectTimeoutSeconds ?? LIMITS.connect / 1000) * 1000,
    /** The order in which they are to be tried: as they were given, but those that failed come last, the latest last. */
    inOrder: () => order,
    failed,
    /** Tells of a new connection to the host. */
    opened(address: ServerAddress, connection: HostConnection): void {
      connections = [...connections.filter(({ connection }) => !connection.lost), { at: address, connection }]
    },
    /** Tries a host that takes no writes last. Drops every connection to it, unless the target is any host. */
    leave(address: ServerAddress): void {
      failed(address)
      if (target !== 'any') dropThose(address, () => true)
    },
    /** Drops the idle connections to a host that has stopped answering. Each of the others notices that by itself. */
    leaveIdle(address: ServerAddress): void {
      failed(address)
      dropThose(address, ({ idle }) => idle)
    },
    /** How the pooler at this address works, found out by `find` unless that is known since the host last failed. */
    pooling(address: ServerAddress, find: () => Promise<Pooling>): Promise<Pooling> {
      const pooling = poolings.get(address) ?? find()
      poolings.set(address, pooling)
      return pooling
    }
  }
}

const readParameter = <T extends string>(url: string, name: string, allowed: readonly T[]): T | undefined => {
  const given = new RegExp(`[?&]${name}=([^&]*)`).exec(url)?.[1]
  if (given === undefined) return undefined
  const value = allowed.find(word => word === given)
  if (value === undefined) throw new TypeError(`${name} must be one of ${allowed.join(', ')}`)
  return value
}
