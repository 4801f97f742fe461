import type { FastifyReply } from 'fastify'

export type Headers = Readonly<Record<string, string>>

/** The headers of every response. */
export const constantHeaders = (version: string): Headers => ({
  server: `heroes/${Number.parseInt(version, 10)}`,
  'x-xss-protection': '1; mode=block',
  'x-frame-options': 'SAMEORIGIN',
  'x-content-type-options': 'nosniff'
})

/** The headers of every answer that contains a token or a code, or says why there is none (RFC 6749 section 5.1). */
export const UNCACHED: Headers = { 'cache-control': 'no-store', pragma: 'no-cache' }

/** Adds a field name to `Vary`. */
export const vary = (reply: FastifyReply, field: string): void => {
  const others = reply.getHeader('vary')
  reply.header('vary', others === undefined ? field : `${others}, ${field}`)
}
