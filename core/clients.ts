import { isClientId, SECRET_MAX } from './client-authentication.js'
import { DomainError } from './errors.js'
import { defaultGrantTypes, grantTypes as knownGrantTypes } from './grant-types.js'
import { secondsAfter } from './instants.js'
import type { Client } from './model.js'
import type { AllPorts, ClientChanges } from './ports.js'
import { isRedirectUri } from './redirect-uri.js'
import { isScopeToken } from './scope.js'
import { requireText } from './text.js'

/**
 * What a client is registered with (RFC 6749 section 2). By default it has no scope and no redirect URI, without which it
 * cannot use the login page, and {@link defaultGrantTypes}; it must send `state`, and a PKCE challenge if it is public.
 */
export interface NewClient extends ClientChanges {
  readonly id: string
  /**
   * Without it the client is public. `generate` draws a random secret, and a text is the secret itself: it has 24
   * characters or more.
   */
  readonly secret?: string | undefined | { readonly generate: true }
}

/** What is done with the clients that are registered. */
export interface ClientUseCases {
  /** Registers a client. Its secret can be read in this answer alone. Throws `invalid_input` and `conflict`. */
  addClient(client: NewClient): Promise<{ readonly client: Client; readonly secret: string | undefined }>
  /** Every client, in the order of the code points of their ids. */
  listClients(): Promise<readonly Client[]>
  /** Throws `not_found`. */
  findClient(id: string): Promise<Client>
  /** Throws `invalid_input` and `not_found`. */
  changeClient(id: string, changes: ClientChanges): Promise<Client>
  /**
   * Replaces the secret by `secret`, or by a random one when `secret` is undefined, and returns the new secret. The old
   * one stays valid for `keepOldSeconds`, an integer from 0 to 999,999,999 and 0 by default. Throws `invalid_input`, and
   * `not_found` for an unknown or public client.
   */
  rotateSecret(id: string, secret?: string | undefined, keepOldSeconds?: number): Promise<string>
  /** Removes the client with all its codes and tokens. Throws `not_found`. */
  removeClient(id: string): Promise<void>
}

export const createClientUseCases = ({ clients, secrets, clock, events }: AllPorts): ClientUseCases => {
  const find = async (id: string): Promise<Client> => {
    const client = isClientId(id) ? await clients.find(id) : undefined
    if (client === undefined) throw noSuchClient()
    return client
  }

  return {
    async addClient({
      id,
      secret: wanted,
      redirectUris = [],
      allowedScopes = [],
      grantTypes = defaultGrantTypes,
      name,
      requirePkce = wanted === undefined,
      requireState = true
    }) {
      if (!isClientId(id)) throw invalid('a client id is 1 to 255 of A-Z a-z 0-9 . _ ~ -')
      const changes = requireChanges({ redirectUris, allowedScopes, grantTypes, name, requirePkce, requireState })
      const secret = isGenerated(wanted) ? await secrets.random() : wanted
      const secretDigest = secret === undefined ? undefined : await secrets.digest(requireSecret(secret))
      const client: Client = { id, secretDigest, previousSecret: undefined, ...changes }
      requireFitting(client)
      if (!(await clients.insert(client))) throw new DomainError('conflict', 'a client with this id exists')
      events.emit({ event: 'client.added', client: id })
      return { client, secret }
    },

    listClients: () => clients.list(),

    findClient: find,

    async changeClient(id, changes: ClientChanges & Partial<Pick<Client, 'id' | 'secretDigest' | 'previousSecret'>>) {
      // The types allow a whole client. What of it no change may touch stays behind.
      const { id: _id, secretDigest: _digest, previousSecret: _previous, ...changeable } = changes
      const wanted = requireChanges<ClientChanges>(changeable)
      const { grantTypes = [] } = wanted
      requireFitting({ ...(await find(id)), grantTypes })
      const client = await clients.update(id, wanted)
      if (client === undefined) throw noSuchClient()
      events.emit({ event: 'client.changed', client: id })
      return client
    },

    async rotateSecret(id, given, keepOldSeconds = 0) {
      if (!Number.isInteger(keepOldSeconds) || keepOldSeconds < 0 || keepOldSeconds > KEEP_OLD_MAX) {
        throw invalid(`keepOldSeconds must be an integer from 0 to ${KEEP_OLD_MAX}`)
      }
      const secret = given === undefined ? await secrets.random() : requireSecret(given)
      const keepUntil = keepOldSeconds === 0 ? undefined : secondsAfter(clock.now(), keepOldSeconds)
      if (!isClientId(id) || !(await clients.rotateSecret(id, await secrets.digest(secret), keepUntil))) {
        throw new DomainError('not_found', 'no confidential client has this id')
      }
      events.emit({ event: 'client.secret_rotated', client: id })
      return secret
    },

    async removeClient(id) {
      if (!isClientId(id) || !(await clients.remove(id))) throw noSuchClient()
      events.emit({ event: 'client.removed', client: id })
    }
  }
}

/** Some 30 years. A `Date` has no instant that is far beyond. */
const KEEP_OLD_MAX = 999_999_999

/** The changes, with each redirect URI, scope and grant type once. Throws `invalid_input`. */
const requireChanges = <T extends ClientChanges>(changes: T): T => {
  const { redirectUris, allowedScopes, grantTypes, name } = changes
  if (redirectUris !== undefined && !redirectUris.every(isRedirectUri)) {
    throw invalid(
      'a redirect URI is absolute and without fragment: https, or http on 127.0.0.1, [::1] or localhost, or a private-use scheme with a dot in it'
    )
  }
  if (allowedScopes !== undefined && !allowedScopes.every(isScopeToken)) {
    throw invalid('a scope is printable ASCII without space, quote and backslash')
  }
  if (grantTypes !== undefined && !grantTypes.every(type => knownGrantTypes.includes(type))) {
    throw invalid(`a grant type is one of ${knownGrantTypes.join(', ')}`)
  }
  if (name !== undefined) requireText('name', name, 1, 255)
  return {
    ...changes,
    ...(redirectUris && { redirectUris: [...new Set(redirectUris)] }),
    ...(allowedScopes && { allowedScopes: [...new Set(allowedScopes)] }),
    ...(grantTypes && { grantTypes: [...new Set(grantTypes)] })
  }
}

/**
 * RFC 6749 section 4.4 keeps `client_credentials` for confidential clients. RFC 9700 section 4.15: what such a client
 * is called in an introspection must not look like the id of a user.
 */
const requireFitting = ({ id, secretDigest, grantTypes }: Client): void => {
  if (!grantTypes.includes('client_credentials')) return
  if (secretDigest === undefined) throw invalid('client_credentials is for confidential clients')
  if (/^[0-9]+$/.test(id)) throw invalid('client_credentials is for clients whose id is not of digits alone')
}

const isGenerated = (wanted: NewClient['secret']): wanted is { readonly generate: true } =>
  Object(wanted).generate === true

/** RFC 6749 appendix A.2. Clients encode other characters in Basic credentials each in a way of its own. */
const requireSecret = (secret: string): string => {
  if (!/^[\x20-\x7e]*$/.test(secret)) {
    throw invalid('secret holds a character that is not printable ASCII: leave it out')
  }
  return requireText('secret', secret, 24, SECRET_MAX)
}

const invalid = (message: string): DomainError => new DomainError('invalid_input', message)

const noSuchClient = (): DomainError => new DomainError('not_found', 'no client has this id')
