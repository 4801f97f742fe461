// What the log of a service with several workers tells of them.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Process } from './process.js'

/** The lines of the log so far. */
export const linesOf = ({ output }: Pick<Process, 'output'>): Readonly<Record<string, unknown>>[] =>
  output()
    .split('\n')
    .filter(line => /^\{.*\}$/.test(line))
    .map(line => JSON.parse(line))

/** Resolves once so many workers have begun to listen, to the process id of the latest one under each number. */
export const workersOf = async (
  service: Pick<Process, 'output'>,
  listening: number
): Promise<ReadonlyMap<number, number>> => {
  for (;;) {
    const lines = linesOf(service).filter(({ msg }) => msg === 'listening')
    if (lines.length >= listening) return new Map(lines.map(({ worker, pid }) => [Number(worker), Number(pid)]))
    await sleep(10)
  }
}
