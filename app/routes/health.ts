import { Type } from '@sinclair/typebox'
import type { Http } from '../http.js'

const Health = Type.Object({ status: Type.String() })

/** `ready` rejects with `unavailable` while the service should get no requests. */
export const healthRoutes = (http: Http, ready: () => Promise<void>): void => {
  const schema = { response: { 200: Health } }

  http.get('/health/live', { schema }, async () => ({ status: 'live' }))

  http.get('/health/ready', { schema }, async () => {
    await ready()
    return { status: 'ready' }
  })
}
