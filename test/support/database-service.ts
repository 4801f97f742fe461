import postgres from 'postgres'
import type { Test } from 'tap'
import { heroes } from './command.js'
import { createDatabase } from './postgres.js'
import { ask, type Question, type RunningService, serveProcess } from './process.js'
import { basic, bearer } from './service.js'
import { ADA, SECRET } from './world.js'

export interface DatabaseService extends RunningService {
  /** The settings that commands need to reach the same database. */
  readonly env: Readonly<Record<string, string>>
  readonly database: string
  /** A connection of the test's own, as a superuser. */
  readonly sql: postgres.Sql
  /** The form of a request that the client `app` makes. */
  form(fields: Record<string, string>): Question
  /** A login of {@link ADA} through `app`. */
  logIn(): Promise<{
    readonly access: string
    readonly refresh: string
    readonly headers: Readonly<Record<string, string>>
  }>
}

/** The built service as a process on a PostgreSQL database of its own, with the client `app` and the user {@link ADA}. */
export const serveDatabase = async (t: Test, settings: Record<string, string> = {}): Promise<DatabaseService> => {
  const { url: database, drop } = await createDatabase()
  t.teardown(drop)
  const env = { DATABASE_URL: database, LOGIN_ATTEMPTS: '0', LOG_LEVEL: 'info', ...settings }
  await heroes('client add app --confidential --secret-stdin'.split(' '), env, SECRET)
  await heroes('client set app --redirect-uri https://app.example/cb'.split(' '), env)
  const service = await serveProcess(t, env)
  const sql = postgres(database, { max: 2, onnotice: () => {} })
  t.teardown(() => sql.end())
  await ask(`${service.url}/register`, { body: ADA })
  const form = (fields: Record<string, string>): Question => ({
    headers: { ...basic('app') },
    body: new URLSearchParams(fields)
  })
  return {
    ...service,
    env,
    database,
    sql,
    form,
    async logIn() {
      const { body } = await ask(`${service.url}/auth/token`, form({ grant_type: 'password', ...ADA }))
      const { access_token: access, refresh_token: refresh } = JSON.parse(body)
      return { access, refresh, headers: { ...bearer(access) } }
    }
  }
}
