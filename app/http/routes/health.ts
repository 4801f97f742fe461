import { Type } from '@sinclair/typebox'
import { DomainError } from '../../../core/index.js'
import type { Http } from '../http.js'

const Health = Type.Object({ status: Type.String() }, { title: 'Health' })

/** Load balancers and supervisors are promised an answer within two seconds. */
const READY_MILLISECONDS = 1800

/** `ready` rejects with `unavailable` while the service should get no requests. */
export const healthRoutes = (http: Http, ready: () => Promise<void>, milliseconds = READY_MILLISECONDS): void => {
  const schema = { response: { 200: Health } }

  http.get('/health/live', { schema }, async () => ({ status: 'live' }))

  http.get('/health/ready', { schema }, async () => {
    await within(milliseconds, ready())
    return { status: 'ready' }
  })
}

/** Settles as the work does, or rejects with `unavailable` when the work takes longer. */
const within = async (milliseconds: number, work: Promise<void>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((_, reject) => {
    const error = new DomainError('unavailable', 'the database takes too long to answer', { retryAfterSeconds: 1 })
    timer = setTimeout(reject, milliseconds, error)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
