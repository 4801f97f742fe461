/**
 * Each statement is planned once for all values: PostgreSQL takes a plan for the values of a batch to be better, and
 * planning takes longer than the statement. The other settings keep a plan that is made while the tables are small from
 * reading a whole table or index.
 */
export const PLANNING = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_material: 'off'
} as const

/**
 * Lets PostgreSQL plan each statement of the connection anew when it is next run; the statements stay prepared. No setting
 * helps a plan for a table that was empty when it was last analysed: PostgreSQL takes it to have one row, whichever index
 * that is read by. Such a plan reads all rows that have come since, until the table is analysed again: autovacuum looks
 * once a minute, unless it is off. A plan that is made when the table has a page reads one row.
 */
export const DISCARD_PLANS = 'discard plans'

/** How old the plans of a connection may be, in milliseconds. */
export const PLAN_LIFETIME = 4000
