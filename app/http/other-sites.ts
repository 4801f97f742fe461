import type { FastifyRequest } from 'fastify'
import { DomainError } from '../../core/index.js'
import { otherSite } from './refusals.js'

// onRequest hooks that refuse what a browser sends for a page of another site.

/** For the login page's form: whatever a browser says must say that the form comes from here. */
export const refuseFormsOfOtherSites =
  (publicUrl: () => string) =>
  async ({ headers }: FastifyRequest): Promise<void> => {
    const site = headers['sec-fetch-site']
    const { origin } = headers
    const own =
      site === undefined
        ? origin === undefined || origin === 'null' || origin === webOrigin(publicUrl)
        : site === 'same-origin' || site === 'none'
    if (!own) throw new DomainError('access_denied', 'another website sent this form')
  }

/**
 * For endpoints that clients call, which may be no browsers and send an `Origin` of their own make: only what a browser
 * says to come from another website is refused, unless that website's origin is one of `origins`. So no other web page can
 * spend its visitors' attempts to log in.
 */
export const refuseCallsOfOtherSites =
  (publicUrl: () => string, origins: readonly string[] = []) =>
  async ({ headers }: FastifyRequest): Promise<void> => {
    const site = headers['sec-fetch-site']
    const { origin } = headers
    const foreign =
      site === undefined
        ? origin !== undefined && /^https?:/i.test(origin) && origin !== webOrigin(publicUrl)
        : site === 'cross-site' || site === 'same-site'
    if (foreign && !origins.includes(String(origin))) throw otherSite()
  }

const webOrigin = (publicUrl: () => string): string => new URL(publicUrl()).origin
