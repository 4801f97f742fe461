/** By how many seconds this machine's clock may differ from the database's before an operator is told. */
export const CLOCK_TOLERANCE_SECONDS = 5

/**
 * By how many seconds the database's clock is ahead of this machine's. The time that the database takes to answer is
 * not taken for a difference.
 */
export const readClockOffset = async (database: { now(): Promise<Date> }): Promise<number> => {
  const before = Date.now()
  const databaseNow = await database.now()
  const after = Date.now()
  return (databaseNow.getTime() - (before + after) / 2) / 1000
}
