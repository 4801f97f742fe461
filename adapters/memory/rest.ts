/** Lets whatever else waits for the event loop have its turn, between two of many pieces of work. */
export const letOthersRun = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
