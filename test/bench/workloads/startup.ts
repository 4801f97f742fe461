import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../support/ports.js'
import { type Fact, median, type Workload } from '../bench.js'
import { usual } from '../contestants.js'
import { loadEmbedded } from '../database.js'
import { type Cores, commandOn, residentMemory } from '../machine.js'
import { programIn, THIS_CHECKOUT, track } from '../processes.js'

interface Start {
  readonly milliseconds: number
  readonly memory: number
}

interface Kind {
  readonly name: string
  readonly checkout?: string
  readonly env: Readonly<Record<string, string>>
  readonly cores: Cores
  readonly floor?: number
  readonly goal?: number
}

/**
 * The time from the command to the first answer, with a database that has its rows already. With `--before`, the other
 * checkout starts in the same rounds, on a database that it has made itself and that has no rows.
 */
export const startup: Workload = async bench => {
  const sizes = usual(1000)
  const folder = join(bench.folder, 'embedded')
  await loadEmbedded(folder, sizes)
  const clone = await bench.postgres.clone(sizes)
  const { before } = bench.options
  const others: readonly Kind[] =
    before === undefined
      ? []
      : [
          {
            name: `${EMBEDDED}, the other checkout`,
            checkout: before,
            env: { DATA_DIR: join(bench.folder, 'embedded-before') },
            cores: 'every'
          }
        ]
  // The first start makes the database.
  for (const kind of others) await startOnce(kind)
  const kinds: readonly Kind[] = [
    // As `npm start` finds it.
    { name: EMBEDDED, env: { DATA_DIR: folder }, cores: 'every', floor: 1200, goal: 800 },
    { name: `${EMBEDDED}, on one core`, env: { DATA_DIR: folder }, cores: 'node' },
    { name: 'PostgreSQL', env: { DATABASE_URL: clone.url }, cores: 'node' },
    { name: 'memory', env: { DATABASE_URL: 'memory:' }, cores: 'node' },
    ...others
  ]
  const starts = kinds.map((): Start[] => [])
  for (let round = 0; round < Math.max(3, bench.options.rounds); round++) {
    for (const [index, kind] of kinds.entries()) starts[index]?.push(await startOnce(kind))
  }
  const facts = kinds.flatMap(({ name, checkout: _checkout, env: _env, cores: _cores, ...aims }, index): Fact[] => [
    {
      what: `first answer on ${name}`,
      value: median(starts[index]?.map(one => one.milliseconds) ?? []),
      unit: ' ms',
      ...aims,
      atMost: true
    },
    { what: 'resident memory then', value: median(starts[index]?.map(one => one.memory) ?? []), unit: ' MB' }
  ])
  if (others.length > 0) facts.push({ what: `${EMBEDDED}, × the other checkout`, value: ratio(starts), atMost: true })
  await clone.drop()
  for (const made of [folder, ...others.map(({ env }) => String(env.DATA_DIR))])
    rmSync(made, { recursive: true, force: true })
  return { title: 'start-up', rows: [], facts }
}

const EMBEDDED = 'the embedded database'

/** Of the first kind's time to the last one's in the same round: the median. */
const ratio = (starts: readonly (readonly Start[])[]): number =>
  median(
    (starts[0] ?? []).map(
      ({ milliseconds }, round) => milliseconds / (starts.at(-1)?.[round]?.milliseconds ?? Number.NaN)
    )
  )

const startOnce = async ({ checkout = THIS_CHECKOUT, env, cores }: Kind): Promise<Start> => {
  const port = await freePort()
  const [command = '', ...args] = commandOn(cores, [process.execPath, programIn(checkout), 'serve'])
  const started = performance.now()
  const child = spawn(command, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, NODE_ENV: 'production', LOG_LEVEL: 'warn', PORT: String(port), ...env }
  })
  track(child)
  let complaint = ''
  child.stderr.on('data', data => {
    complaint += data
  })
  try {
    while (!((await isOpen(port)) && (await answersReady(port)))) {
      if (child.exitCode !== null) throw new Error(complaint)
      await sleep(5)
    }
    return { milliseconds: performance.now() - started, memory: residentMemory(child.pid ?? 0) }
  } finally {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  }
}

/** Takes less of a core that the start needs than a request does. */
const isOpen = async (port: number): Promise<boolean> => {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

const answersReady = async (port: number): Promise<boolean> => {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health/ready`)).status === 200
  } catch {
    return false
  }
}
