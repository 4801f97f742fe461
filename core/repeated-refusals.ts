import { type ClientCredentials, couldBeSecret } from './client-authentication.js'
import type { Client } from './model.js'
import type { AllPorts } from './ports.js'
import { createRecent } from './recent.js'
import { LONGEST_SCOPE } from './scope.js'
import type { Throttle } from './throttle.js'
import type { TokenRequest } from './token-request.js'
import { normalizeCredentials } from './users.js'

/** Refuses logins by password at the cost of no look-up, if the same were refused a moment ago. */
export interface RepeatedRefusals {
  /**
   * Throws `too_many_attempts`, and tells `login.throttled`, for a request whose client had a login refused with the same
   * secret and scope, and for whose username and address a refusal is remembered.
   */
  refuseAgain(candidates: readonly ClientCredentials[], request: TokenRequest): Promise<void>
  /** Notes that a login of this authenticated client was refused with `too_many_attempts`. */
  remember(candidates: readonly ClientCredentials[], request: TokenRequest, client: Client): Promise<void>
}

export const createRepeatedRefusals = (
  { secrets, clock }: Pick<AllPorts, 'secrets' | 'clock'>,
  throttle: Pick<Throttle, 'refuseAgain'>
): RepeatedRefusals => {
  const clients = createRecent<Client>()

  /** By whom and for which scope a login is tried. Requests with the same key are judged alike, in every step before the throttle. */
  const keyOf = async (
    candidates: readonly ClientCredentials[],
    { grantType, scope = '' }: TokenRequest
  ): Promise<string | undefined> => {
    const [client, ...others] = candidates
    if (grantType !== 'password' || client === undefined || others.length > 0) return undefined
    const { id, secret = '' } = client
    if (!couldBeSecret(secret) || scope.length > LONGEST_SCOPE) return undefined
    return secrets.digest(JSON.stringify([id, secret, scope]))
  }

  return {
    async refuseAgain(candidates, request) {
      const { username, password } = request
      const now = clock.now()
      if (username === undefined || password === undefined || !clients.holdsAny(now)) return
      const key = await keyOf(candidates, request)
      const client = key && clients.recall(key, now)
      const credentials = client && normalizeCredentials({ username, password })
      if (credentials) await throttle.refuseAgain(client, credentials.username, request)
    },

    async remember(candidates, request, client) {
      const key = await keyOf(candidates, request)
      if (key !== undefined) clients.remember(key, client, clock.now())
    }
  }
}
