import { UNCACHED, vary } from './headers.js'
import type { Http } from './http.js'
import { configAt, methodsAt } from './paths.js'

/** What a page may read beside the headers that every page may read. */
const EXPOSED = { 'access-control-expose-headers': 'link, retry-after, www-authenticate' }

/** What a preflight is told beside the methods and the headers: how long that holds, in seconds, and for the browser alone. */
const PREFLIGHT = { 'access-control-max-age': '3600', ...UNCACHED }

/** Any header, for a preflight that asks for none. `*` does not stand for `authorization`. */
const ANY_HEADER = 'authorization, *'

/**
 * Lets browsers show the answers of routes with `cors` to pages of these origins (CORS, in the Fetch standard), refusals
 * too. With an empty list it adds no hook. Called before the routes are registered.
 */
export const openToOrigins = (http: Http, origins: readonly string[]): void => {
  if (origins.length === 0) return
  const open = new Set<string | undefined>(origins)
  http.addHook('onRequest', (request, reply, done) => {
    if (!configAt(request).cors) return done()
    // Without `Origin` too: a cache must not give that answer to a page.
    vary(reply, 'origin')
    const { origin } = request.headers
    if (!open.has(origin)) return done()
    reply.header('access-control-allow-origin', origin)
    // Any other OPTIONS is a method that the path does not have.
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) {
      reply.headers(EXPOSED)
      return done()
    }
    // A page may send any header: no answer here depends on a cookie, or on anything else that a browser adds by itself.
    const { 'access-control-request-headers': asked = ANY_HEADER } = request.headers
    reply.code(204).headers(PREFLIGHT)
    reply.header('access-control-allow-headers', asked)
    reply.header('access-control-allow-methods', methodsAt(request).join(', ')).send()
  })
}
