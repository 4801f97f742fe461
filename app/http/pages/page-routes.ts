import helmet from '@fastify/helmet'
import { formRoutes } from '../bodies/forms.js'
import type { Http, HttpPlugin } from '../http.js'
import type { PageForm } from '../paths.js'
import { PAGE_POLICY } from './layout.js'

/** A group of routes for people: their errors are pages, and helmet says of every answer what may load and frame it. */
export const pageRoutes = (routes: (http: Http) => void, form: PageForm = 'page'): HttpPlugin =>
  formRoutes(form, http => {
    http.register(helmet, HELMET)
    routes(http)
  })

const HELMET = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: Object.fromEntries(Object.entries(PAGE_POLICY).map(([name, value]) => [name, [value]]))
  },
  frameguard: { action: 'sameorigin' as const },
  referrerPolicy: { policy: 'no-referrer' as const },
  // helmet's default would separate a client from the popup in which its user signs in.
  crossOriginOpenerPolicy: false,
  // HTTPS ends at a proxy before the service, and only the proxy's operator knows whether HTTPS will stay.
  strictTransportSecurity: false,
  // helmet sends `0`; headers.ts has the value of app/http/README.md 1.4.
  xXssProtection: false,
  dnsPrefetchControl: false,
  ieNoOpen: false,
  originAgentCluster: false,
  permittedCrossDomainPolicies: false
}
