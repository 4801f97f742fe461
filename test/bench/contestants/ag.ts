import type { IncomingMessage, ServerResponse } from 'node:http'
import postgres from 'postgres'
import { bearerOf, digestOf, heroIdOf, refuse, send, serve } from './hand.js'
import { readSettings } from './settings.js'

/** As a1, but concurrent requests are looked up in one statement, and at most two statements are under way. */
const IN_FLIGHT = 2
const MOST = 256

const sql = postgres(readSettings().databaseUrl, { max: IN_FLIGHT, fetch_types: false })

const STATEMENT = `
  select wanted.number, t.expirationdate > $3::timestamptz as live, h.id, h.name
  from unnest($1::bytea[], $2::int8[]) with ordinality as wanted (digest, id, number)
  join token t on t.access_digest = wanted.digest
  join "grant" g on g.id = t.grant_id
  left join hero h on h.id = wanted.id
  where t.spent_at is null and t.revoked_at is null and g.revoked_at is null`

interface Row {
  readonly number: string
  readonly live: boolean
  readonly id: string | null
  readonly name: string | null
}

interface Lookup {
  readonly digest: Buffer
  readonly id: number
  resolve(row: Row | undefined): void
  reject(error: unknown): void
}

const waiting: Lookup[] = []
let inFlight = 0
let scheduled = false

const lookUp = (digest: Buffer, id: number): Promise<Row | undefined> =>
  new Promise((resolve, reject) => {
    waiting.push({ digest, id, resolve, reject })
    if (scheduled || inFlight >= IN_FLIGHT) return
    scheduled = true
    setImmediate(flush)
  })

const flush = (): void => {
  scheduled = false
  if (waiting.length === 0 || inFlight >= IN_FLIGHT) return
  const batch = waiting.splice(0, MOST)
  inFlight++
  run(batch).finally(() => {
    inFlight--
    flush()
  })
  flush()
}

const run = async (batch: readonly Lookup[]): Promise<void> => {
  try {
    const digests = `{${batch.map(({ digest }) => `"\\\\x${digest.toString('hex')}"`).join()}}`
    const ids = `{${batch.map(({ id }) => id).join()}}`
    const rows = await sql.unsafe<Row[]>(STATEMENT, [digests, ids, new Date()], { prepare: true })
    const found: (Row | undefined)[] = Array.from({ length: batch.length })
    for (const row of rows) found[Number(row.number) - 1] = row
    batch.forEach((lookup, index) => {
      lookup.resolve(found[index])
    })
  } catch (error) {
    for (const lookup of batch) lookup.reject(error)
  }
}

const find = async (request: IncomingMessage, response: ServerResponse, heroId: number): Promise<void> => {
  const token = bearerOf(request)
  if (token === undefined) return refuse(response, 401)
  const row = await lookUp(digestOf(token), heroId)
  if (!row?.live) return refuse(response, 401)
  if (row.name === null) return refuse(response, 404)
  send(response, 200, JSON.stringify({ id: Number(row.id), name: row.name }))
}

serve((request, response) => {
  const id = heroIdOf(request)
  return id === undefined ? refuse(response, 404) : find(request, response, id)
})
