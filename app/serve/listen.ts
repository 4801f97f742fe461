import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Http } from '../http/http.js'
import { buildMetricsServer, type Exposition } from '../http/server.js'
import { type Settings, UnusableSettingError } from '../settings/settings.js'
import type { ProcessLog } from './log.js'

/**
 * Resolves to the port on which the server listens. Rejects with an {@link UnusableSettingError} that names the setting of
 * the host or that of the port.
 */
export const listen = async (
  http: Http,
  host: string,
  port: number,
  [ofHost, ofPort] = ['HOST', 'PORT']
): Promise<number> => {
  const url = await http.listen({ host: await resolveHost(host, ofHost), port }).catch((error: unknown) => {
    throw unusable(error, /^E(?:ADDRINUSE|ACCES)$/.test(Object(error).code) ? ofPort : ofHost)
  })
  // The URL has no port where it is that of http.
  return port === 0 ? Number(new URL(url).port) : port
}

/** A port on which nobody listens. Rejects with an {@link UnusableSettingError} that names `HOST`. */
export const pickPort = async (host: string): Promise<number> => {
  const server = createServer().listen(0, await resolveHost(host))
  await once(server, 'listening').catch(error => Promise.reject(unusable(error)))
  const { port } = Object(server.address())
  server.close()
  return port
}

// An address, not a name: for `localhost` Fastify makes two listeners, and the second one lacks the parser error
// handler and the timeouts of the first.
const resolveHost = async (host: string, setting?: string): Promise<string> => {
  const found = await lookup(host, { order: 'ipv4first' }).catch(error => Promise.reject(unusable(error, setting)))
  return found.address
}

const unusable = (error: unknown, name = 'HOST'): Error => new UnusableSettingError(name, Object(error).message)

/** How long a scrape that is under way may take once the service ends. */
const LAST_SCRAPE_MILLISECONDS = 500
/** A scrape needs one connection. More would take open files from the service's clients. */
const SCRAPE_CONNECTIONS = 16

/** Listens on `METRICS_PORT`. Resolves to what ends that. Rejects as {@link listen} does. */
export const serveMetrics = async (
  read: () => Promise<Exposition>,
  { host: shared, metricsHost: host, metricsPort = 0 }: Settings,
  log: ProcessLog
): Promise<() => Promise<void>> => {
  const options = { log: { ...log, followRequest: undefined }, maxConnections: SCRAPE_CONNECTIONS }
  const http = buildMetricsServer(options, read)
  const port = await listen(http, host, metricsPort, [host === shared ? 'HOST' : 'METRICS_HOST', 'METRICS_PORT'])
  log.logger.info({ host, port }, 'metrics listening')
  return async () => {
    // A connection on which no request has come is not idle to Node, and would stay open.
    const cutOff = setTimeout(() => http.server.closeAllConnections(), LAST_SCRAPE_MILLISECONDS)
    await http.close()
    clearTimeout(cutOff)
  }
}
