import { availableParallelism } from 'node:os'
import { inspectDatabase, inspectHosts } from '../compose.js'
import { checkSettings, type Environment, type Settings } from '../settings/settings.js'
import { adviseOnSettings, type Finding, fine, wrong } from './advice.js'
import { describeFolder, describeOutage, judgeDatabase, judgeHosts } from './database.js'
import { connectionsFor, fewConnections } from './open-files.js'

/** What is fine, risky or wrong about the settings and the database. Changes nothing. */
export const examine = async (env: Environment): Promise<readonly Finding[]> => {
  const { settings, refused } = checkSettings(env)
  return [
    ...describeRefused(refused),
    ...adviseOnSettings(settings, new Set(refused.keys()), availableParallelism()),
    ...fewConnections(connectionsFor(settings)),
    // The default in place of a refused DATABASE_URL would be another database.
    ...(refused.has('DATABASE_URL') || refused.has('DATABASE_URL_FILE') ? [] : await checkDatabase(settings))
  ].filter(({ check, verdict }) => verdict === 'wrong' || !refused.has(check))
}

const describeRefused = (refused: ReadonlyMap<string, string>): readonly Finding[] =>
  refused.size === 0
    ? [{ check: 'settings', ...fine('each has a valid value') }]
    : [...refused].map(([check, reason]) => ({ check, ...wrong(reason, 'correct it, or leave it unset') }))

const checkDatabase = async ({ database, migrate, workers }: Settings): Promise<readonly Finding[]> => {
  if (database.kind === 'memory') return []
  try {
    const found = judgeDatabase(await inspectDatabase(database), database, migrate, workers)
    return [...found, ...judgeHosts(await inspectHosts(database))]
  } catch (error) {
    return [database.kind === 'server' ? describeOutage(error) : describeFolder(error)]
  }
}
