import { buildMetricsServer, type Figures } from '../http/server.js'
import type { Settings } from '../settings/settings.js'
import { listen } from './listen.js'
import type { ProcessLog } from './log.js'

/** How long a scrape that is under way may take once the service ends. */
const LAST_SCRAPE_MILLISECONDS = 500

/** Listens on `METRICS_PORT`. Resolves to what ends that. Rejects as {@link listen} does. */
export const serveMetrics = async (
  read: () => Promise<Figures>,
  { host, bodyLimit, bodyMemory, metricsPort = 0 }: Settings,
  log: ProcessLog
): Promise<() => Promise<void>> => {
  const http = buildMetricsServer({ bodyLimit, bodyMemory, log: { ...log, followRequest: undefined } }, read)
  const url = await listen(http, host, { name: 'METRICS_PORT', port: metricsPort })
  log.logger.info({ host, port: Number(new URL(url).port) }, 'metrics listening')
  return async () => {
    // A connection on which no request has come is not idle to Node, and would stay open.
    const cutOff = setTimeout(() => http.server.closeAllConnections(), LAST_SCRAPE_MILLISECONDS)
    await http.close()
    clearTimeout(cutOff)
  }
}
