// What the log of a service with several workers tells of them.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Process } from './process.js'

/** The lines of the log so far, or those of them with this message. */
export const linesOf = ({ output }: Pick<Process, 'output'>, message?: string): Readonly<Record<string, unknown>>[] => {
  // Most lines tell of requests. Those of a message are chosen before they are parsed, as this is called again and again.
  const end = message === undefined ? '}' : `"msg":${JSON.stringify(message)}}`
  return output()
    .split('\n')
    .filter(line => line.startsWith('{') && line.endsWith(end))
    .map(line => JSON.parse(line))
}

/** Resolves once so many workers have begun to listen, to the process id of the latest one under each number. */
export const workersOf = async (
  service: Pick<Process, 'output'>,
  listening: number
): Promise<ReadonlyMap<number, number>> => {
  for (;;) {
    const lines = linesOf(service, 'listening')
    if (lines.length >= listening) return new Map(lines.map(({ worker, pid }) => [Number(worker), Number(pid)]))
    await sleep(50)
  }
}
