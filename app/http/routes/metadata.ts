import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import { grantTypes } from '../../../core/index.js'
import { RESOURCE_METADATA } from '../bearer.js'
import { noSuchPath } from '../errors.js'
import type { Http } from '../http.js'
import type { Operation } from '../openapi/operation.js'
import { originForm } from '../protocol/request-head.js'

const OF_SERVER: Operation = {
  operationId: 'getMetadata',
  tag: 'Service',
  summary: 'Fetch the metadata of the authorization server',
  description: 'RFC 8414: where the endpoints are and what they support, for client libraries.',
  answers: { 200: { description: 'The metadata.' } }
}

const OF_RESOURCE: Operation = {
  operationId: 'getResourceMetadata',
  tag: 'Service',
  summary: 'Fetch the metadata of the protected resource',
  description: 'RFC 9728: which authorization server gives tokens for the heroes, for client libraries.',
  answers: { 200: { description: 'The metadata.' } }
}

/** The path of RFC 8414 section 3. */
const SERVER_METADATA = '/.well-known/oauth-authorization-server'
/** The paths that an issuer's path may stand behind. */
export const WELL_KNOWN: readonly string[] = [SERVER_METADATA, RESOURCE_METADATA]

/**
 * The metadata of RFC 8414, with the member of RFC 9207, and those of RFC 9728. `scopes` are those of reading and writing heroes,
 * where these need any.
 */
export const metadataRoutes = (http: Http, publicUrl: () => string, scopes: readonly (string | undefined)[]): void => {
  const supported = [...new Set(scopes.filter(scope => scope !== undefined))]
  const serve = (path: string, operation: Operation, response: TObject, metadata: () => Promise<Metadata>): void => {
    const schema = { response: { 200: response } }
    http.get(path, { schema, config: { cors: true, operation } }, metadata)
    // RFC 8414 section 3.1 and RFC 9728 section 3.1: the path of the URL stands behind the well-known one.
    const hasPath = (target: string): boolean => target === path + originForm(new URL(publicUrl()).pathname)
    http.get(`${path}/*`, { schema, config: { cors: true, hasPath } }, async request => {
      if (!hasPath(request.url.replace(/[?#].*/, ''))) throw noSuchPath()
      return metadata()
    })
  }
  serve(SERVER_METADATA, OF_SERVER, ServerMetadata, async () => serverMetadata(publicUrl()))
  serve(RESOURCE_METADATA, OF_RESOURCE, ResourceMetadata, async () => resourceMetadata(publicUrl(), supported))
}

const resourceMetadata = (publicUrl: string, scopes: readonly string[]): Metadata => ({
  resource: publicUrl,
  authorization_servers: [publicUrl],
  // RFC 9728 section 3.2: an empty list is left out.
  ...(scopes.length > 0 && { scopes_supported: scopes }),
  bearer_methods_supported: ['header']
})

type Metadata = Readonly<Record<string, string | boolean | readonly string[]>>

const serverMetadata = (issuer: string): Metadata => {
  const confidential = ['client_secret_basic', 'client_secret_post']
  return {
    issuer,
    authorization_endpoint: `${issuer}/auth/code`,
    token_endpoint: `${issuer}/auth/token`,
    revocation_endpoint: `${issuer}/auth/revoke`,
    introspection_endpoint: `${issuer}/auth/introspect`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: [...grantTypes],
    token_endpoint_auth_methods_supported: [...confidential, 'none'],
    revocation_endpoint_auth_methods_supported: [...confidential, 'none'],
    introspection_endpoint_auth_methods_supported: confidential,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true
  }
}

const schemaOf = (member: unknown): TSchema => {
  if (Array.isArray(member)) return Type.Array(Type.String())
  return typeof member === 'boolean' ? Type.Boolean() : Type.String()
}
const schemaWith = (metadata: Metadata, title: string): TObject =>
  Type.Object(Object.fromEntries(Object.entries(metadata).map(([name, member]) => [name, schemaOf(member)])), { title })
const ServerMetadata = schemaWith(serverMetadata(''), 'Metadata')
const ResourceMetadata = Type.Composite(
  [
    schemaWith(resourceMetadata('', []), ''),
    Type.Object({ scopes_supported: Type.Optional(Type.Array(Type.String())) })
  ],
  { title: 'ResourceMetadata' }
)
