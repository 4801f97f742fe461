import type { FastifyRequest } from 'fastify'
import { couldBeIssued, DomainError, type UseCases } from '../../core/index.js'

/**
 * The bearer token of a request; undefined when its `Authorization` is absent, of another scheme or without a token. RFC 6750 section
 * 2.1; the scheme in any case (RFC 9110 section 11.1).
 */
export const bearerToken = (authorization = ''): string | undefined => {
  const end = authorization.indexOf(' ') + 1
  if (authorization.slice(0, end).toLowerCase() !== 'bearer ') return undefined
  return authorization.slice(end).trim() || undefined
}

/** Refuses a request whose token does not open what needs `scope`. */
export type BearerCheck = (request: FastifyRequest, scope: string | undefined) => Promise<unknown>

export const createBearerCheck =
  (useCases: Pick<UseCases, 'verifyBearer'>): BearerCheck =>
  (request, scope) => {
    const token = bearerToken(request.headers.authorization)
    // Thrown, not rejected: the work that goes together with the check is not begun either.
    if (token !== undefined && !couldBeIssued(token)) {
      throw new DomainError('invalid_token', 'the access token is malformed')
    }
    return useCases.verifyBearer(token, scope)
  }

/**
 * Starts the check and the work together, so that one round trip to the database serves both, and lets the check's
 * refusal come first whatever the work says.
 */
export const checkedTogether = async <T>(check: Promise<unknown>, work: Promise<T>): Promise<T> => {
  // Nobody listens to it before the check is done, nor at all when that refuses.
  work.catch(() => {})
  await check
  // Awaited here: a promise that is returned takes three turns of the microtasks instead of one.
  return await work
}
