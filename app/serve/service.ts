import { compose } from '../compose.js'
import { buildServer, type Http, type ServerOptions } from '../http/server.js'
import type { Settings } from '../settings/settings.js'
import { isForTrials } from './first-client.js'

/** The base URL that users see, of a service that listens on `port`. */
export const publicUrlOf = ({ publicUrl }: Settings, port: number): string => publicUrl ?? `http://localhost:${port}`

/** The server of a service with these settings. It does not listen. `others`: what a server has beside them. */
export const createServer = (settings: Settings, others: ServerOptions & { readonly publicUrl: () => string }): Http =>
  buildServer({ ...settings, ...others, callbackPage: isForTrials(settings) })

/** The OpenAPI document of a service with these settings, as JSON. No database is opened. */
export const openApi = async (settings: Settings): Promise<string> => {
  const { createUseCases } = await compose({ ...settings, database: { kind: 'memory' } })
  const useCases = createUseCases()
  const http = createServer(settings, { useCases, publicUrl: () => publicUrlOf(settings, settings.port) })
  const { payload } = await http.inject('/openapi.json')
  await http.close()
  return payload
}
