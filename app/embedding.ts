// The entry `heroes/app`: the HTTP server for a process of the caller's own, by itself or in the caller's Fastify.

import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { WELL_KNOWN } from './http/routes/metadata.js'
import { buildServer, keepAddress, localUrl, type ServerOptions } from './http/server.js'

export {
  buildServer,
  type Http,
  type Log,
  type LogFailure,
  type OnUnparsed,
  type ServerOptions,
  type TypeBox
} from './http/server.js'
export { createLog, createSecurityLog, type ProcessLog, type SecurityLog, type UnparsedRequest } from './serve/log.js'

/** What the plugin takes: the options of {@link buildServer}, and where the service lies. */
export interface HeroesPluginOptions extends ServerOptions {
  /** Where all paths of the service begin, such as `/identity`. Slashes at its end change nothing. */
  readonly prefix?: string
}

/**
 * Serves every request below the prefix, in a Fastify server of the host's own. The service is a server within, to which
 * the host hands the requests before it has read a body: its parsers, hooks, errors and schemas touch nothing of the
 * host's. `publicUrl` ends in the prefix; by default it is `http://localhost` with the host's port and the prefix.
 *
 * On the host's root instance it has the metadata at the path of RFC 8414 section 3.1 as well, where the prefix stands
 * behind the well-known path.
 */
export const heroesPlugin: FastifyPluginAsync<HeroesPluginOptions> = async (
  host,
  { prefix: given = '', publicUrl, ...options }
) => {
  const prefix = withoutSlashesAtEnd(given)
  const around = withoutSlashesAtEnd(host.prefix)
  const whole = around + prefix
  const http = buildServer({ ...options, publicUrl: publicUrl ?? (() => localUrl(host) + whole) })
  await http.ready()
  host.addHook('onClose', () => http.close())
  host.server.on('connection', keepAddress)
  const handOver = (segments: number) => (request: FastifyRequest, reply: FastifyReply) => {
    reply.hijack()
    const { raw } = request
    // The host's own log may read `originalUrl` later.
    Object.assign(raw, { originalUrl: raw.url, url: withoutSegments(String(raw.url), segments) })
    http.routing(raw, reply.raw)
  }
  const inside = handOver(whole.split('/').length - 1)
  for (const url of prefix === '' ? ['/*'] : [prefix, `${prefix}/*`]) serveAll(host, url, inside)
  if (around === '' && prefix !== '') {
    for (const path of WELL_KNOWN) serveAll(host, path + prefix, handOver(0))
  }
}

// The plugin adds no context of its own: it could not reach the well-known path from within its prefix.
Object.assign(heroesPlugin, {
  [Symbol.for('skip-override')]: true,
  [Symbol.for('fastify.display-name')]: 'heroes'
})

const withoutSlashesAtEnd = (prefix: string): string => prefix.replace(/\/+$/, '')

/** Without the segments at its beginning, however they are encoded, and without the host of an absolute target. */
const withoutSegments = (target: string, segments: number): string =>
  target
    .replace(/^https?:\/\/[^/?#]*/i, '')
    .replace(new RegExp(`^(?:/[^/?]*){${segments}}`), '')
    .replace(/^(?!\/)/, '/')

type Handler = (request: FastifyRequest, reply: FastifyReply) => void

/** As an onRequest hook it comes before the host reads the body, and no handler is called after it. */
const serveAll = (host: FastifyInstance, url: string, handler: Handler): void => {
  host.route({ method: host.supportedMethods, url, onRequest: handler, handler })
}
