// Random choices that a seed repeats, for the fuzzer.

/** Choices that one seed always makes alike. */
export interface Random {
  /** A whole number from 0 to `n - 1`. */
  int(n: number): number
  pick<T>(list: readonly [T, ...T[]]): T
  /** True with this probability, from 0 to 1. */
  chance(part: number): boolean
}

/** The generator mulberry32. */
export const createRandom = (seed: number): Random => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (n: number): number => Math.floor(next() * n)
  return { int, pick: list => list[int(list.length)] ?? list[0], chance: part => next() < part }
}
