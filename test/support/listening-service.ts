// The whole service in this process, on a port: for clients and browsers, which need a real address.

import type { Test } from 'tap'
import { createService, type Service, type ServiceOptions } from './service.js'
import { ADA, createClock } from './world.js'

export interface Listening extends Service {
  /** The address on which the service listens, which is its public URL and its issuer too: without a trailing slash. */
  readonly url: string
}

/** Starts the service, with the user {@link ADA} and a clock that begins at the present time. It stops when the test ends. */
export const startService = async (t: Pick<Test, 'teardown'>, options: ServiceOptions = {}): Promise<Listening> => {
  let url = ''
  const service = createService({ clock: createClock(new Date()), publicUrl: () => url, ...options })
  url = await service.http.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => service.http.close())
  await service.useCases.registerUser(ADA)
  return { ...service, url }
}
