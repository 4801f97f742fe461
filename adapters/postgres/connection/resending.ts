/** The property of a statement that holds the function to end its connection. */
const END = Symbol('end')

interface Statement extends PromiseLike<unknown> {
  [END]?: () => void
}

/** The prototype of the statements, once it has the setter. */
let guarded: unknown

/**
 * Calls `end`, which ends the connection, before postgres.js sends the statement a second time.
 *
 * After 0A000 (a plan whose result type changed) and 26000 (a prepared statement that is gone) postgres.js by itself
 * parses the statement anew and sends it again. On a connection with several statements under way, the answers to the
 * statements behind it then go to the wrong callers. Just before that, postgres.js stores the error in the property
 * `retried` of the statement: this function gives that property a setter, which calls `end`. The setter is in the
 * prototype of all statements, because a setter in each statement costs 5 µs. Statements that other code in this
 * process sends with postgres.js behave as usual.
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
