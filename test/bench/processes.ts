import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../support/ports.js'
import type { Contestant } from './contestants.js'
import { type ContestantSettings, SETTINGS, type Sizes } from './data.js'
import { type Cores, commandOn } from './machine.js'
import type { Target } from './plan.js'

/** Where `build` puts the service and the contestants of a checkout, compiled alike. */
export const builtIn = (checkout: string): string => join(checkout, 'test/bench/dist')
export const THIS_CHECKOUT = join(import.meta.dirname, '../..')
export const BUILT = builtIn(THIS_CHECKOUT)

/** The program of a checkout, compiled: what its package calls `bin`. */
export const programIn = (checkout: string): string => {
  const { bin } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'))
  return join(builtIn(checkout), String(bin.heroes).replace('dist/', ''))
}

export interface Running extends Target {
  readonly contestant: Contestant
  readonly pid: number
  /** Ends the process. Resolves when it has ended. */
  stop(): Promise<void>
}

export interface StartOptions {
  readonly sizes: Sizes
  readonly databaseUrl?: string | undefined
  readonly dataDir?: string | undefined
  readonly env?: Readonly<Record<string, string>>
  /** The folder for its output and its own secrets. */
  readonly folder: string
  /** The cores that the contestant's threads may use: by default they share one. */
  readonly cores?: Cores
  /** The checkout that `--before` names. */
  readonly before?: string | undefined
  /** The folder for a profile. */
  readonly profile?: string | undefined
}

const alive = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})

/** Kills the child when this process ends, unless this process ends by SIGKILL. */
export const track = <Child extends ChildProcess>(child: Child): Child => {
  alive.add(child)
  child.once('exit', () => alive.delete(child))
  return child
}

/** Resolves once the contestant takes connections. */
export const start = async (contestant: Contestant, options: StartOptions): Promise<Running> => {
  const { folder, databaseUrl = '', dataDir, profile } = options
  mkdirSync(folder, { recursive: true })
  const port = await freePort()
  const settings: ContestantSettings = { ...options.sizes, port, databaseUrl, folder }
  const checkout = contestant.before && options.before ? options.before : THIS_CHECKOUT
  const script =
    contestant.script === undefined
      ? [programIn(checkout), 'serve']
      : [join(builtIn(checkout), `test/bench/contestants/${contestant.script}.js`)]
  const flags = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
  const [command = '', ...args] = commandOn(options.cores ?? 'node', [process.execPath, ...flags, ...script])
  const log = join(folder, `${contestant.name}.log`)
  const output = openSync(log, 'w')
  const child = spawn(command, args, {
    stdio: ['ignore', output, output],
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      [SETTINGS]: JSON.stringify(settings),
      PORT: String(port),
      LOG_LEVEL: 'warn',
      ...(contestant.store === 'postgres' && { DATABASE_URL: databaseUrl }),
      ...(dataDir !== undefined && { DATA_DIR: dataDir }),
      ...contestant.env,
      ...options.env
    }
  })
  closeSync(output)
  track(child)
  await listening(child, port, log)
  return {
    contestant,
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    folder,
    ownSecrets: contestant.ownSecrets,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      const killed = setTimeout(() => child.kill('SIGKILL'), 15_000)
      await once(child, 'exit')
      clearTimeout(killed)
    }
  }
}

/** A contestant may need this many milliseconds to load its rows. */
const PATIENCE = 120_000

const listening = async (child: ChildProcess, port: number, log: string): Promise<void> => {
  for (const end = Date.now() + PATIENCE; Date.now() < end; await sleep(20)) {
    if (child.exitCode !== null || child.signalCode !== null) break
    if (await answers(port)) return
  }
  child.kill('SIGKILL')
  throw new Error(`it did not start: ${readFileSync(log, 'utf8').slice(-2000)}`)
}

/** True when the port accepts a connection. */
const answers = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    const settle = (open: boolean) => () => {
      socket.destroy()
      resolve(open)
    }
    socket.on('connect', settle(true))
    socket.on('error', settle(false))
  })
