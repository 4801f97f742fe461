import t from 'tap'
import { compose } from '../../app/compose.js'
import { readSettings } from '../../app/settings/settings.js'
import { madeFolder } from '../support/embedded.js'
import { createDatabase } from '../support/postgres.js'

t.test(
  'a sweep removes grants a minute after their end on a server, and a day after where no other clock is',
  async t => {
    const { url, drop } = await createDatabase()
    t.teardown(drop)
    const cases: [env: Record<string, string>, seconds: number][] = [
      [{ DATABASE_URL: url }, 60],
      [{ DATABASE_URL: 'memory:' }, 86_400],
      [{ DATA_DIR: await madeFolder(t) }, 86_400]
    ]
    for (const [env, seconds] of cases) {
      const { database, createUseCases } = await compose(readSettings(env))
      t.teardown(database.close)
      await database.migrate()
      const { grants } = database.stores
      const removals = t.capture(grants, 'removeExpired', grants.removeExpired)
      await createUseCases({ emit: () => {} }).sweep()
      const [removal] = removals()
      const delay = (Date.now() - Number(removal?.args[0])) / 1000
      t.ok(delay > seconds - 5 && delay < seconds + 50, `${delay} s with ${Object.keys(env).join()}`)
    }
  }
)
