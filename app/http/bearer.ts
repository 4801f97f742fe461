import type { FastifyRequest } from 'fastify'
import { type AccessToken, couldBeIssued, refusals, type UseCases } from '../../core/index.js'
import { originOf } from './client-address.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the request's bearer token opens, once a {@link BearerCheck} has passed. */
    accessToken: AccessToken | undefined
  }
}

const BEARER = /^bearer /i

/**
 * The bearer token in an `Authorization` header (RFC 6750 section 2.1). Undefined when the header is absent, has
 * another scheme or has no token. The scheme may be in upper or lower case (RFC 9110 section 11.1).
 */
export const bearerToken = (authorization = ''): string | undefined =>
  BEARER.test(authorization) ? authorization.slice('bearer '.length).trim() || undefined : undefined

/** Rejects unless the request's access token is valid and covers the scope of the check, if it has one. */
export type BearerCheck = (request: FastifyRequest) => Promise<void>

export const createBearerCheck =
  (useCases: Pick<UseCases, 'verifyBearer'>, scope: string | undefined): BearerCheck =>
  async request => {
    const presented = bearerToken(request.headers.authorization)
    request.accessToken = await useCases.verifyBearer(presented, scope, originOf(request))
  }

/** The path of RFC 9728 section 3. */
export const RESOURCE_METADATA = '/.well-known/oauth-protected-resource'

/**
 * What a request without a valid token is answered with (RFC 6750 section 3). It names the metadata of RFC 9728, whose address
 * has the path of the resource behind the well-known one.
 */
export const bearerChallenge = (publicUrl: string): string => {
  const { origin, pathname } = new URL(publicUrl)
  return `Bearer realm="heroes", resource_metadata="${origin}${RESOURCE_METADATA}${pathname.replace(/\/$/, '')}"`
}

/** What a {@link BearerCheck} rejects with. */
export const bearerRefusals = {
  tokenRequired: refusals.tokenRequired,
  invalidToken: refusals.invalidToken
}

/**
 * Resolves to the result of the work once the check of the request has passed, and rejects with the check's refusal whatever the
 * work does. Both run together, so that one round trip to the database serves both; without what could be a token, the work
 * begins behind the check.
 */
export const checkedTogether = async <T>(
  { headers }: FastifyRequest,
  check: Promise<unknown>,
  work: () => Promise<T>
): Promise<T> => {
  if (!couldBeIssued(bearerToken(headers.authorization) ?? '')) await check
  const working = work()
  // The work may reject before it is awaited below, and it is never awaited when the check refuses.
  working.catch(() => {})
  await check
  // `return working` would take three turns of the microtask queue instead of one.
  return await working
}
