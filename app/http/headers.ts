import type { FastifyReply } from 'fastify'

export type Headers = Readonly<Record<string, string>>

/** The headers of every response. */
export const constantHeaders = (version: string): Headers => ({
  server: `heroes/${Number.parseInt(version, 10)}`,
  'x-xss-protection': '1; mode=block',
  'x-frame-options': 'SAMEORIGIN',
  'x-content-type-options': 'nosniff'
})

/** For answers that no cache may keep, such as those with a token and those that say why there is none (RFC 6749 section 5.1). */
export const UNCACHED: Headers = { 'cache-control': 'no-store', pragma: 'no-cache' }

/** Adds a field name to `Vary`. */
export const vary = (reply: FastifyReply, field: string): void => {
  const others = reply.getHeader('vary')
  reply.header('vary', others === undefined ? field : `${others}, ${field}`)
}
