import { join } from 'node:path'
import type { Fact, Workload } from '../bench.js'
import { ask } from '../checks.js'
import { CONTESTANTS, usual } from '../contestants.js'
import { BASIC, PREFIX, secret } from '../data.js'
import { startLoad } from '../generator.js'
import { getPlan } from '../plan.js'
import { type Running, start } from '../processes.js'

const REVOCATIONS = 500
const AT_ONCE = 8

/** Two instances under load. A token is revoked on one, and both must refuse it once that is answered. */
export const revocation: Workload = async bench => {
  // The load uses the first half of the tokens.
  const half = 10_000
  const sizes = usual(2 * half)
  const clone = await bench.postgres.clone(sizes)
  const instance = (name: string): Promise<Running> =>
    start(CONTESTANTS['heroes-pg'], { sizes, databaseUrl: clone.url, folder: join(bench.folder, name) })
  const instances = [await instance('first'), await instance('second')] as const
  const loads = instances.map(running =>
    startLoad(running.url, getPlan(running, '/heroes/{hero}', half, sizes.heroes), 32, 600)
  )
  let sent = 0
  let accepted = 0
  let taken = half
  const revokeSome = async (): Promise<void> => {
    while (taken < half + REVOCATIONS) {
      const number = ++taken
      const [here, there] = number % 2 === 0 ? instances : [instances[1], instances[0]]
      const headers = { authorization: `Bearer ${secret(PREFIX.access, number)}` }
      const before = await Promise.all(instances.map(running => ask(running, '/heroes/1', { headers })))
      const refusal = before.find(({ status }) => status !== 200)
      if (refusal !== undefined) throw new Error(`a live token is refused: ${refusal.status} ${refusal.text}`)
      // By turns, an access token is revoked alone, or a refresh token with its whole grant.
      const prefix = number % 4 < 2 ? PREFIX.access : PREFIX.refresh
      const answer = await ask(here, '/auth/revoke', {
        method: 'POST',
        headers: { authorization: BASIC },
        body: new URLSearchParams({ token: secret(prefix, number) })
      })
      if (answer.status !== 200) throw new Error(`a revocation is ${answer.status}: ${answer.text}`)
      const after = await Promise.all([there, here].map(running => ask(running, '/heroes/1', { headers })))
      sent += after.length
      accepted += after.filter(({ status }) => status !== 401).length
    }
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, revokeSome))
  } finally {
    for (const load of loads) load.stop()
    const done = await Promise.all(loads.map(load => load.done))
    for (const running of instances) await running.stop()
    await clone.drop()
    const broken = done.reduce((sum, { refused, failed }) => sum + refused + failed, 0)
    if (broken > 0) bench.say(`${broken} requests of the load were refused or lost`)
  }
  const facts: Fact[] = [
    { what: 'requests sent after a revocation had been answered', value: sent },
    { what: 'accepted of these', value: accepted, floor: 0, goal: 0, atMost: true }
  ]
  return { title: 'revocation on two instances under load', rows: [], facts }
}
