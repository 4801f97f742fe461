/**
 * The time limits of HTTP, in milliseconds.
 *
 * What the five seconds that a client is promised are made of:
 *
 * | Part | At most |
 * |---|---|
 * | the service's own time, from the arrival of the head to the answer, without the time in which the body arrives | 4,700 |
 * | until the timer looks at the request | 94 |
 * | a busy event loop, and the way of the answer | 206 |
 *
 * A database and a queue of hashes have shorter limits of their own.
 */
export const TIME_LIMITS = {
  /** For an answer; see above. */
  answer: 4700,
  /** For a head to arrive: then 408. */
  head: 20_000,
  /** For a whole request to arrive: then 408. At 0.7 Mbit/s a body of 10 MB, the default limit, takes 2 minutes. */
  request: 120_000,
  /** How often Node looks for a head or a request that is late. */
  requestCheck: 1000,
  /** How long a client may take nothing of its answer before it is cut off. */
  reader: 10_000,
  /** How long what a client still sends is discarded, once its last answer is written. */
  discard: 2000,
  /** The time between two warnings of too many connections. */
  connectionWarning: 60_000,
  /** The pause between two pieces of a large body, of 64 kB mostly. So 10 MB take a third of a second. */
  piece: 2
} as const

/** How often deadlines are looked at, as a part of the time for an answer. */
export const DEADLINE_CHECK = 1 / 50
/** How often it is looked whether clients read, as a part of the time that they have. */
export const READER_CHECK = 1 / 10

/**
 * How many requests begin in a turn of the event loop, in which Node accepts one new connection. Without a bound, newcomers
 * wait for seconds beside 400 connections with four requests each.
 */
export const BEGUN_IN_A_TURN = 32

/**
 * How many requests of one connection are under way at a time. Few clients send a request before they have the answer to the
 * one before (RFC 9112 section 9.3.2).
 */
export const UNDER_WAY = 4

/** How many requests may wait to be begun, of all connections together. Each takes about 4 kB. */
export const WAITING = 10_000

/** Open at a time, unless the limit on open files allows fewer. At 10,000 connections small bodies alone can take 640 MB. */
export const CONNECTIONS = 10_000

/** In bytes. A `state` of 4 kB takes 12 kB when it is percent-encoded, and Node's default for all headers is 16 kB. */
export const HEAD_BYTES = 32_768
