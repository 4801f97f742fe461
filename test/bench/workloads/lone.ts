import { join } from 'node:path'
import type { Sample, Workload } from '../bench.js'
import { checkReads } from '../checks.js'
import { CONTESTANTS, type ContestantName, usual } from '../contestants.js'
import { measure } from '../measure.js'
import { getPlan, type Plan } from '../plan.js'
import { type Running, start } from '../processes.js'
import { fact, inTurn, ratioOf } from '../race.js'

const NAMES: readonly ContestantName[] = ['a1', 'heroes-pg', 'heroes-pg-before']

/** Of the warm-up. V8 compiles a function after enough calls, and one connection makes few. */
const MANY = 64
/** In each round, for each contestant. */
const TURNS = 7
const TURN_SECONDS = 1

interface Entrant {
  readonly name: ContestantName
  /** One for each turn of every round. */
  readonly samples: Sample[]
}

/**
 * `GET /heroes/{id}` at one connection. Such a read takes a tenth of a millisecond, and the speed of a machine may
 * change by a half within seconds. So the contestants of a round are all alive and take short turns, of which each is
 * compared with its neighbour. A round starts them anew, because two processes of one service differ by a fiftieth.
 */
export const lone: Workload = async bench => {
  const { options, postgres, folder } = bench
  const sizes = usual(options.rows ?? 100_000)
  const asked = (name: ContestantName): boolean =>
    (options.only?.includes(name) ?? true) && (name !== 'heroes-pg-before' || options.before !== undefined)
  const entrants: readonly Entrant[] = NAMES.filter(asked).map(name => ({ name, samples: [] }))
  const database = await postgres.clone(sizes)
  const plan = (running: Running): Plan => getPlan(running, running.contestant.readPath, sizes.tokens, sizes.heroes)

  for (let round = 0; round < options.rounds; round++) {
    const alive: { readonly entrant: Entrant; readonly running: Running }[] = []
    try {
      for (const entrant of inTurn(entrants, round)) {
        const running = await start(CONTESTANTS[entrant.name], {
          sizes,
          databaseUrl: database.url,
          folder: join(folder, 'contestants', entrant.name),
          before: options.before
        })
        alive.push({ entrant, running })
        await checkReads(running)
        await measure(bench, running, plan(running), MANY, options.warmUp)
      }
      for (let turn = 0; turn < TURNS; turn++) {
        for (const { entrant, running } of inTurn(alive, turn)) {
          entrant.samples.push(await measure(bench, running, plan(running), 1, TURN_SECONDS))
        }
      }
    } finally {
      for (const { running } of alive) await running.stop()
    }
    bench.say(`round ${round + 1}: ${alive.length} contestants have had ${TURNS} turns each`)
  }
  await database.drop()

  const samplesOf = (name: ContestantName): readonly Sample[] =>
    entrants.find(entrant => entrant.name === name)?.samples ?? []
  const byHand = samplesOf('a1')
  const heroes = samplesOf('heroes-pg')
  return {
    title: 'GET /heroes/{id} at one connection',
    rows: entrants.map(({ name, samples }) => ({
      label: CONTESTANTS[name].label,
      setting: '1',
      samples,
      ratio: ratioOf(samples, byHand)
    })),
    facts: [
      ...fact("PostgreSQL at 1, p50 × a1's", ratioOf(heroes, byHand, 'p50'), { floor: 1.1, goal: 1, atMost: true }),
      ...fact('p50 × the other checkout', ratioOf(heroes, samplesOf('heroes-pg-before'), 'p50'))
    ]
  }
}
