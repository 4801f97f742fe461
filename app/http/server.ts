import { createRequire } from 'node:module'
import type { RouteOptions } from 'fastify'
import type { UseCases } from '../../core/index.js'
import { openToOrigins } from './cors.js'
import { createHttp, type Http, type HttpOptions } from './http.js'
import { createErrorPage } from './pages/error-page.js'
import { authorizeRoutes } from './routes/authorize.js'
import { callbackRoutes } from './routes/callback.js'
import { docsRoutes } from './routes/docs.js'
import { healthRoutes } from './routes/health.js'
import { heroRoutes } from './routes/heroes.js'
import { metadataRoutes } from './routes/metadata.js'
import { type Figures, metricsRoutes } from './routes/metrics.js'
import { openApiRoutes } from './routes/openapi.js'
import { registerRoutes } from './routes/register.js'
import { revocationRoutes } from './routes/revocation.js'
import { tokenRoutes } from './routes/token.js'

export type { Figures }

export interface ServerOptions
  extends Pick<HttpOptions, 'bodyLimit' | 'bodyMemory' | 'trustProxy' | 'log' | 'readerMilliseconds'> {
  readonly useCases: UseCases
  /** Whether there is `/callback`, the page at the first client's redirect URI that shows the code. Only for trials. */
  readonly callbackPage?: boolean | undefined
  /** Whether the hero endpoints ask for a bearer token. */
  readonly protectHeroes: boolean
  /** The scope that reading heroes needs, if any. */
  readonly readScope: string | undefined
  /** The scope that writing heroes needs, if any. */
  readonly writeScope: string | undefined
  /** Whether anyone may register a user at `/register`. */
  readonly registrationOpen: boolean
  /** The origins whose pages may call the service from a browser, as browsers write them. */
  readonly corsOrigins?: readonly string[] | undefined
  /** The base URL that users see. Called at each request, because the port may be unknown before the server listens. */
  readonly publicUrl: () => string
  /** What the pages call the service. */
  readonly serviceName: string
  /** Where the login page sends people without an account, if anywhere. */
  readonly signupUrl: string | undefined
  /** Where the login page sends people who have forgotten their password, if anywhere. */
  readonly resetUrl: string | undefined
  /** Rejects with `unavailable` while the service should get no requests. */
  readonly ready: () => Promise<void>
}

const { version }: { version: string } = createRequire(import.meta.url)('heroes/package.json')

/** Builds the HTTP server with every endpoint. It does not listen. */
export const buildServer = (options: ServerOptions): Http => {
  const { useCases, publicUrl, ready, protectHeroes: protect, readScope, writeScope, corsOrigins = [] } = options
  const http = createHttp({ ...options, version, errorPage: createErrorPage(options.serviceName) })
  const routes: RouteOptions[] = []
  http.addHook('onRoute', route => {
    routes.push(route)
  })
  openToOrigins(http, corsOrigins)
  heroRoutes(http, useCases, { protect, readScope, writeScope, publicUrl })
  registerRoutes(http, useCases, options.registrationOpen)
  tokenRoutes(http, useCases, publicUrl, corsOrigins)
  authorizeRoutes(http, useCases, publicUrl, {
    name: options.serviceName,
    signupUrl: options.signupUrl,
    resetUrl: options.resetUrl
  })
  revocationRoutes(http, useCases, publicUrl, corsOrigins)
  if (options.callbackPage) callbackRoutes(http, publicUrl)
  metadataRoutes(http, publicUrl)
  docsRoutes(http, publicUrl)
  healthRoutes(http, ready)
  openApiRoutes(http, async () => {
    // Imported only when somebody asks for the document, so that the start takes no longer for it.
    const { createDocument } = await import('./openapi/document.js')
    return createDocument(routes, { ...options, version, publicUrl: publicUrl() })
  })
  return http
}

/** Builds the HTTP server of the figures, which has `/metrics` and nothing else. It does not listen. */
export const buildMetricsServer = (
  options: Pick<ServerOptions, 'bodyLimit' | 'bodyMemory' | 'log'>,
  read: () => Promise<Figures>
): Http => {
  const http = createHttp({ ...options, trustProxy: false, version, errorPage: createErrorPage('Heroes') })
  metricsRoutes(http, read)
  return http
}
