import helmet from '@fastify/helmet'
import { formRoutes } from '../bodies.js'
import type { Http, HttpPlugin } from '../http.js'
import { CSP_DIRECTIVES } from './layout.js'

/** Routes that answer people: with pages for errors too, and helmet's headers. */
export const pageRoutes = (routes: (http: Http) => void): HttpPlugin =>
  formRoutes('page', http => {
    http.register(helmet, HELMET)
    routes(http)
  })

const HELMET = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: Object.fromEntries(Object.entries(CSP_DIRECTIVES).map(([name, values]) => [name, [...values]]))
  },
  // Its default would cut a client that signs in through a popup off from it.
  crossOriginOpenerPolicy: false,
  frameguard: { action: 'sameorigin' as const },
  referrerPolicy: { policy: 'no-referrer' as const },
  // HTTPS ends before the service, and whoever ends it knows whether it is there to stay.
  strictTransportSecurity: false,
  // helmet sends 0; app/http/README.md 1.4 has a mode.
  xXssProtection: false
}
