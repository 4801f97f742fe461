/** A promise that may reject before anybody waits for it, or with nobody ever waiting. */
export const early = <T>(promise: Promise<T>): Promise<T> => {
  promise.catch(() => {})
  return promise
}
