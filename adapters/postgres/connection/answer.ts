/** What postgres.js keeps of a statement, beside what it documents. */
interface Statement {
  /** postgres.js calls one of the two. It replaces `resolve` itself, in the same way, for a statement of its own. */
  resolve?: (rows: unknown[][]) => void
  reject?: (error: unknown) => void
  args?: unknown
  parameters?: unknown
  signature?: string
}

/**
 * Sends the statement and calls `onRows` or `onError` once. Nobody may wait for the statement's own promise, which is
 * never settled.
 *
 * It does so for the sake of the garbage collections. V8 makes a function that is assigned to a property an old object
 * from the start. postgres.js assigns two of them to each statement, and until the next full collection they keep the
 * statement alive, with its texts, its rows and whoever waits for them. All of it then outlived the quick collections,
 * which took four times as long. What the two functions reach is therefore let go as soon as there is an answer.
 *
 * A statement that fails behind its k-th row leaves postgres.js counting: the first k places of the next result on the
 * connection are then empty. They are left out here.
 */
export const takeAnswer = (
  query: object,
  onRows: (rows: unknown[][]) => void,
  onError: (error: unknown) => void
): void => {
  const statement: Statement = query
  const letGo = (): void => {
    // postgres.js may reject a statement twice.
    statement.resolve = ignore
    statement.reject = ignore
    statement.args = undefined
    statement.parameters = undefined
    statement.signature = ''
  }
  // The two have names, because a function that is assigned by itself would be an old object too.
  const resolve = (rows: unknown[][]): void => {
    letGo()
    onRows(rows.length === 0 || 0 in rows ? rows : rows.filter(() => true))
  }
  const reject = (error: unknown): void => {
    letGo()
    // Not at once: whoever ends the connection would do so while postgres.js reads from it.
    queueMicrotask(() => onError(error))
  }
  statement.resolve = resolve
  statement.reject = reject
  // postgres.js's own function. Its `execute` calls it behind a promise, which takes a hundredth of the time of a read.
  Object(statement).handler(statement)
}

const ignore = (): void => {}
