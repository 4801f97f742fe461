import { HEROES } from './contestants.js'
import { type Bench, type Race, type Result, rate, ratioOf, run, type Setting, tableOf } from './race.js'

const READS: Setting = {
  label: 'reads at 64',
  plans: ({ heroes, tokens }) => [{ kind: 'reads', connections: 64, heroes, tokens }]
}

/** Reads among 10,000 tokens and among many, and the space that these take on the disk. */
export const growth = async (bench: Bench): Promise<Result> => {
  const entrants = [10_000, bench.options.tokens].map(tokens => ({
    label: `${tokens.toLocaleString('en')} tokens`,
    contestant: HEROES,
    sizes: { heroes: 100_000, tokens, chains: 0 }
  }))
  const bytes = []
  for (const { label, sizes } of entrants) {
    bench.say(`loading ${label}`)
    const database = await bench.server.load(sizes)
    // Along the keys, because a sequential scan keeps nothing in the buffers, where a server that has run for a while has them.
    await database.value('set enable_seqscan = off; set enable_bitmapscan = off')
    await database.value("select count(issuedate) from token where access_digest >= ''")
    await database.value(`select count(user_id) from "grant" where id >= '00000000-0000-0000-0000-000000000000'`)
    const total = await database.value(
      `select (pg_total_relation_size('token') + pg_total_relation_size('"grant"'))::float8`
    )
    bytes.push({ name: `bytes of a token with its grant, of ${label}`, value: Number(total) / sizes.tokens })
    await database.close()
  }
  const race: Race = { entrants, settings: [READS], writes: false }
  const results = await run(bench, race)
  const [few = [], many = []] = entrants.map(({ label }) => results(label, READS.label))
  const kept = { name: `reads with ${entrants[1]?.label}, × with 10,000`, value: ratioOf(many, few, rate) }
  return { title: 'Growth', table: tableOf(race, results), figures: [kept, ...bytes] }
}
