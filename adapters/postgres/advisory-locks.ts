/**
 * The keys of the advisory locks: arbitrary numbers, the same in every instance and each different. A lock belongs to work
 * that one instance at a time may do.
 */
export const ADVISORY_LOCKS = {
  migrations: 4_372_061_958,
  insertAll: 4_372_061_959,
  nameIndex: 4_372_061_960
} as const
