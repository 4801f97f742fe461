/**
 * The time limits of a connection and of a call, in milliseconds. A call has four seconds, and an HTTP request five for all
 * its calls:
 *
 * | Limit | Ends | So that |
 * |---|---|---|
 * | `lock` of `lookups`, `others` | PostgreSQL: the statement, with 55P03 | look-ups of a table that is locked soon leave the few connections that all look-ups have; others outwait a row's lock, which lasts for one statement |
 * | `statement` | PostgreSQL: the statement, with 57014 | |
 * | `silence` | this side: the connection | a server that has not even ended the statement counts as dead |
 * | `call` | this side: the caller's wait, for a connection too | |
 * | `connect` | this side: one attempt at one host, the first statement included; behind a pooler, each of the steps that try it | |
 * | `patient` | takes the place of `statement`, `silence` and `call`; no limit for a lock | an operator's work or a migration, which no request waits for |
 * | `copy` | takes the place of `patient` for all of a copy together | |
 * | `idleInTransaction` | PostgreSQL: the connection | a process that is frozen or gone holds no lock for long |
 * | `close` | this side: what is still under way | |
 */
export const LIMITS = {
  lock: { lookups: 100, others: 500 },
  statement: 3000,
  silence: 3500,
  call: 4000,
  connect: 2000,
  patient: 600_000,
  copy: 86_400_000,
  idleInTransaction: 10_000,
  close: 1000
} as const

/**
 * Calls `expire` after so many milliseconds, unless the returned function is called before. What has arrived until then is
 * read first: after the whole process stood still, as a machine does that is moved to another host, timers come before
 * the answers that wait in the sockets. The timer does not keep the process alive.
 */
export const startTimer = (milliseconds: number, expire: () => void): (() => void) => {
  let reading: NodeJS.Immediate | undefined
  const timer = setTimeout(() => {
    // An immediate comes behind the reading of sockets.
    reading = setImmediate(expire)
  }, milliseconds).unref()
  return () => {
    clearTimeout(timer)
    clearImmediate(reading)
  }
}

/** Does as `work` does, but rejects with what `expire` returns when it takes longer. */
export const within = <T>(milliseconds: number, work: Promise<T>, expire: () => unknown): Promise<T> =>
  new Promise((resolve, reject) => {
    const stop = startTimer(milliseconds, () => reject(expire()))
    work.then(resolve, reject).finally(stop)
  })

/** Does as `work` does, but rejects with `CONNECT_TIMEOUT` when it takes longer. */
export const orConnectTimeout = <T>(milliseconds: number, work: Promise<T>): Promise<T> =>
  within(milliseconds, work, () =>
    Object.assign(new Error(`no connection within ${milliseconds / 1000} s`), { code: 'CONNECT_TIMEOUT' })
  )
