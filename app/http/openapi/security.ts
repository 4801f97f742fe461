import { grantTypes } from '../../../core/index.js'

/** What the security schemes depend on. */
export interface SecuritySetup {
  readonly publicUrl: string
  readonly readScope: string | undefined
  readonly writeScope: string | undefined
}

/** The flows of OpenAPI by the grant types of RFC 6749, with the addresses that each has. */
const FLOWS: Readonly<Record<string, { readonly name: string; readonly addresses: readonly string[] }>> = {
  password: { name: 'password', addresses: ['tokenUrl', 'refreshUrl'] },
  authorization_code: { name: 'authorizationCode', addresses: ['authorizationUrl', 'tokenUrl', 'refreshUrl'] },
  client_credentials: { name: 'clientCredentials', addresses: ['tokenUrl'] }
}

/** The security schemes of the document. Operations name them by their keys. */
export const securitySchemes = ({ publicUrl, readScope, writeScope }: SecuritySetup) => ({
  oauth2: {
    type: 'oauth2' as const,
    description:
      'An access token of `/auth/token`, sent as `Authorization: Bearer <token>` (RFC 6750). The flow with a code ' +
      'takes PKCE with `S256`.',
    flows: flows(publicUrl, scopes(readScope, writeScope))
  },
  bearer: {
    type: 'http' as const,
    scheme: 'bearer',
    description: 'The same access token, for programs that have one already.'
  },
  client: {
    type: 'http' as const,
    scheme: 'basic',
    description: 'The id and the secret of a client (RFC 7617). A public client has an empty secret.'
  }
})

const flows = (publicUrl: string, scopes: Readonly<Record<string, string>>) => {
  const tokenUrl = `${publicUrl}/auth/token`
  const addresses = new Map([
    ['authorizationUrl', `${publicUrl}/auth/code`],
    ['tokenUrl', tokenUrl],
    ['refreshUrl', tokenUrl]
  ])
  return Object.fromEntries(
    grantTypes.flatMap(type => {
      const flow = FLOWS[type]
      if (flow === undefined) return []
      return [[flow.name, { ...Object.fromEntries(flow.addresses.map(name => [name, addresses.get(name)])), scopes }]]
    })
  )
}

/** What the scopes of the settings open. One scope may be both. */
const scopes = (read: string | undefined, write: string | undefined): Readonly<Record<string, string>> => ({
  ...(read !== undefined && { [read]: 'Read heroes' }),
  ...(write !== undefined && { [write]: read === write ? 'Read and write heroes' : 'Write heroes' })
})
