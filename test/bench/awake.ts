import { spawn } from 'node:child_process'
import { onNodeCore } from './machine.js'
import { track } from './processes.js'

/** Sleeps for a twentieth of a millisecond, which the kernel makes longer, again and again. */
const TICKS = 'const cell = new Int32Array(new SharedArrayBuffer(4)); for (;;) Atomics.wait(cell, 0, 0, 0.05)'

/**
 * Wakes this process's core and Node's several thousand times a second until this process ends, which takes a tenth to a
 * sixth of each. A core that has slept longer seems to take longer to wake, and to be slow at first.
 */
export const keepAwake = (): void => {
  const ticks = [process.execPath, '-e', TICKS]
  for (const [command = '', ...args] of [ticks, onNodeCore(ticks)]) track(spawn(command, args, { stdio: 'ignore' }))
}
