// What the fuzzer sends over one connection: requests in a row, with something broken behind some of them.

import { brokenBody, garbage } from './fuzz-faults.js'
import { type Credentials, type Expected, wellFormedRequest, write } from './fuzz-requests.js'
import { createRandom, type Random } from './random.js'

/** What one connection sends, and what it may be answered by RFC 9112 and the contract of the service. */
export interface FuzzCase {
  /** The packets in their order. Before each, `turns` turns of the event loop pass. */
  readonly packets: readonly { readonly bytes: Buffer; readonly turns: number }[]
  /** One for each request that must be answered, in the order of the requests. */
  readonly answers: readonly Expected[]
  /** The statuses that one further answer may have: the answer to bytes that are no request. It need not come. */
  readonly further: readonly number[]
  /** True when the service ends the connection by itself. */
  readonly ends: boolean
  /** True when the client ends its side of the connection as soon as everything is sent. */
  readonly halfCloses: boolean
  /** True when bytes follow the last request of the connection: the service may reset the connection for them. */
  readonly mayReset: boolean
  /** The names of heroes that no request may create. */
  readonly unwanted: readonly string[]
}

/** The case with this number. The same seed and number always give the same case. */
export const createCase = (seed: number, index: number, credentials: Credentials): FuzzCase => {
  const random = createRandom(Math.imul(seed, 1_000_003) + index)
  let text = ''
  const answers: Expected[] = []
  const unwanted: string[] = []
  let further: readonly number[] = []
  let ends = false
  let needsEnd = false
  let mayReset = false
  const requests = random.int(6)
  for (let part = 0; part < requests; part++) {
    const unique = `f${seed}-${index}-${part}`
    const request = wellFormedRequest(random, unique, credentials)
    const written = write(random, request, true)
    text += written.head + written.body
    if (ends) {
      mayReset = true
      if (request.hero !== undefined) unwanted.push(request.hero)
      continue
    }
    answers.push(written.expected)
    // A request without a Host header is refused, so that its hero is not created.
    if (request.hero !== undefined && !written.expected.statuses.includes(200)) unwanted.push(request.hero)
    ends = written.last
  }
  const unique = `f${seed}-${index}-end`
  const ending = random.int(5)
  if (ending < 2) {
    const { text: bytes, statuses } = garbage(random, unique)
    text += bytes
    if (ends) mayReset = true
    else further = statuses
    ends = true
    // The service ignores what follows the garbage.
    if (random.chance(0.5)) text += write(random, wellFormedRequest(random, unique, credentials), false).head
  } else if (ending === 2) {
    const broken = brokenBody(random, unique, credentials)
    text += broken.text
    if (ends) mayReset = true
    // Behind a request that is unanswered the connection ends without an answer to this one.
    else if (answers.length > 0) further = broken.expected.statuses
    else answers.push(broken.expected)
    ends = true
    needsEnd = broken.needsEnd
    unwanted.push(broken.hero)
  } else if (ending === 3) {
    const { head } = write(random, wellFormedRequest(random, unique, credentials), false)
    text += head.trimStart().slice(0, 1 + random.int(head.trimStart().length - 4))
    if (ends) mayReset = true
    else further = [400]
    ends = true
    needsEnd = true
  }
  // Node takes a client that ends its side before it is answered for one that has gone, but not behind garbage.
  const halfCloses = (needsEnd && !mayReset) || (further.length > 0 && random.chance(0.3))
  return { packets: split(random, text), answers, further, ends, halfCloses, mayReset, unwanted }
}

const split = (random: Random, text: string): FuzzCase['packets'] => {
  const bytes = Buffer.from(text, 'latin1')
  const cuts = Array.from({ length: random.pick([0, 0, 1, 1, 2, 3, 8]) }, () => random.int(bytes.length + 1))
  const places = [0, ...cuts.sort((a, b) => a - b), bytes.length]
  return places
    .slice(1)
    .map((end, at) => ({ bytes: bytes.subarray(places[at], end), turns: random.pick([0, 1, 1, 3, 10]) }))
    .filter(packet => packet.bytes.length > 0)
}
