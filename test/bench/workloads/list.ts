import type { Fact, Outcome, Row, Workload } from '../bench.js'
import { ask } from '../checks.js'
import { usual } from '../contestants.js'
import { PREFIX, secret } from '../data.js'
import { getPlan } from '../plan.js'
import type { Running } from '../processes.js'
import { type Race, ratioOf, rowsOf, run, type Setting, samplesOf } from '../race.js'

const MILLION = 1_000_000
const PAGE = 50

interface Case {
  readonly heroes: number
  readonly setting: Setting
  readonly expected: number
}

const CASES: readonly Case[] = [
  { heroes: 10, setting: { label: '10 rows', connections: 16, path: '/heroes' }, expected: 10 },
  { heroes: 1000, setting: { label: '1,000 rows', connections: 16, path: '/heroes' }, expected: 1000 },
  {
    heroes: 100_000,
    setting: { label: '100,000 rows', connections: 2, path: '/heroes', leastSeconds: 5 },
    expected: 100_000
  },
  {
    heroes: MILLION,
    setting: { label: `${PAGE} of 1,000,000`, connections: 16, path: `/heroes?limit=${PAGE}&after={hero}` },
    expected: PAGE
  }
]

/** `GET /heroes` for all heroes, and for pages from anywhere among a million. */
export const list: Workload = async bench => {
  const rows: Row[] = []
  const facts: Fact[] = []
  for (const { heroes, setting, expected } of CASES) {
    const sizes = { ...usual(10_000), heroes }
    const race: Race = {
      entrants: [
        { name: 'a1', settings: [setting] },
        { name: 'heroes-pg', settings: [setting] },
        ...(heroes < MILLION ? [{ name: 'heroes-memory' as const, settings: [setting] }] : [])
      ],
      sizes,
      fresh: false,
      check: running => checkList(running, (setting.path ?? '').replace('{hero}', '1'), expected),
      plan: running => getPlan(running, setting.path ?? '', sizes.tokens, heroes - PAGE)
    }
    const results = await run(bench, race)
    await bench.postgres.forget(sizes)
    rows.push(...rowsOf(race, results, () => 'a1'))
    const value = ratioOf(samplesOf(results, 'heroes-pg', setting.label), samplesOf(results, 'a1', setting.label))
    if (value !== undefined) facts.push({ what: `GET /heroes, ${setting.label}, × by hand`, value })
  }
  return { title: 'GET /heroes', rows, facts } satisfies Outcome
}

const checkList = async (running: Running, path: string, expected: number): Promise<void> => {
  const authorization = `Bearer ${secret(PREFIX.access, 1)}`
  const { status, text } = await ask(running, path, { headers: { authorization } })
  const heroes: { id: number; name: string }[] = status === 200 ? JSON.parse(text) : []
  const sorted = heroes.every(({ id }, index) => index === 0 || id > (heroes[index - 1]?.id ?? 0))
  if (heroes.length !== expected || !sorted || !heroes.every(({ id, name }) => name === `hero ${id}`)) {
    throw new Error(`${running.contestant.name} answers wrongly: ${path}: ${text.slice(0, 200)}`)
  }
  if (
    (await ask(running, path, { headers: { authorization: `Bearer ${secret(PREFIX.expired, 1)}` } })).status !== 401
  ) {
    throw new Error(`${running.contestant.name} lists for an expired token`)
  }
}
