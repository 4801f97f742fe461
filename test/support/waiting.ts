// What a test waits for instead of sleeping: an event, or turns of the event loop.

import { setImmediate } from 'node:timers/promises'

/** A promise that one side of a test awaits, and the function with which the other side resolves it, at its last call. */
export const signal = (calls = 1): { readonly given: Promise<void>; readonly give: () => void } => {
  let give = () => {}
  let left = calls
  const given = new Promise<void>(resolve => {
    give = () => {
      left -= 1
      if (left === 0) resolve()
    }
  })
  return { given, give }
}

/** Resolves after so many turns of the event loop. */
export const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await setImmediate()
}
