import { compose } from '../compose.js'
import { buildServer } from '../http/server.js'
import type { Settings } from '../settings/settings.js'
import { isForTrials } from './first-client.js'
import { createLog } from './log.js'
import { createSecurityLog } from './security-log.js'

/** The OpenAPI document of a service with these settings, as JSON. No database is opened. */
export const openApi = async (settings: Settings): Promise<string> => {
  const log = createLog('silent', process.stderr)
  const { createUseCases, database } = await compose({ ...settings, database: { kind: 'memory' } })
  const http = buildServer({
    ...settings,
    useCases: createUseCases(createSecurityLog(log.lines)),
    log,
    publicUrl: () => settings.publicUrl ?? `http://localhost:${settings.port}`,
    ready: database.check,
    callbackPage: isForTrials(settings)
  })
  const { payload } = await http.inject('/openapi.json')
  await http.close()
  return payload
}
