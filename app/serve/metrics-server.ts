import { buildMetricsServer, type Figures } from '../http/server.js'
import type { Settings } from '../settings.js'
import { listen } from './listen.js'
import type { ProcessLog } from './log.js'

/** Listens on `METRICS_PORT`. Resolves to what ends that. Rejects as {@link listen} does. */
export const serveMetrics = async (
  read: () => Promise<Figures>,
  { host, bodyLimit, bodyMemory, metricsPort = 0 }: Settings,
  log: ProcessLog
): Promise<() => Promise<void>> => {
  const http = buildMetricsServer({ bodyLimit, bodyMemory, log: { ...log, followRequest: undefined } }, read)
  const url = await listen(http, host, { name: 'METRICS_PORT', port: metricsPort })
  log.logger.info({ host, port: Number(new URL(url).port) }, 'metrics listening')
  return async () => http.close()
}
