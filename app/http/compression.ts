import { crc32, gzip, gzipSync } from 'node:zlib'
import type { onSendHookHandler } from 'fastify'
import { vary } from './headers.js'

const COMPRESSIBLE = /^(?:text\/|application\/(?:x-www-form-urlencoded|(?:[\w.+-]+\+)?json)\s*(?:;|$))/i
const NAMES_GZIP = /(?:^|,)\s*gzip\s*(?:;\s*q=([\d.]+)\s*)?(?:,|$)/i

// 2.3 times as fast as level 6, for 7 % more bytes.
const LEVEL = { level: 1 }
// Deflating 30 bytes costs 7 µs, most of it for zlib's state; storing them 0.4 µs.
const STORED_BELOW = 256
// 0.07 ms of the event loop. Asynchronous zlib costs small bodies ten times more and waits behind the password hashes.
const AT_ONCE_UP_TO = 32_768

/** Compresses what is JSON, form-urlencoded or text for those who name gzip, and for nobody else. */
export const compress: onSendHookHandler = (request, reply, payload, done) => {
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return done()
  if (!COMPRESSIBLE.test(String(reply.getHeader('content-type')))) return done()
  vary(reply, 'accept-encoding')
  if (!acceptsGzip(request.headers['accept-encoding'])) return done()
  reply.header('content-encoding', 'gzip')
  const body = typeof payload === 'string' ? Buffer.from(payload) : payload
  if (body.length < STORED_BELOW) return done(null, stored(body))
  if (body.length <= AT_ONCE_UP_TO) return done(null, gzipSync(body, LEVEL))
  // The whole buffer, not a stream, so that the length is known.
  gzip(body, LEVEL, done)
}

// `*` does not name gzip, and `x-gzip` is left to those who still speak it: an answer that is not compressed suits everybody.
const acceptsGzip = (accepted: string | string[] | undefined): boolean => {
  const named = NAMES_GZIP.exec(String(accepted))
  return named !== null && Number(named[1] ?? 1) > 0
}

// RFC 1952: no name, no time, no system; RFC 1951 section 3.2.4: one block, the last, stored.
const STORED_HEAD = Buffer.from([31, 139, 8, 0, 0, 0, 0, 0, 0, 255, 1])
const STORED_TAIL = 8

/** A gzip member that holds the body as it is. */
const stored = (body: Buffer): Buffer => {
  const { length } = body
  const start = STORED_HEAD.length + 4
  const member = Buffer.allocUnsafe(start + length + STORED_TAIL)
  STORED_HEAD.copy(member)
  member.writeUInt16LE(length, start - 4)
  member.writeUInt16LE(0xffff - length, start - 2)
  body.copy(member, start)
  member.writeUInt32LE(crc32(body), start + length)
  member.writeUInt32LE(length, start + length + 4)
  return member
}
