import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Plan } from './plan.js'
import { track } from './processes.js'

/** The result of one run of a load generator. Times are in microseconds. */
export interface Load {
  readonly requests: number
  readonly seconds: number
  readonly bytes: number
  readonly p50: number
  readonly p99: number
  /** The number of answers with a status of 400 or more. */
  readonly refused: number
  /** The number of connections that were refused or lost and of answers that did not come. */
  readonly failed: number
}

export const generator: 'wrk' | 'autocannon' = spawnSync('wrk', ['--version']).error ? 'autocannon' : 'wrk'

/** Sends requests from another process for so many seconds. After `stop`, `done` resolves with the figures so far. */
export const startLoad = (
  url: string,
  plan: Plan,
  connections: number,
  seconds: number
): { readonly done: Promise<Load>; stop(): void } => {
  const args = commandOf(plan.client ?? generator)(url, plan, connections, seconds)
  const [command = '', ...rest] = args
  const child = track(spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'] }))
  let output = ''
  let complaint = ''
  child.stdout.on('data', data => {
    output += data
  })
  child.stderr.on('data', data => {
    complaint += data
  })
  const done = new Promise<Load>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', () => {
      const line = output.split('\n').find(line => line.startsWith('{"requests"'))
      if (line === undefined) reject(new Error(`${command} said ${complaint || output || 'nothing'}`))
      else resolve(JSON.parse(line))
    })
  })
  return { done, stop: () => child.kill('SIGINT') }
}

export const runLoad = (url: string, plan: Plan, connections: number, seconds: number): Promise<Load> =>
  startLoad(url, plan, connections, seconds).done

let seed = 1

const wrk = (url: string, plan: Plan, connections: number, seconds: number): string[] => [
  ...['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s'],
  ...['-s', fileURLToPath(new URL('load.lua', import.meta.url)), url, '--'],
  ...Object.entries({ ...plan, host: new URL(url).host, seed: seed++ }).map(([key, value]) => `${key}=${value}`)
]

/** A program of this folder that gets everything in one argument. */
const script =
  (name: string) =>
  (url: string, plan: Plan, connections: number, seconds: number): string[] => [
    ...[process.execPath, '--import', 'tsx', fileURLToPath(new URL(name, import.meta.url))],
    JSON.stringify({ url, plan, connections, seconds })
  ]

const commandOf = (client: 'wrk' | 'autocannon' | 'fetch') =>
  client === 'wrk' ? wrk : script(client === 'fetch' ? 'load-fetch.ts' : 'load-autocannon.ts')
