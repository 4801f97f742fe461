import { join } from 'node:path'
import type { Bench, Fact, Row, Sample, Workload } from '../bench.js'
import { CONTESTANTS, usual } from '../contestants.js'
import type { Sizes } from '../data.js'
import type { Clone } from '../database.js'
import { measure } from '../measure.js'
import { getPlan } from '../plan.js'
import { type Running, start } from '../processes.js'
import { ratioOf } from '../race.js'

const CONNECTIONS = 64

/** Reads of heroes with few and with many tokens in the database, the space that these take on the disk, and pages of heroes. */
export const growth: Workload = async bench => {
  const { rounds, seconds, warmUp } = bench.options
  const few: Sizes = { ...usual(10_000), heroes: 1_000_000 }
  const many: Sizes = { ...few, tokens: bench.options.rows ?? 10_000_000 }
  const small = await bench.postgres.clone(few)
  bench.say(`loading ${many.tokens.toLocaleString('en')} tokens, which takes minutes`)
  const before = performance.now()
  const large = await bench.postgres.clone(many)
  // Only the copy is used, and the disk need not hold two databases of this size.
  await bench.postgres.forget(many)
  bench.say(`loaded in ${Math.round((performance.now() - before) / 1000)} s`)

  for (const clone of [small, large]) await warm(clone)
  bench.say('read into the buffers, where a server that has run for a while has them')

  const samples: Record<'few' | 'many' | 'page', Sample[]> = { few: [], many: [], page: [] }
  for (let round = 0; round < rounds; round++) {
    const turns = [
      { name: 'few' as const, clone: small, sizes: few },
      { name: 'many' as const, clone: large, sizes: many }
    ]
    for (const { name, clone, sizes } of round % 2 === 0 ? turns : turns.toReversed()) {
      const running = await enter(bench, clone, sizes)
      try {
        const reads = getPlan(running, '/heroes/{hero}', sizes.tokens, sizes.heroes)
        await measure(bench, running, reads, CONNECTIONS, warmUp)
        samples[name].push(await measure(bench, running, reads, CONNECTIONS, seconds))
        bench.say(`round ${round + 1}: ${name}: ${Math.round(samples[name].at(-1)?.rate ?? 0)}/s`)
        if (name === 'few') continue
        const pages = getPlan(running, '/heroes?limit=50&after={hero}', sizes.tokens, sizes.heroes - 50)
        samples.page.push(await measure(bench, running, pages, 16, seconds))
      } finally {
        await running.stop()
      }
    }
  }
  const facts = await sizesOf(large, many)
  await small.drop()
  await large.drop()
  const ratio = ratioOf(samples.many, samples.few) ?? Number.NaN
  const { label } = CONTESTANTS['heroes-pg']
  const rows: Row[] = [
    { label, setting: `64, ${few.tokens.toLocaleString('en')} tokens`, samples: samples.few, ratio: undefined },
    { label, setting: `64, ${many.tokens.toLocaleString('en')} tokens`, samples: samples.many, ratio },
    { label, setting: '16, pages of 50', samples: samples.page, ratio: undefined }
  ]
  const what = `GET /heroes/{id} with ${many.tokens.toLocaleString('en')} tokens, × with 10,000`
  return {
    title: `growth, with ${many.heroes.toLocaleString('en')} heroes`,
    rows,
    facts: [{ what, value: ratio, floor: 0.9, goal: 0.95 }, ...facts]
  }
}

/** Reads all rows into the buffers along the primary keys. A sequential scan would keep nothing in the buffers. */
const warm = async ({ execute }: Clone): Promise<void> => {
  await execute('set enable_seqscan = off; set enable_bitmapscan = off; set max_parallel_workers_per_gather = 0')
  await execute("select count(issuedate) from token where access_digest >= ''")
  await execute(`select count(user_id) from "grant" where id >= '00000000-0000-0000-0000-000000000000'`)
  await execute('select count(name) from hero where id > 0')
}

const enter = (bench: Bench, { url }: Clone, sizes: Sizes): Promise<Running> =>
  start(CONTESTANTS['heroes-pg'], { sizes, databaseUrl: url, folder: join(bench.folder, 'contestants') })

const sizesOf = async (clone: Clone, { tokens, heroes }: Sizes): Promise<Fact[]> => {
  const facts: Fact[] = []
  for (const [table, rows] of [
    ['token', tokens],
    ['"grant"', tokens],
    ['hero', heroes]
  ] as const) {
    const bytes = async (expression: string): Promise<number> =>
      Number(await clone.value(`select ${expression}::float8 from pg_class where oid = '${table}'::regclass`))
    facts.push({ what: `bytes a row of ${table}`, value: (await bytes('pg_table_size(oid)')) / rows })
    facts.push({ what: `and in its indexes`, value: (await bytes('pg_indexes_size(oid)')) / rows })
  }
  const list = await clone.value(`
    select json_agg(json_build_object(
      'name', indexrelid::regclass::text, 'bytes', pg_relation_size(indexrelid)
    ))::text
    from pg_index where indrelid in ('token'::regclass, '"grant"'::regclass, 'hero'::regclass)`)
  const indexes: { name: string; bytes: number }[] = JSON.parse(String(list))
  for (const { name, bytes } of indexes)
    facts.push({ what: `index ${name}, freshly built`, value: bytes / 2 ** 20, unit: ' MB' })
  return facts
}
