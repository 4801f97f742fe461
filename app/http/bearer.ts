import type { FastifyRequest, RouteShorthandOptions } from 'fastify'
import { couldBeIssued, DomainError, type UseCases } from '../../core/index.js'

/**
 * The bearer token in an `Authorization` header (RFC 6750 section 2.1). Undefined when the header is absent, has
 * another scheme or has no token. The scheme may be in upper or lower case (RFC 9110 section 11.1).
 */
const bearerToken = (authorization = ''): string | undefined =>
  BEARER.test(authorization) ? authorization.slice('bearer '.length).trim() || undefined : undefined

const BEARER = /^bearer /i

/** Throws or rejects unless the request's access token is valid and, where `scope` is given, covers it. */
export type BearerCheck = (request: FastifyRequest, scope: string | undefined) => Promise<unknown>

export const createBearerCheck =
  (useCases: Pick<UseCases, 'checkBearer'>): BearerCheck =>
  (request, scope) => {
    const token = bearerToken(request.headers.authorization)
    // A throw, not a rejection, so that the work which would run beside the check is not started.
    if (token !== undefined && !couldBeIssued(token)) {
      throw new DomainError('invalid_token', 'the access token is malformed: send it as it was issued')
    }
    return useCases.checkBearer(token, scope)
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

/** A route whose check may be left to its use case. */
export interface LeftToStore {
  /** To be among the options of the route. */
  readonly hooks: Pick<RouteShorthandOptions, 'onRequest' | 'errorHandler'>
  /** The access token that the use case has to judge; undefined when it has been checked. The handler calls it once. */
  takeToken(request: FastifyRequest): string | undefined
}

/** In bytes. A hero with the longest name, each character as an escape, takes 3 kB. */
const LONGEST_LEFT = 4096

/**
 * Leaves the check to the use case, which judges the token in the step that stores: that saves a round trip to the
 * database, a third of the time of a write. It is left when `mayLeave` is true and a small body has arrived as a whole.
 * Otherwise the check comes first, so that nobody without a token makes the service read a body. The check also comes
 * before any other refusal.
 */
export const leftToStore = (check: (request: FastifyRequest) => Promise<unknown>, mayLeave: boolean): LeftToStore => {
  const left = new WeakMap<FastifyRequest, string>()
  return {
    hooks: {
      async onRequest(request) {
        const token = bearerToken(request.headers.authorization)
        if (mayLeave && token !== undefined && couldBeIssued(token) && hasSmallBody(request)) left.set(request, token)
        else await check(request)
      },
      async errorHandler(error, request) {
        if (left.delete(request)) await check(request)
        throw error
      }
    },
    takeToken(request) {
      const token = left.get(request)
      left.delete(request)
      return token
    }
  }
}

const hasSmallBody = ({ raw, headers }: FastifyRequest): boolean =>
  raw.complete && Number(headers['content-length']) <= LONGEST_LEFT
