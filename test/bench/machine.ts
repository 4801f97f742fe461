import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os'

/** Contestants have a core of their own, and the load and PostgreSQL another: otherwise each slows the others. */
const CORES = { load: '0', contestant: '1', every: `0-${cpus().length - 1}` }

export type Cores = keyof typeof CORES

const bound =
  platform() === 'linux' &&
  availableParallelism() > 1 &&
  spawnSync('taskset', ['-c', CORES.contestant, 'true']).status === 0

/** The command line that runs a command on these cores. */
export const commandOn = (cores: Cores, command: readonly string[]): readonly string[] =>
  bound ? ['taskset', '-c', CORES[cores], ...command] : command

/** Binds this process, and all that it starts afterwards, to the core of the load. */
export const bindToLoad = (): void => {
  if (bound) spawnSync('taskset', ['-a', '-p', '-c', CORES.load, String(process.pid)])
}

export const describeMachine = (): string => {
  const cores = bound ? 'contestants on one, load and PostgreSQL on another' : 'NOT bound: taskset or a core is missing'
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  return `${cpus()[0]?.model ?? arch()}, ${cpus().length} cores (${cores}), ${gigabytes} GB, ${platform()} ${release()}, Node ${process.version}`
}

/** The resident memory in megabytes. NaN where the kernel does not tell it. */
export const residentMemory = (pid: number): number => {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1024
  } catch {
    return Number.NaN
  }
}
