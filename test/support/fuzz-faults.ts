// Broken requests of the fuzzer, with the answers that they may get.

import { BODY_LIMIT, type Credentials, type Expected, FORM_TYPE, JSON_TYPE } from './fuzz-requests.js'
import type { Random } from './random.js'

/** Bytes that stand where a request could and are no request, and what they may be answered. */
export interface Garbage {
  readonly text: string
  readonly statuses: readonly number[]
}

export const garbage = (random: Random, unique: string): Garbage => {
  const head = (fields: string): string => `POST /heroes HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n`
  const noise = (): string => {
    const bytes = Array.from({ length: 1 + random.int(200) }, () => String.fromCharCode(random.int(256)))
    return `${random.pick(['\x01', '}', '\xff', '{"name":', '"', '%'])}${bytes.join('')}\r\n\r\n`
  }
  const [text, status] = random.pick<[string, number]>([
    [noise(), 400],
    [`FOO /heroes HTTP/1.1\r\nHost: a\r\n\r\n`, 400],
    [`get /heroes HTTP/1.1\r\nHost: a\r\n\r\n`, 400],
    [`GET /heroes HTTP/9.9\r\nHost: a\r\n\r\n`, 400],
    [`GET /her\0oes HTTP/1.1\r\nHost: a\r\n\r\n`, 400],
    [`GET /${unique} HTTP/1.1\r\nHost a\r\n\r\n`, 400],
    [`GET /${unique} HTTP/1.1\r\nHo st: a\r\n\r\n`, 400],
    [`GET /${unique} HTTP/1.1\r\nHost: a\0b\r\n\r\n`, 400],
    [`GET /${unique} HTTP/1.1\r\nHost: a\rX: b\r\n\r\n`, 400],
    [head('Content-Length: ten'), 400],
    [head('Content-Length: -1'), 400],
    [head('Content-Length: 5\r\nContent-Length: 6'), 400],
    [head('Content-Length: 5\r\nTransfer-Encoding: chunked'), 400],
    [head(`X-Huge: ${'x'.repeat(33_000)}`), 431],
    [`GET /${'x'.repeat(33_000)} HTTP/1.1\r\n`, 431],
    [`CONNECT ${unique}.example:443 HTTP/1.1\r\nHost: a\r\n\r\n`, 404],
    ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400]
  ])
  return { text, statuses: [status] }
}

/** A request with a sound head and a body that breaks off. */
export interface BrokenBody {
  readonly text: string
  readonly expected: Expected
  /** True when only the end of the connection shows that the body is incomplete. */
  readonly needsEnd: boolean
  /** The name of the hero that the request asks for. */
  readonly hero: string
}

export const brokenBody = (random: Random, unique: string, credentials: Credentials): BrokenBody => {
  const hero = JSON.stringify({ name: unique })
  const kind = random.pick([
    { target: '/heroes', token: true, early: 400 },
    { target: '/heroes', token: false, early: 401 },
    { target: `/${unique}`, token: true, early: 404 },
    { target: '/auth/token', token: true, early: 400 }
  ])
  const framing = random.pick<[string, string, boolean, number]>([
    ['Transfer-Encoding: gzip', hero, false, 400],
    ['Transfer-Encoding: chunked, gzip', hero, false, 400],
    ['Transfer-Encoding: chunked', `zz\r\n${hero}\r\n0\r\n\r\n`, false, 400],
    ['Transfer-Encoding: chunked', `${hero.length.toString(16)}\r\n${hero}x\r\n0\r\n\r\n`, false, 400],
    ['Transfer-Encoding: chunked', `${hero.length.toString(16)}\r\n${hero}\r\n-1\r\n\r\n`, false, 400],
    ['Transfer-Encoding: chunked', `fffffffffffffffff\r\n${hero}`, false, 400],
    ['Transfer-Encoding: chunked', `1;${'x'.repeat(20_000)}\r\n`, false, 413],
    ['Transfer-Encoding: chunked', `${hero.length.toString(16)}\r\n${hero}\r\n0\r\nbad trailer\r\n\r\n`, false, 400],
    ['Transfer-Encoding: chunked', `${hero.length.toString(16)}\r\n${hero.slice(1)}`, true, 400],
    ['Transfer-Encoding: chunked', `${hero.length.toString(16)}\r\n${hero}\r\n`, true, 400],
    [`Content-Length: ${hero.length}`, hero.slice(0, random.int(hero.length)), true, 400],
    [`Content-Length: ${BODY_LIMIT + 1 + random.int(100)}`, hero, true, 413]
  ])
  const [field, body, needsEnd, status] = framing
  const type = random.pick([JSON_TYPE[1], FORM_TYPE[1]])
  const token = kind.token ? `Authorization: Bearer ${credentials.token}\r\n` : ''
  const text = `POST ${kind.target} HTTP/1.1\r\nHost: a\r\n${token}Content-Type: ${type}\r\n${field}\r\n\r\n${body}`
  const expected: Expected = {
    method: 'POST',
    statuses: [400, kind.early, status, 415],
    contains: undefined,
    continues: false
  }
  return { text, expected, needsEnd, hero: unique }
}
