import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { freePort } from '../support/ports.js'
import { type Cores, commandOn } from './machine.js'

const THIS_CHECKOUT = join(import.meta.dirname, '../..')

/** What Node needs to run the TypeScript of this folder: tsx would wrap each function that a request makes. */
export const TYPESCRIPT = ['--import', pathToFileURL(join(THIS_CHECKOUT, 'test/support/typescript.mjs')).href]

export interface Contestant {
  readonly name: 'Heroes' | 'by hand' | 'before'
  /** What Node runs. */
  readonly program: readonly string[]
}

/** The service of a checkout that is built: what its package calls `bin`. */
const serviceOf = (checkout: string): string => {
  const { bin } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'))
  return join(checkout, bin.heroes)
}

export const HEROES: Contestant = { name: 'Heroes', program: [serviceOf(THIS_CHECKOUT), 'serve'] }

export const BY_HAND: Contestant = { name: 'by hand', program: [...TYPESCRIPT, join(import.meta.dirname, 'hand.ts')] }

/** The service of the checkout that `--before` names. */
export const beforeIn = (checkout: string): Contestant => ({
  name: 'before',
  program: [serviceOf(checkout), 'serve']
})

const alive = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL')
})

/** Has a child killed when this process ends. */
export const track = <Child extends ChildProcess>(child: Child): Child => {
  alive.add(child)
  child.once('exit', () => alive.delete(child))
  return child
}

const start = (program: readonly string[], env: Readonly<Record<string, string>>, cores: Cores) => {
  const [command = '', ...args] = commandOn(cores, [process.execPath, ...program])
  return track(
    spawn(command, args, {
      stdio: 'pipe',
      env: { PATH: process.env.PATH, NODE_ENV: 'production', LOG_LEVEL: 'warn', ...env }
    })
  )
}

/** Builds a checkout, as `npm ci` does. */
export const build = async (checkout = THIS_CHECKOUT): Promise<void> => {
  const child = spawn('npm', ['run', '--silent', 'build', '--', '--noCheck'], { cwd: checkout, stdio: 'inherit' })
  const [status] = await once(child, 'exit')
  if (status !== 0) throw new Error(`the build of ${checkout} failed`)
}

/** Runs a command of the service of a checkout on a database, with a line on its standard input. */
export const runCommand = async (
  databaseUrl: string,
  args: readonly string[],
  line: string,
  checkout = THIS_CHECKOUT
): Promise<void> => {
  const child = start([serviceOf(checkout), ...args], { DATABASE_URL: databaseUrl }, 'load')
  child.stdin.end(`${line}\n`)
  child.stdout.resume()
  const [[status], complaint] = await Promise.all([once(child, 'exit'), text(child.stderr)])
  if (status !== 0) throw new Error(`heroes ${args.join(' ')}: ${complaint}`)
}

export interface Running {
  readonly name: Contestant['name']
  readonly port: number
  readonly pid: number
  /** What it has printed so far. */
  said(): string
  /** Ends the process. Resolves when it has ended. */
  stop(): Promise<void>
}

/** In milliseconds. */
const PATIENCE = 120_000

/** Starts a contestant. Resolves once it serves. */
export const enter = async (
  { name, program }: Contestant,
  env: Readonly<Record<string, string>>,
  cores: Cores = 'contestant'
): Promise<Running> => {
  const port = await freePort()
  const child = start(program, { ...env, PORT: String(port) }, cores)
  child.stdin.end()
  let said = ''
  for (const output of [child.stdout, child.stderr]) {
    output.on('data', data => {
      said += data
    })
  }
  const end = performance.now() + PATIENCE
  while (!(await serves(port))) {
    if (child.exitCode !== null || performance.now() > end) throw new Error(`${name} did not start: ${said}`)
    await sleep(5)
  }
  return {
    name,
    port,
    pid: child.pid ?? 0,
    said: () => said,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
  }
}

/** The server written by hand has no such path, and answers with 404. */
const serves = async (port: number): Promise<boolean> => {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health/ready`)).status < 500
  } catch {
    return false
  }
}
