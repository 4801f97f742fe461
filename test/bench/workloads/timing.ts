import { join } from 'node:path'
import { type Fact, median, type Workload } from '../bench.js'
import { askForToken } from '../checks.js'
import { CONTESTANTS, usual } from '../contestants.js'
import { BASIC, PASSWORD, username } from '../data.js'
import { start } from '../processes.js'

const LOGINS = 200

/** The time that a failed login takes, by turns for an unknown user and for a wrong password. */
export const timing: Workload = async bench => {
  const sizes = usual(1000)
  const clone = await bench.postgres.clone(sizes)
  const running = await start(CONTESTANTS['heroes-pg'], {
    sizes,
    databaseUrl: clone.url,
    folder: join(bench.folder, 'contestants'),
    // Otherwise the throttle would refuse all logins after the first hundred.
    env: { LOGIN_ATTEMPTS: '0' }
  })
  const unknown: number[] = []
  const wrong: number[] = []
  const fail = async (into: number[] | undefined, name: string): Promise<void> => {
    const started = performance.now()
    const form = { grant_type: 'password', username: name, password: `not ${PASSWORD}` }
    const { status } = await askForToken(running, form, BASIC)
    if (status !== 400) throw new Error(`a login that fails is ${status}`)
    into?.push(performance.now() - started)
  }
  try {
    for (let number = 1; number <= 50; number++) await fail(undefined, username(number))
    for (let number = 1; number <= LOGINS; number++) {
      const turns = [() => fail(unknown, `nobody ${number}`), () => fail(wrong, username(number))]
      for (const turn of number % 2 === 0 ? turns : turns.toReversed()) await turn()
    }
  } finally {
    await running.stop()
    await clone.drop()
  }
  const difference = (100 * Math.abs(median(unknown) - median(wrong))) / median(wrong)
  const facts: Fact[] = [
    { what: 'an unknown user, median', value: median(unknown), unit: ' ms' },
    { what: 'a wrong password, median', value: median(wrong), unit: ' ms' },
    { what: 'the difference', value: difference, unit: ' %' }
  ]
  return { title: 'what the time of a failed login tells', rows: [], facts }
}
