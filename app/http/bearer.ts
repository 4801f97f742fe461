import type { FastifyRequest } from 'fastify'
import { couldBeIssued, DomainError, refusals, type UseCases } from '../../core/index.js'

const BEARER = /^bearer /i

/**
 * The bearer token in an `Authorization` header (RFC 6750 section 2.1). Undefined when the header is absent, has
 * another scheme or has no token. The scheme may be in upper or lower case (RFC 9110 section 11.1).
 */
const bearerToken = (authorization = ''): string | undefined =>
  BEARER.test(authorization) ? authorization.slice('bearer '.length).trim() || undefined : undefined

/** Throws or rejects unless the request's access token is valid and, where `scope` is given, covers it. */
export type BearerCheck = (request: FastifyRequest, scope: string | undefined) => Promise<unknown>

export const createBearerCheck =
  (useCases: Pick<UseCases, 'verifyBearer'>): BearerCheck =>
  (request, scope) => {
    const token = bearerToken(request.headers.authorization)
    // A throw, not a rejection, so that the work which would run beside the check is not started.
    if (token !== undefined && !couldBeIssued(token)) throw bearerRefusals.malformedToken()
    return useCases.verifyBearer(token, scope)
  }

/** What a {@link BearerCheck} throws. */
export const bearerRefusals = {
  tokenRequired: refusals.tokenRequired,
  malformedToken: () => new DomainError('invalid_token', 'the access token is malformed: send it as it was issued'),
  invalidToken: refusals.invalidToken
}

/**
 * Resolves to the result of the work once the check has passed, and rejects with the check's refusal whatever the work
 * does. The caller starts both together, so that one round trip to the database serves both.
 */
export const checkedTogether = async <T>(check: Promise<unknown>, work: Promise<T>): Promise<T> => {
  // The work may reject before it is awaited below, and it is never awaited when the check refuses.
  work.catch(() => {})
  await check
  // `return work` would take three turns of the microtask queue instead of one.
  return await work
}
