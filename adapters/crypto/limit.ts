/** Runs at most `most` pieces of work at once. The others wait for their turn, for as long as it takes. */
export const createLimit = (most: number): (<T>(work: () => Promise<T>) => Promise<T>) => {
  let free = most
  const waiting: (() => void)[] = []
  return async work => {
    if (free > 0) free -= 1
    else await new Promise<void>(begin => waiting.push(begin))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}
