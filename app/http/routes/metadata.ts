import { type TSchema, Type } from '@sinclair/typebox'
import { grantTypes } from '../../../core/index.js'
import { noSuchPath } from '../errors.js'
import type { Http } from '../http.js'
import type { Operation } from '../openapi/operation.js'
import { originForm } from '../protocol/request-head.js'

const operation: Operation = {
  operationId: 'getMetadata',
  tag: 'Service',
  summary: 'Fetch the metadata of the authorization server',
  description: 'RFC 8414: where the endpoints are and what they support, for client libraries.',
  answers: { 200: { description: 'The metadata.' } }
}

/** The path of RFC 8414 section 3. */
export const WELL_KNOWN = '/.well-known/oauth-authorization-server'

/** The metadata of RFC 8414, with the member of RFC 9207. */
export const metadataRoutes = (http: Http, publicUrl: () => string): void => {
  const schema = { response: { 200: Metadata } }
  http.get(WELL_KNOWN, { schema, config: { cors: true, operation } }, async () => metadataOf(publicUrl()))
  // RFC 8414 section 3.1: the path of the issuer stands behind the well-known one.
  http.get(`${WELL_KNOWN}/*`, { schema, config: { cors: true } }, async request => {
    const path = request.url.replace(/[?#].*/, '')
    if (path !== WELL_KNOWN + originForm(new URL(publicUrl()).pathname)) throw noSuchPath()
    return metadataOf(publicUrl())
  })
}

const metadataOf = (issuer: string): Readonly<Record<string, string | boolean | readonly string[]>> => {
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
const members = Object.entries(metadataOf('')).map(([name, member]): [string, TSchema] => [name, schemaOf(member)])
const Metadata = Type.Object(Object.fromEntries(members), { title: 'Metadata' })
