// What a test waits for instead of sleeping: an event, or turns of the event loop.

import { setImmediate } from 'node:timers/promises'

/** A promise that one side of a test awaits, and the function with which the other side resolves it. */
export const signal = (): { readonly given: Promise<void>; readonly give: () => void } => {
  let give = () => {}
  const given = new Promise<void>(resolve => {
    give = resolve
  })
  return { given, give }
}

/** Resolves after so many turns of the event loop. */
export const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await setImmediate()
}
