// What clients see while something that the service needs fails, and what is left of their writes afterwards.

import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import type { Test } from 'tap'
import type { DatabaseService } from './database-service.js'
import { load, quantile, statuses, type Timed } from './load.js'
import { ask } from './process.js'
import { bearer } from './service.js'

/** Each of so many callers sends a write, and the next one so many milliseconds after its answer: 200 writes a second. */
const CALLERS = 24
const PAUSE = 100
/** In milliseconds: for how long the service is watched before a fault, and after it is whole again. */
const CALM = 1000
/** In milliseconds: how long after the end of a fault the service may refuse writes. */
const MOST_UNTIL_WHOLE = 5000
/** In seconds. */
const LONGEST_ANSWER = 5
const REVOCATIONS = 10

export interface Faults {
  /**
   * Stages a fault under 200 writes a second. `fault` resolves when it is over. The test fails when an answer is neither
   * 200 nor 503 or takes five seconds, when the service refuses writes five seconds after the fault, when an
   * acknowledged write is lost, and when a token opens anything whose revocation was acknowledged. Resolves to the number
   * of refused writes.
   */
  stage(t: Test, name: string, fault: () => Promise<unknown>): Promise<number>
}

/** `databaseUrl` leads to the database past whatever the faults are staged with. */
export const createFaults = async (
  { url, logIn, form, child }: Pick<DatabaseService, 'url' | 'logIn' | 'form' | 'child'>,
  databaseUrl: () => string
): Promise<Faults> => {
  const { headers } = await logIn()
  let named = 0

  const write = (): readonly [string, { headers: typeof headers; body: { name: string } }] => {
    named += 1
    return [`${url}/heroes`, { headers, body: { name: `hero ${named}` } }]
  }

  /** How many of the acknowledged heroes the database does not have. */
  const countLost = async (acknowledged: readonly Timed[]): Promise<number> => {
    const sql = postgres(databaseUrl(), { max: 1, onnotice: () => {} })
    const rows = await sql`select name from hero`
    await sql.end()
    const stored = new Set(rows.map(({ name }) => name))
    return acknowledged.filter(({ question: { body } }) => !stored.has(Object(body).name)).length
  }

  /** Revokes tokens one by one. The function that it returns resolves to those whose revocation was acknowledged. */
  const startRevoking = async (): Promise<() => Promise<readonly string[]>> => {
    const tokens: string[] = []
    for (let i = 0; i < REVOCATIONS; i++) tokens.push((await logIn()).access)
    const work = async (): Promise<readonly string[]> => {
      const revoked: string[] = []
      for (const token of tokens) {
        const { status } = await ask(`${url}/auth/revoke`, form({ token }))
        if (status === 200) revoked.push(token)
        await sleep(PAUSE)
      }
      return revoked
    }
    const done = work()
    return () => done
  }

  return {
    async stage(t, name, fault) {
      const revoking = await startRevoking()
      const writing = load(CALLERS, write, PAUSE)
      await sleep(CALM)
      await fault()
      const over = performance.now()
      const answers: Timed[] = []
      let lastRefusal = over
      do {
        await sleep(CALM)
        const taken = writing.take()
        answers.push(...taken)
        const refusals = taken.filter(({ status }) => status !== 200)
        lastRefusal = Math.max(lastRefusal, ...refusals.map(({ askedAt, milliseconds }) => askedAt + milliseconds))
      } while (performance.now() - lastRefusal < CALM)
      await writing.stop()
      answers.push(...writing.take())

      const acknowledged = answers.filter(({ status }) => status === 200)
      const refused = answers.length - acknowledged.length
      const longest = Math.max(...answers.map(({ seconds }) => seconds))
      const untilWhole = lastRefusal - over
      const revoked = await revoking()
      const opened = await Promise.all(
        revoked.map(async token => (await ask(`${url}/heroes/1`, { headers: { ...bearer(token) } })).status)
      )
      t.comment(
        `${name}: ${JSON.stringify(statuses(answers))}, median ${quantile(answers, 0.5).toFixed()} ms, longest ${longest.toFixed(1)} s, ` +
          `whole after ${(untilWhole / 1000).toFixed(1)} s, ${revoked.length} revoked`
      )
      const other = answers.filter(({ status }) => status !== 200 && status !== 503)
      t.strictSame(other, [], `${name}: every answer is 200 or 503`)
      t.ok(longest < LONGEST_ANSWER, `${name}: the longest answer took ${longest} s`)
      t.ok(untilWhole < MOST_UNTIL_WHOLE, `${name}: writes were refused for ${untilWhole} ms more`)
      t.equal(await countLost(acknowledged), 0, `${name}: no acknowledged write is lost`)
      t.strictSame(
        new Set(opened),
        new Set(revoked.length > 0 ? [401] : []),
        `${name}: no revoked token opens anything`
      )
      t.ok(acknowledged.length > 0, `${name}: some writes are acknowledged`)
      t.equal(child.exitCode, null, `${name}: the service goes on`)
      return refused
    }
  }
}
