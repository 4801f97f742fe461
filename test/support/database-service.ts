// The built service as a process on PostgreSQL: what suites over a real database and a real socket start from.

import postgres from 'postgres'
import type { Test } from 'tap'
import { administer } from './command.js'
import { migratedDatabase } from './databases.js'
import { ask, type Question, type RunningService, serveProcess } from './process.js'
import { basic, bearer, type Headers, LOGIN, type Tokens } from './service.js'
import { ADA, SECRET } from './world.js'

type Settings = Readonly<Record<string, string>>

export interface DatabaseService extends RunningService {
  /** The settings with which a command reaches the same database. */
  readonly env: Settings
  /** A connection of the test's own, as a superuser. */
  readonly sql: postgres.Sql
  /** A request of the client `app` that sends these fields as a form. */
  form(fields: Readonly<Record<string, string>>): Question
  /** Logs {@link ADA} in through `app`. */
  logIn(): Promise<{ readonly access: string; readonly refresh: string; readonly headers: Headers }>
}

/** Starts the service with the client `app` and the user {@link ADA}, on a database of its own unless `settings` name one. */
export const serveDatabase = async (t: Test, settings: Settings = {}): Promise<DatabaseService> => {
  const database = settings.DATABASE_URL ?? (await migratedDatabase(t))
  const env = { LOGIN_ATTEMPTS: '0', REGISTER_ATTEMPTS: '0', ...settings, DATABASE_URL: database }
  await administer('client add app --confidential --secret-stdin --redirect-uri https://app.example/cb', env, SECRET)
  const service = await serveProcess(t, env)
  const sql = postgres(database, { max: 2, onnotice: () => {} })
  t.teardown(() => sql.end())
  await ask(`${service.url}/register`, { body: ADA })
  const form: DatabaseService['form'] = fields => ({
    headers: { ...basic('app') },
    body: new URLSearchParams(fields)
  })
  return {
    ...service,
    env,
    sql,
    form,
    async logIn() {
      const { body } = await ask(`${service.url}/auth/token`, form(LOGIN))
      const { access_token: access, refresh_token: refresh }: Tokens = JSON.parse(body)
      return { access, refresh, headers: { ...bearer(access) } }
    }
  }
}
