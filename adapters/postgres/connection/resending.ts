/** How the connection of a statement of postgres.js is ended. */
const END = Symbol('end')

interface Statement extends PromiseLike<unknown> {
  [END]?: () => void
}

let guarded: unknown

/**
 * Ends the connection, by `end`, before postgres.js sends the statement a second time.
 *
 * After 0A000 (a plan whose result type changed) and 26000 (a prepared statement that is gone) postgres.js parses and sends a
 * statement anew by itself. On a connection with several statements under way, the answers of those behind it then go to the
 * wrong callers. Just before, it notes the error in the statement's `retried`: for that the statements get a setter. It is
 * their prototype's, as one of each statement's own costs 5 µs. Statements that others make in this process behave as ever.
 */
export const neverResent = (statement: Statement, end: () => void): void => {
  statement[END] = end
  const prototype: unknown = Object.getPrototypeOf(statement)
  if (prototype === guarded) return
  guarded = prototype
  Object.defineProperty(prototype, 'retried', {
    configurable: true,
    get: () => undefined,
    set(this: Statement, error: unknown) {
      const end = this[END]
      if (end === undefined) Object.defineProperty(this, 'retried', { value: error, writable: true })
      else end()
    }
  })
}
