import { type Origin, originAlone } from './events.js'
import type { Client } from './model.js'
import type { AllPorts } from './ports.js'
import { invalidClient, malformedCredentials, unauthenticated } from './refusals.js'
import { requireString } from './text.js'

/** The id and the secret that a request presents. A public client sends an empty secret or none. */
export interface ClientCredentials {
  readonly id: string
  readonly secret?: string | undefined
}

/**
 * What a request presents: the ways to read its credentials, as a header can be read in several (RFC 6749 section
 * 2.3.1). None when it has no credentials.
 */
export type PresentedCredentials = readonly ClientCredentials[] | 'malformed'

/** How a client proves who it is (RFC 6749 section 2.3). */
export interface ClientAuthentication {
  /**
   * The client to which one of the candidates belongs. Throws `invalid_client`, the same for an unknown client and a wrong
   * secret.
   */
  authenticateClient(candidates: PresentedCredentials, origin?: Origin): Promise<Client>
}

export const createClientAuthentication = ({ clients, secrets, clock, events }: AllPorts): ClientAuthentication => {
  const isSecretOf = async (client: Client, secret: string): Promise<boolean> => {
    const { secretDigest, previousSecret } = client
    if (secretDigest === undefined) return secret === ''
    // A code point has at most two code units. What is longer than any secret is not digested.
    if (secret.length > 2 * SECRET_MAX) return false
    const digest = await secrets.digest(secret)
    if (await secrets.equal(digest, secretDigest)) return true
    if (previousSecret === undefined || previousSecret.until <= clock.now()) return false
    return secrets.equal(digest, previousSecret.digest)
  }

  return {
    async authenticateClient(candidates, origin) {
      if (candidates === 'malformed' || candidates.length === 0) {
        events.emit({ event: FAILED, ...originAlone(origin), reason: 'no_credentials' })
        throw candidates === 'malformed' ? malformedCredentials() : unauthenticated()
      }
      let known: Client | undefined
      for (const { id, secret } of candidates) {
        const client = isClientId(id) ? await clients.find(id) : undefined
        if (client !== undefined && (await isSecretOf(client, requireString('a client secret', secret ?? ''))))
          return client
        known ??= client
      }
      if (known === undefined) events.emit({ event: FAILED, ...originAlone(origin), reason: 'unknown_client' })
      else events.emit({ event: FAILED, client: known.id, ...originAlone(origin), reason: 'wrong_secret' })
      throw invalidClient()
    }
  }
}

/** False for a text that cannot be the id of a registered client. The use cases then save the look-up. */
export const isClientId = (id: string): boolean => /^[A-Za-z0-9._~-]{1,255}$/.test(requireString('a client id', id))

/** Of a secret, in code points. */
export const SECRET_MAX = 1024

const FAILED = 'client.authentication_failed'
