// Two PostgreSQL servers, of which one streams to the other and commits nothing before the other has it.

import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { type Server, startServer } from './postgres.js'

export interface Pair {
  /** Names both servers in the order of their making, whichever is the primary. */
  readonly url: string
  primary(): Server
  standby(): Server
  /** Makes the standby the primary. The other one must have ended. Resolves once the new one takes writes. */
  promote(): Promise<void>
  /** Makes the server that has ended a standby of the other, from a copy of its data. Resolves once they are in step. */
  rejoin(): Promise<void>
  remove(): Promise<void>
}

/** What a copy does not take: what belongs to the running server. */
const OWN_FILES = new Set(['postmaster.pid', 'postmaster.opts', 'standby.signal', 'backup_label.old'])

/** Copies the data of a running server into a folder that does not exist, as a standby of that server. */
const copyAsStandby = async (from: Server, to: string): Promise<void> => {
  const { port, password } = new URL(from.url)
  const sql = postgres(from.url, { max: 1, onnotice: () => {} })
  try {
    await sql`select pg_backup_start('a standby', true)`
    cpSync(from.data, to, { recursive: true, filter: path => !OWN_FILES.has(basename(path)) && existsSync(path) })
    const [stopped] = await sql`select labelfile from pg_backup_stop(false)`
    writeFileSync(join(to, 'backup_label'), String(stopped?.labelfile))
  } finally {
    await sql.end()
  }
  writeFileSync(join(to, 'standby.signal'), '')
  const upstream = `host=127.0.0.1 port=${port} user=postgres password=${password} application_name=standby`
  writeFileSync(
    join(to, 'postgresql.auto.conf'),
    `primary_conninfo = '${upstream}'\nrecovery_target_timeline = 'latest'\n`
  )
}

/** From now on the primary answers no commit before its standby has it on its disk. */
const synchronise = async (primary: Server): Promise<void> => {
  const sql = postgres(primary.url, { max: 1, onnotice: () => {} })
  try {
    await sql.unsafe("alter system set synchronous_standby_names = 'standby'")
    await sql`select pg_reload_conf()`
    for (;;) {
      const [row] = await sql`select 1 from pg_stat_replication where state = 'streaming' and sync_state = 'sync'`
      if (row !== undefined) return
      await sleep(20)
    }
  } finally {
    await sql.end()
  }
}

export const startPair = async (): Promise<Pair> => {
  const first = await startServer()
  const second = await startServer({
    password: new URL(first.url).password,
    fill: data => copyAsStandby(first, data)
  })
  await synchronise(first)
  let [primary, standby] = [first, second]
  const { username, password } = new URL(first.url)
  const hosts = [first, second].map(({ url }) => new URL(url).host)
  return {
    url: `postgres://${username}:${password}@${hosts.join()}/postgres`,
    primary: () => primary,
    standby: () => standby,
    async promote() {
      const sql = postgres(standby.url, { max: 1, onnotice: () => {} })
      await sql`select pg_promote()`
      await sql.end()
      ;[primary, standby] = [standby, primary]
    },
    async rejoin() {
      rmSync(standby.data, { recursive: true })
      await copyAsStandby(primary, standby.data)
      await standby.start()
      await synchronise(primary)
    },
    async remove() {
      await Promise.all([first.remove(), second.remove()])
    }
  }
}
