// What a process takes of the machine, as Linux tells it.

import { readFileSync, writeFileSync } from 'node:fs'
import type { RunningService } from './process.js'

/** In bytes. */
export interface Resident {
  readonly present: number
  /** The most that it has been since the start of the process, or since {@link forgetPeak}. */
  readonly peak: number
}

/** The resident memory of a process that runs. */
export const residentMemory = ({ child: { pid } }: Pick<RunningService, 'child'>): Resident => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const bytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024
  return { present: bytes('VmRSS'), peak: bytes('VmHWM') }
}

/** Lets the peak of {@link residentMemory} begin anew at what is present. */
export const forgetPeak = ({ child: { pid } }: Pick<RunningService, 'child'>): void =>
  writeFileSync(`/proc/${pid}/clear_refs`, '5')

/** The processor time, in seconds, that the thread with the event loop of a process has had. */
export const loopSeconds = ({ child: { pid } }: Pick<RunningService, 'child'>): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e9
