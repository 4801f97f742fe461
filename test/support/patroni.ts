// A Patroni cluster: two PostgreSQL servers, of which the one that leads commits nothing before the other has it, and
// etcd, which holds who leads. The programs are those of Debian's packages, and everything listens on the loopback.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { freePort } from './ports.js'
import { ended, installedBinaries, killFamily, startGuard, temporaryFolder, unprivileged } from './postgres.js'
import { ask } from './process.js'

/** A PostgreSQL server with the Patroni that runs it. */
export interface Member {
  readonly name: string
  /** The URL with which a superuser reaches the server's database `postgres`. */
  readonly url: string
  /** Kills Patroni and every process of the server, as the end of a machine does. */
  kill(): Promise<void>
  /** Kills Patroni alone. The server goes on, and does not know that another one is promoted. */
  killPatroni(): Promise<void>
  /** Starts Patroni again, which makes the server a standby. Resolves once the other member commits nothing without it. */
  comeBack(): Promise<void>
  /** What Patroni and the server have written. */
  log(): string
}

export interface Cluster {
  /** Names both servers, whichever leads. */
  readonly url: string
  leader(): Member
  standby(): Member
  /** Resolves once Patroni has promoted the standby: it takes writes. */
  promoted(): Promise<void>
  /** Asks Patroni to change leader and standby. Resolves once the standby of before takes writes. */
  switchOver(): Promise<void>
  /** Resolves once the leader commits nothing without its standby. */
  inStep(): Promise<void>
  remove(): Promise<void>
}

const PROGRAMS = ['postgres', 'initdb', 'pg_controldata', 'pg_basebackup', 'pg_rewind']

/** In milliseconds. */
const LONGEST_WAIT = 90_000

/**
 * In seconds. A leader that says nothing for `ttl` is replaced. They are less than in production, and Patroni makes more
 * of them where it knows a minimum (`ttl` of 20 from 3.2 on).
 */
const TIMES = { ttl: 5, loop_wait: 1, retry_timeout: 2 }

const findBinaries = (): string | undefined =>
  installedBinaries().find(bin => PROGRAMS.every(program => existsSync(join(bin, program))))

/** The programs that a cluster needs and that this machine lacks. */
export const missingPrograms = (): readonly string[] => {
  const lacks = (program: string): boolean => spawnSync(program, ['--version']).status !== 0
  return [...['patroni', 'etcd'].filter(lacks), ...(findBinaries() === undefined ? ['pg_rewind'] : [])]
}

/** Starts a cluster in a temporary folder. Both are removed when this process ends, however it ends. */
export const startCluster = async (): Promise<Cluster> => {
  const bin = findBinaries()
  if (bin === undefined) throw new Error('there is no PostgreSQL with pg_rewind')
  const account = unprivileged()
  const folder = temporaryFolder(account)
  const guard = startGuard(folder)

  /** Starts a program that writes its id to a file for the guard, and its output to another one. */
  const start = (name: string, program: string, args: readonly string[]): ChildProcess => {
    const output = openSync(join(folder, `${name}.log`), 'a')
    const child = spawn(program, args, {
      ...account,
      cwd: folder,
      detached: true,
      env: { PATH: process.env.PATH, HOME: folder, LC_ALL: 'C.UTF-8' },
      stdio: ['ignore', output, output]
    })
    closeSync(output)
    child.unref()
    const file = join(folder, `${name}.pid`)
    writeFileSync(file, `${child.pid}\n`)
    child.once('exit', () => rmSync(file, { force: true }))
    return child
  }

  const remove = async (): Promise<void> => {
    guard.stdin?.end()
    await ended(guard)
  }

  try {
    const [client, peer] = [await freePort(), await freePort()]
    const etcd = { client: `http://127.0.0.1:${client}`, peer: `http://127.0.0.1:${peer}` }
    start('etcd', 'etcd', [
      `--data-dir=${join(folder, 'etcd')}`,
      '--name=etcd',
      `--listen-client-urls=${etcd.client}`,
      `--advertise-client-urls=${etcd.client}`,
      `--listen-peer-urls=${etcd.peer}`,
      `--initial-advertise-peer-urls=${etcd.peer}`,
      `--initial-cluster=etcd=${etcd.peer}`
    ])
    const password = randomBytes(12).toString('hex')

    const makeMember = async (name: string): Promise<Member & { readonly api: string }> => {
      const [rest, port] = [await freePort(), await freePort()]
      const api = `127.0.0.1:${rest}`
      const data = join(folder, name)
      const file = join(folder, `${name}.json`)
      const configuration = {
        scope: 'heroes',
        name,
        restapi: { listen: api, connect_address: api },
        etcd3: { host: `127.0.0.1:${client}` },
        bootstrap: {
          dcs: { ...TIMES, synchronous_mode: true, postgresql: { use_pg_rewind: true, use_slots: true } },
          initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'no-sync']
        },
        postgresql: {
          listen: `127.0.0.1:${port}`,
          connect_address: `127.0.0.1:${port}`,
          data_dir: data,
          bin_dir: bin,
          pgpass: join(folder, `${name}.pgpass`),
          parameters: { unix_socket_directories: '' },
          pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256'],
          authentication: {
            superuser: { username: 'postgres', password },
            replication: { username: 'replicator', password }
          }
        }
      }
      // JSON is YAML.
      writeFileSync(file, JSON.stringify(configuration), { mode: 0o600 })
      if (account) chownSync(file, account.uid, account.gid)
      const run = (): ChildProcess => start(name, 'patroni', [file])
      let patroni = run()
      return {
        name,
        api,
        url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
        async killPatroni() {
          patroni.kill('SIGKILL')
          await ended(patroni)
        },
        async kill() {
          patroni.kill('SIGKILL')
          killFamily(Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]))
          await ended(patroni)
        },
        async comeBack() {
          patroni = run()
          await inStep()
        },
        log: () => readFileSync(join(folder, `${name}.log`), 'utf8')
      }
    }

    /** Resolves once `happened` does not resolve to undefined, to that value. */
    const until = async <T>(what: string, happened: () => Promise<T | undefined>): Promise<T> => {
      for (const end = performance.now() + LONGEST_WAIT; performance.now() < end; await sleep(20)) {
        const found = await happened().catch(() => undefined)
        if (found !== undefined) return found
      }
      throw new Error(`${what}:\n${members.map(({ log }) => log().slice(-5000)).join('\n')}`)
    }

    /** Whether the server of a member takes writes. False when it does not answer. */
    const leads = async ({ url }: Member): Promise<boolean> => {
      const sql = postgres(url, { max: 1, connect_timeout: 1, onnotice: () => {} })
      try {
        const [row] = await sql`select pg_is_in_recovery() as standby`
        return row?.standby === false
      } finally {
        await sql.end()
      }
    }

    /** What Patroni says of the members, by their names. */
    const roles = async (): Promise<Readonly<Record<string, string>>> => {
      const { body } = await ask(`http://${leader.api}/cluster`)
      const told: readonly { name: string; role: string }[] = JSON.parse(body).members
      return Object.fromEntries(told.map(({ name, role }) => [name, role]))
    }

    const inStep = async (): Promise<void> => {
      await until('the standby is not in step', async () => {
        const found = await roles()
        return (found[leader.name] === 'leader' && found[standby.name] === 'sync_standby') || undefined
      })
    }

    const promoted = async (): Promise<void> => {
      await until('the standby was not promoted', async () => (await leads(standby)) || undefined)
      ;[leader, standby] = [standby, leader]
    }

    let leader = await makeMember('a')
    let standby = await makeMember('b')
    const members = [leader, standby]
    const first = await until('nobody leads', async () => {
      for (const member of members) if (await leads(member).catch(() => false)) return member
      return undefined
    })
    if (first === standby) [leader, standby] = [standby, leader]
    await inStep()
    const hosts = members.map(({ url }) => new URL(url).host)
    return {
      url: `postgres://postgres:${password}@${hosts.join()}/postgres?target_session_attrs=read-write`,
      leader: () => leader,
      standby: () => standby,
      promoted,
      async switchOver() {
        const body = { leader: leader.name, candidate: standby.name }
        const { status, body: answer } = await ask(`http://${leader.api}/switchover`, { body })
        if (status !== 200) throw new Error(`Patroni refuses to switch over: ${answer}`)
        await promoted()
      },
      inStep,
      remove
    }
  } catch (error) {
    await remove()
    throw error
  }
}
