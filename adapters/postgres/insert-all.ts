import { ADVISORY_LOCKS } from './advisory-locks.js'
import type { Driver, Value } from './connection/driver.js'

/**
 * Runs an `insert` of many rows in the order of the caller, so that their ids ascend. Such statements of all instances
 * run one after the other: two of them with some names in opposite orders would wait for each other (40P01).
 */
export const insertAlone = (
  { transaction }: Pick<Driver, 'transaction'>,
  statement: string,
  values: readonly Value[]
): Promise<unknown[][]> =>
  transaction(
    'import',
    async run => {
      await run('select pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.insertAll])
      return run(statement, values)
    },
    { patient: true }
  )

/** The stored records in the order of the names; undefined for a name without one and for the repetition of a name. */
export const inOrder = <Stored>(
  names: readonly string[],
  stored: ReadonlyMap<string, Stored>
): (Stored | undefined)[] => {
  const left = new Map(stored)
  return names.map(name => {
    const found = left.get(name)
    left.delete(name)
    return found
  })
}
