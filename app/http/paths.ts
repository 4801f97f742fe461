import type { FastifyContextConfig, FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'

/**
 * `json` is `{"error": text}`, `oauth` the object of RFC 6749 section 5.2, `page` a page for a person who signs in somewhere,
 * and `account page` one for a person who looks at their own account.
 */
export type ErrorForm = 'json' | 'oauth' | PageForm
export type PageForm = 'page' | 'account page'

export const isPage = (form: ErrorForm): form is PageForm => form === 'page' || form === 'account page'

declare module 'fastify' {
  /** What a route declares beside its handler. openapi/operation.ts adds `operation`. */
  interface FastifyContextConfig {
    /** Whether pages of the listed origins may call the route. False by default. */
    cors?: boolean
    /** The form of an error's body, which a group of routes has in common; `json` by default. */
    errorForm?: ErrorForm
    /** Advice to the client whose answer comes too late. */
    whenLate?: string
    /** Of a route with a wildcard: whether there is anything at this path, which has no query. */
    hasPath?: (path: string) => boolean
    /** What caches are told of every answer that says nothing else, refusals too. */
    cacheControl?: string
  }
}

interface Path {
  readonly pattern: RegExp
  readonly methods: Set<string>
  /** A route of the path. Hooks may still replace its `config`. */
  readonly route: RouteOptions
}

const pathsOfServers = new WeakMap<FastifyInstance['server'], Map<string, Path>>()

const pathsOf = (server: FastifyInstance['server']): Map<string, Path> => {
  const paths = pathsOfServers.get(server) ?? new Map<string, Path>()
  pathsOfServers.set(server, paths)
  return paths
}

/** Notes the paths of the routes that are registered from now on. */
export const notePaths = (http: Pick<FastifyInstance, 'server' | 'addHook'>): void => {
  const paths = pathsOf(http.server)
  http.addHook('onRoute', route => {
    const path = paths.get(route.url) ?? { pattern: patternOf(route.url), methods: new Set(), route }
    for (const method of [route.method].flat()) path.methods.add(method)
    paths.set(route.url, path)
  })
}

const patternOf = (url: string): RegExp =>
  new RegExp(`^${url.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll(/:\w+/g, '[^/]+')}$`)

const pathOf = (server: FastifyInstance['server'], url: string): Path | undefined => {
  const target = url.replace(/[?#].*/s, '')
  return [...pathsOf(server).values()].find(
    ({ pattern, route }) => pattern.test(target) && (route.config?.hasPath?.(target) ?? true)
  )
}

/** The methods that the path of the request has; none where there is no such path. */
export const methodsAt = (request: FastifyRequest): readonly string[] => {
  const methods = pathOf(request.server.server, request.url)?.methods
  return request.server.supportedMethods.filter(method => methods?.has(method))
}

/** What the route of the request declares, or where the path lacks the method, what another route of the path does. */
export const configAt = (request: FastifyRequest): FastifyContextConfig =>
  (request.is404 ? pathOf(request.server.server, request.url)?.route.config : request.routeOptions.config) ?? {}

/** The form of errors at a path, whether or not it has a route: under `/auth/` it is OAuth's then. */
export const errorFormAt = (server: FastifyInstance['server'], url: string): ErrorForm =>
  pathOf(server, url)?.route.config?.errorForm ?? (url.startsWith('/auth/') ? 'oauth' : 'json')
