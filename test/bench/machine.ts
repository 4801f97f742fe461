import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { arch, availableParallelism, cpus, platform, release, totalmem } from 'node:os'
import { median } from './bench.js'

/**
 * The first core is for the load and PostgreSQL, the second for Node: on one core, each would slow the other. What is to
 * run as in production has every core.
 */
const CORES = { load: '0', node: '1', every: `0-${cpus().length - 1}` }

export type Cores = keyof typeof CORES

const pinned =
  platform() === 'linux' && availableParallelism() > 1 && spawnSync('taskset', ['-c', CORES.node, 'true']).status === 0

/** A command line that runs on these cores. Without it a process would inherit the binding of this one. */
export const commandOn = (cores: Cores, command: readonly string[]): string[] =>
  pinned ? ['taskset', '-c', CORES[cores], ...command] : [...command]

/** Binds the processes, and what they start afterwards, to these cores. */
export const bindTo = (cores: Cores, pids: readonly number[]): void => {
  if (pinned) for (const pid of pids) spawnSync('taskset', ['-a', '-p', '-c', CORES[cores], String(pid)])
}

const HUGE_PAGES = '/proc/sys/vm/nr_hugepages'

const readHugePages = (): number => Number(readFileSync(HUGE_PAGES, 'latin1'))

/**
 * Has the kernel keep so many huge pages free until this process ends. Without the right to ask for them, or without enough
 * memory in one piece, there are fewer: PostgreSQL tells whether it got them.
 */
export const reserveHugePages = (pages: number): void => {
  try {
    const free = Number(/^HugePages_Free:\s+(\d+)/m.exec(readFileSync('/proc/meminfo', 'latin1'))?.[1] ?? 0)
    if (free >= pages) return
    const before = readHugePages()
    writeFileSync(HUGE_PAGES, String(before + pages - free))
    const added = readHugePages() - before
    // Another process may have asked for some meanwhile.
    process.on('exit', () => writeFileSync(HUGE_PAGES, String(readHugePages() - added)))
  } catch {
    // Not Linux, or not root.
  }
}

/** The unit in which Linux tells times to processes is a hundredth of a second on every machine. */
const TICKS_PER_SECOND = 100

/** The processor time of the processes and their ended children, in seconds. Zero where the kernel does not tell it. */
export const cpuSeconds = (pids: readonly number[]): number => {
  let ticks = 0
  for (const pid of pids) for (const value of statOf(pid)?.times ?? []) ticks += value
  return ticks / TICKS_PER_SECOND
}

/** The processor time of all threads of a process but its first, in seconds. NaN where the kernel does not tell it. */
export const threadSeconds = (pid: number): number => {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .filter(thread => thread !== String(pid))
      .reduce((sum, thread) => sum + nanosecondsOf(`/proc/${pid}/task/${thread}/schedstat`) / 1e9, 0)
  } catch {
    return Number.NaN
  }
}

const nanosecondsOf = (file: string): number => Number(readFileSync(file, 'latin1').split(' ')[0])

/** The ids of a process and its children, such as PostgreSQL's postmaster and its backends. */
export const familyOf = (pid: number): number[] => {
  try {
    return [
      pid,
      ...readdirSync('/proc')
        .map(Number)
        .filter(child => child > 0 && statOf(child)?.parent === pid)
    ]
  } catch {
    return [pid]
  }
}

export const parentOf = (pid: number): number | undefined => statOf(pid)?.parent

const statOf = (pid: number): { readonly parent: number; readonly times: readonly number[] } | undefined => {
  try {
    // Behind the name, which may hold any character, come the state, the parent and so on. The 12th to 15th of these fields
    // are the times of the process and of its ended children.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ')
      .map(Number)
    return { parent: fields[1] ?? 0, times: fields.slice(11, 15) }
  } catch {
    return undefined
  }
}

/** The resident memory in megabytes. Zero where the kernel does not tell it. */
export const residentMemory = (pid: number): number => {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

export const describeMachine = (): string => {
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  const cores = pinned
    ? `Node on one, load generator and PostgreSQL on another; the same work takes ${workOn('node')} ms on the one and ${workOn('load')} on the other`
    : 'NOT pinned: taskset or a second core is missing'
  return `${cpus()[0]?.model ?? arch()}, ${cpus().length} cores (${cores}), ${gigabytes} GB, ${platform()} ${release()}, Node ${process.version}`
}

/**
 * The median of the milliseconds that a few processes take for the same work on these cores. The cores of a virtual
 * machine may differ by half, for minutes and longer.
 */
const workOn = (cores: Cores): string => {
  const [command = '', ...args] = commandOn(cores, [process.execPath, '--eval', WORK])
  return median([1, 2, 3].map(() => Number(spawnSync(command, args, { encoding: 'utf8' }).stdout))).toFixed()
}

/** Reaches a good deal of memory, as the service does. */
const WORK = `
const heroes = Array.from({ length: 200_000 }, (_, id) => ({ id, name: 'hero ' + id, teams: [id] }))
const work = () => {
  const begun = performance.now()
  for (let from = 0; from < 200_000; from += 1000) JSON.stringify(heroes.slice(from, from + 300))
  return performance.now() - begun
}
for (let run = 0; run < 10; run++) work()
console.log(work())`
