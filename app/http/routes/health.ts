import { Type } from '@sinclair/typebox'
import { refusals } from '../../../core/index.js'
import type { Http } from '../http.js'
import type { Operation } from '../openapi/operation.js'
import { storeRefusals } from '../refusals.js'

const Health = Type.Object({ status: Type.String() }, { title: 'Health' })

const databaseSlow = refusals.tryLater('unavailable', 'the database takes too long to answer')

const LIVE: Operation = {
  operationId: 'checkLiveness',
  tag: 'Service',
  summary: 'Ask whether the process runs',
  description: 'For the supervisor of the process.',
  answers: { 200: { description: 'It runs.', examples: { 'It runs': { status: 'live' } } } }
}

const READY: Operation = {
  operationId: 'checkReadiness',
  tag: 'Service',
  summary: 'Ask whether the service should get requests',
  description:
    'For load balancers. The service is not ready while its database is away, takes no writes or lacks its schema, ' +
    'and while it shuts down. The answer comes within two seconds.',
  answers: { 200: { description: 'It is ready.', examples: { 'It is ready': { status: 'ready' } } } },
  refusals: {
    failed: storeRefusals.failed,
    databaseAway: storeRefusals.databaseAway,
    databaseSlow,
    shuttingDown: refusals.shuttingDown
  }
}

/** Load balancers and supervisors are promised an answer within two seconds. */
const READY_MILLISECONDS = 1800

/** `ready` rejects with `unavailable` while the service should get no requests. */
export const healthRoutes = (http: Http, ready: () => Promise<void>, milliseconds = READY_MILLISECONDS): void => {
  const schema = { response: { 200: Health } }

  http.get('/health/live', { schema, config: { operation: LIVE } }, async () => ({ status: 'live' }))

  http.get('/health/ready', { schema, config: { operation: READY } }, async () => {
    await within(milliseconds, ready())
    return { status: 'ready' }
  })
}

/** Settles as the work does, or rejects with `unavailable` when the work takes longer. */
const within = async (milliseconds: number, work: Promise<void>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((_, reject) => {
    timer = setTimeout(reject, milliseconds, databaseSlow())
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
