import swagger from '@fastify/swagger'
import { fastify, type RouteOptions } from 'fastify'
import { routeSchema } from './answers.js'
import { headers } from './headers.js'
import { TAGS } from './operation.js'

/** What the document depends on beside the routes. */
interface Setup {
  readonly publicUrl: string
  readonly readScope: string | undefined
  readonly writeScope: string | undefined
  /** The version of the package. */
  readonly version: string
  /** In bytes: a refusal tells it. */
  readonly bodyLimit: number
}

const DESCRIPTION = `Hero records, users, and an OAuth 2.0 authorization server.

Register a user, log in for an access token, and send it with every request to the heroes.

- Bodies are JSON. Under \`/auth/\` requests are forms, as RFC 6749 has them. An unknown key of a JSON body is refused, an
  unknown parameter of a form or a query is ignored.
- An error says in words what to send instead. Under \`/auth/\` it has a code of RFC 6749 as well. A path that is not here
  is 404, and a method that a path does not have is 405 with \`Allow\`. \`HEAD\` works wherever \`GET\` does.
- An answer is compressed with gzip when \`Accept-Encoding\` names it.
- After 429 and 503, \`Retry-After\` says in how many seconds to try again.`

/** The OpenAPI document of the routes, as JSON: their own schemas, and what they declare as their operations. */
export const createDocument = async (routes: readonly RouteOptions[], setup: Setup): Promise<string> => {
  // A server of its own, which never serves: the one that does starts and validates without anything of this.
  const http = fastify({ exposeHeadRoutes: false })
  await http.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Heroes',
        version: setup.version,
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' }
      },
      servers: [{ url: setup.publicUrl }],
      tags: [...TAGS],
      components: { securitySchemes: securitySchemes(setup), headers }
    },
    // PUBLIC_URL may end in the path of a route.
    stripBasePath: false,
    convertConstToEnum: false
  })
  for (const route of routes) {
    const { url, handler, config } = route
    if (config?.operation === undefined) continue
    const method = [route.method].flat().filter(each => each !== 'HEAD')
    const schema = routeSchema(config.operation, route, setup.bodyLimit)
    http.route({ method, url, handler, config: { swaggerTransform: () => ({ url, schema }) } })
  }
  await http.ready()
  const document = withReferences(http.swagger())
  await http.close()
  return document
}

/**
 * Writes the document. A schema that has a title stands once, among the components, under that title; headers stand
 * there already.
 */
const withReferences = (document: object): string => {
  const schemas: Record<string, unknown> = {}
  const refer = (_key: string, value: unknown): unknown => {
    const { title, type, schema } = Object(value)
    if (typeof title === 'string' && type !== undefined) {
      const { title: _title, ...untitled } = Object(value)
      schemas[title] = JSON.parse(JSON.stringify(untitled, refer))
      return { $ref: `#/components/schemas/${title}` }
    }
    return schema?.header === undefined ? value : { $ref: `#/components/headers/${schema.header}` }
  }
  const referring = JSON.parse(JSON.stringify(document, refer))
  referring.components.schemas = Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
  return JSON.stringify(referring)
}

/** The security schemes of the document. Operations name them by their keys. */
const securitySchemes = ({ publicUrl, readScope: read, writeScope: write }: Setup) => {
  const authorizationUrl = `${publicUrl}/auth/code`
  const tokenUrl = `${publicUrl}/auth/token`
  const refreshUrl = tokenUrl
  // What the scopes of the settings open. One scope may be both.
  const scopes: Readonly<Record<string, string>> = {
    ...(read !== undefined && { [read]: 'Read heroes' }),
    ...(write !== undefined && { [write]: read === write ? 'Read and write heroes' : 'Write heroes' })
  }
  return {
    oauth2: {
      type: 'oauth2' as const,
      description:
        'An access token of `/auth/token`, sent as `Authorization: Bearer <token>` (RFC 6750). The flow with a code ' +
        'takes PKCE with `S256`.',
      // The flows that OpenAPI has names for.
      flows: {
        password: { tokenUrl, refreshUrl, scopes },
        authorizationCode: { authorizationUrl, tokenUrl, refreshUrl, scopes },
        clientCredentials: { tokenUrl, scopes }
      }
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
  }
}
