import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { enter, HEROES } from './contestants.js'
import { median, table } from './figures.js'
import { residentMemory } from './machine.js'
import { type Bench, inTurn, type Result } from './race.js'

/** The time from the command to the first answer, on every core and with a database that is there already, and the memory then. */
export const start = async (bench: Bench): Promise<Result> => {
  const folder = mkdtempSync(join(tmpdir(), 'heroes-bench-'))
  const database = await bench.server.copy({ heroes: 1000, tokens: 1000, chains: 0 })
  const kinds = [HEROES, bench.before]
    .flatMap(contestant => contestant ?? [])
    .flatMap(contestant =>
      [
        { store: 'the embedded database', env: { DATA_DIR: join(folder, contestant.name) } },
        { store: 'PostgreSQL', env: { DATABASE_URL: database.url } },
        { store: 'memory', env: { DATABASE_URL: 'memory:' } }
      ].map(({ store, env }) => ({ label: `${contestant.name} on ${store}`, contestant, env, starts: [] as Start[] }))
    )
  try {
    // The first round makes the embedded databases and does not count.
    for (let round = 0; round <= bench.options.rounds; round++) {
      for (const { label, contestant, env, starts } of inTurn(kinds, round)) {
        const begun = performance.now()
        const running = await enter(contestant, env, 'every')
        const milliseconds = performance.now() - begun
        if (round > 0) starts.push({ milliseconds, megabytes: residentMemory(running.pid) })
        await running.stop()
        bench.say(`round ${round}, ${label}: ${milliseconds.toFixed()} ms`)
      }
    }
  } finally {
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  }
  const medianOf = (starts: readonly Start[], figure: keyof Start): number => median(starts.map(start => start[figure]))
  const rows = kinds.map(({ label, starts }) => [
    label,
    medianOf(starts, 'milliseconds').toFixed(),
    medianOf(starts, 'megabytes').toFixed()
  ])
  return { title: 'Start', table: table(['contestant', 'ms to the first answer', 'MB resident'], rows), figures: [] }
}

interface Start {
  readonly milliseconds: number
  readonly megabytes: number
}
