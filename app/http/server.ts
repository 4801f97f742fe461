import type { FastifyInstance, RouteOptions } from 'fastify'
import { defaultPolicy, type PolicyChanges, type UseCases } from '../../core/index.js'
import { defaultBodyLimit, defaultBodyMemory, defaultKeepAliveSeconds, defaultServiceName } from '../defaults.js'
import { version } from '../version.js'
import { LONGEST_BODY } from './bodies/json.js'
import { openToOrigins } from './cors.js'
import type { LogFailure } from './errors.js'
import { createHttp, type Http, type HttpOptions, type HttpPlugin, type Log, type TypeBox } from './http.js'
import { createErrorPage } from './pages/error-page.js'
import { accountRoutes } from './routes/account.js'
import { authorizeRoutes } from './routes/authorize.js'
import { callbackRoutes } from './routes/callback.js'
import { docsRoutes } from './routes/docs.js'
import { healthRoutes } from './routes/health.js'
import { heroRoutes } from './routes/heroes.js'
import { introspectionRoutes } from './routes/introspection.js'
import { meRoute } from './routes/me.js'
import { metadataRoutes } from './routes/metadata.js'
import { openApiRoutes } from './routes/openapi.js'
import { registerRoutes } from './routes/register.js'
import { revocationRoutes } from './routes/revocation.js'
import { tokenRoutes } from './routes/token.js'

export { keepAddress } from './client-address.js'
export type { OnUnparsed } from './protocol/parser-errors.js'
export type { Http, Log, LogFailure, TypeBox }

/** Metrics in the text format of Prometheus. */
export interface Exposition {
  readonly contentType: string
  readonly text: string
}

/** What the server is made with. Everything but the use cases has a default: that of the setting of the same meaning. */
export interface ServerOptions
  extends Partial<Omit<HttpOptions, 'version' | 'errorPage' | 'publicUrl' | 'answerMilliseconds'>> {
  readonly useCases: UseCases
  /** Whether there is `/callback`, the page at the first client's redirect URI that shows the code. Only for trials. */
  readonly callbackPage?: boolean | undefined
  /** Whether the hero endpoints ask for a bearer token; true by default. */
  readonly protectHeroes?: boolean | undefined
  /** The scope that reading heroes needs, if any. */
  readonly readScope?: string | undefined
  /** The scope that writing heroes needs, if any. */
  readonly writeScope?: string | undefined
  /**
   * Whether a search for this text reads every name. Two such searches or long lists run at a time. By default no search
   * does.
   */
  readonly isSlowSearch?: ((text: string) => boolean) | undefined
  /** Whether anyone may register a user at `/register`; true by default. */
  readonly registrationOpen?: boolean | undefined
  /** The policy that `createUseCases` got. The OpenAPI document tells from it how long a password must be. */
  readonly policy?: PolicyChanges | undefined
  /** The origins whose pages may call the service from a browser, as browsers write them. None by default. */
  readonly corsOrigins?: readonly string[] | undefined
  /**
   * The base URL that users see. Called at each request, because the port may be unknown before the server listens. By
   * default `http://localhost` with the port that the server listens on.
   */
  readonly publicUrl?: (() => string) | undefined
  /** What the pages call the service; `Heroes` by default. */
  readonly serviceName?: string | undefined
  /** Where the login page sends people without an account, if anywhere. */
  readonly signupUrl?: string | undefined
  /** Where the login page sends people who have forgotten their password, if anywhere. */
  readonly resetUrl?: string | undefined
  /** Rejects with `unavailable` while the service should get no requests. */
  readonly ready?: (() => Promise<void>) | undefined
}

const NO_LOG: Log = { requestFailed: () => {}, logger: { warn: () => {} }, followRequest: undefined }

/** Builds the HTTP server with every endpoint. It does not listen. */
export const buildServer = ({
  useCases,
  bodyLimit = defaultBodyLimit,
  bodyMemory = defaultBodyMemory(bodyLimit),
  keepAliveSeconds = defaultKeepAliveSeconds,
  trustProxy = false,
  log = NO_LOG,
  callbackPage = false,
  protectHeroes = true,
  readScope,
  writeScope,
  isSlowSearch = () => false,
  registrationOpen = true,
  policy: { passwordMinLength = defaultPolicy.passwordMinLength } = {},
  corsOrigins = [],
  publicUrl: knownUrl,
  serviceName = defaultServiceName,
  signupUrl,
  resetUrl,
  ready = async () => {},
  ...limits
}: ServerOptions): Http => {
  const errorPage = createErrorPage(serviceName)
  const publicUrl = knownUrl ?? ((): string => localUrl(http))
  const http: Http = createHttp({
    ...limits,
    bodyLimit: Math.min(bodyLimit, LONGEST_BODY),
    bodyMemory,
    keepAliveSeconds,
    trustProxy,
    log,
    version,
    errorPage,
    publicUrl
  })
  const routes: RouteOptions[] = []
  http.addHook('onRoute', route => {
    routes.push(route)
  })
  openToOrigins(http, corsOrigins)
  const service = { name: serviceName, signupUrl, resetUrl }
  const addRoutes: HttpPlugin = (http, _options, done) => {
    heroRoutes(http, useCases, { protect: protectHeroes, readScope, writeScope, publicUrl, isSlowSearch })
    meRoute(http, useCases)
    registerRoutes(http, useCases, { isOpen: registrationOpen, passwordMinLength })
    tokenRoutes(http, useCases, publicUrl, corsOrigins)
    authorizeRoutes(http, useCases, publicUrl, service)
    accountRoutes(http, useCases, { publicUrl, serviceName, passwordMinLength })
    revocationRoutes(http, useCases, publicUrl, corsOrigins)
    introspectionRoutes(http, useCases, publicUrl)
    if (callbackPage) callbackRoutes(http, publicUrl)
    metadataRoutes(http, publicUrl, [readScope, writeScope])
    docsRoutes(http, publicUrl)
    healthRoutes(http, ready)
    openApiRoutes(http, async () => {
      // Imported only when somebody asks for the document, so that the start takes no longer for it.
      const { createDocument } = await import('./openapi/document.js')
      return createDocument(routes, { readScope, writeScope, bodyLimit, version, publicUrl: publicUrl() })
    })
    done()
  }
  http.register(addRoutes)
  return http
}

/** `http://localhost` with the port that the server listens on, if it does. */
export const localUrl = ({ server }: Pick<FastifyInstance, 'server'>): string => {
  const { port } = Object(server.address())
  return port === undefined ? 'http://localhost' : `http://localhost:${port}`
}

/**
 * Builds the HTTP server of the metrics, which has `/metrics` and nothing else. `read` is called for each request. It
 * does not listen.
 */
export const buildMetricsServer = (
  options: Pick<HttpOptions, 'log' | 'maxConnections'>,
  read: () => Promise<Exposition>
): Http => {
  const errorPage = createErrorPage(defaultServiceName)
  const http: Http = createHttp({
    ...options,
    bodyLimit: defaultBodyLimit,
    bodyMemory: defaultBodyMemory(defaultBodyLimit),
    keepAliveSeconds: defaultKeepAliveSeconds,
    trustProxy: undefined,
    version,
    errorPage,
    publicUrl: localUrl
  })
  http.register(async http => {
    http.get('/metrics', async (_request, reply) => {
      const { contentType, text } = await read()
      return reply.type(contentType).send(text)
    })
  })
  return http
}
