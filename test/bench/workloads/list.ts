import type { Bench, Fact, Outcome, Row, Workload } from '../bench.js'
import { ask } from '../checks.js'
import { usual } from '../contestants.js'
import { PREFIX, secret } from '../data.js'
import { getPlan } from '../plan.js'
import type { Running } from '../processes.js'
import { fact, type Race, ratioOf, rowsOf, run, type Setting, samplesOf } from '../race.js'

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
  const { rows: found, facts: compared } = await byName(bench)
  return { title: 'GET /heroes', rows: [...rows, ...found], facts: [...facts, ...compared] } satisfies Outcome
}

/** Heroes by a part of the name that few have, beside heroes by their id, among a million. */
const byName = async (bench: Bench): Promise<Pick<Outcome, 'rows' | 'facts'>> => {
  const [id, name]: readonly [Setting, Setting] = [
    { label: 'by id, of 1,000,000', connections: 1, path: '/heroes/{hero}', leastSeconds: 5 },
    { label: 'by a part of the name', connections: 1, path: '/heroes?name=ero+{hero}', leastSeconds: 5 }
  ]
  const sizes = { ...usual(10_000), heroes: MILLION }
  const race: Race = {
    entrants: [{ name: 'heroes-pg', settings: [id, name] }],
    sizes,
    fresh: false,
    check: running => checkList(running, `/heroes?name=ero+${MILLION}`, 1),
    plan: (running, { path = '' }) => getPlan(running, path, sizes.tokens, MILLION)
  }
  const results = await run(bench, race)
  await bench.postgres.forget(sizes)
  const [byId, byPart] = [id, name].map(({ label }) => samplesOf(results, 'heroes-pg', label))
  return {
    rows: rowsOf(race, results, () => undefined),
    facts: fact('?name= among 1,000,000, p50 × a look-up by id', ratioOf(byPart ?? [], byId ?? [], 'p50'), {
      floor: 50,
      goal: 10,
      atMost: true
    })
  }
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
