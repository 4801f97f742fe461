// Time that passes as fast as somebody waits for it.

import type { Time } from '../../app/serve/preparing.js'

/** `passed`: how much of it has passed, in milliseconds. */
export const createTime = (): { readonly time: Time; passed(): number } => {
  let now = 0
  const pass = async (milliseconds: number): Promise<void> => {
    now += milliseconds
  }
  return { time: { now: () => now, pass }, passed: () => now }
}
