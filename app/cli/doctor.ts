import { availableParallelism } from 'node:os'
import type { Command } from 'commander'
import { inspectDatabase } from '../compose.js'
import { checkSettings, type Settings } from '../settings.js'
import { adviseOnSettings, type Finding, fine, wrong } from '../settings-advice.js'
import type { CommandContext } from './context.js'
import { describeFolder, describeOutage, judgeDatabase } from './database-checks.js'

export const addDoctorCommand = (program: Command, { env, print }: CommandContext): void => {
  program
    .command('doctor')
    .description('says what is fine, risky or wrong about the settings and the database, and changes nothing')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: true }) => {
      const { settings, refused } = checkSettings(env)
      const findings = [
        ...describeRefused(refused),
        ...adviseOnSettings(settings, new Set(refused.keys()), availableParallelism()),
        // The default in place of a refused DATABASE_URL would be another database.
        ...(refused.has('DATABASE_URL') ? [] : await checkDatabase(settings))
      ].filter(({ check, verdict }) => verdict === 'wrong' || !refused.has(check))
      await print(json, findings, findings.map(toLine))
      const bad = findings.filter(({ verdict }) => verdict === 'wrong').length
      if (bad > 0) throw new Error(`${bad} of ${findings.length} checks ${bad === 1 ? 'is' : 'are'} wrong`)
    })
}

const toLine = ({ check, verdict, message, advice }: Finding): string =>
  `${verdict.padEnd(5)}  ${check.padEnd(19)}  ${message}${advice === undefined ? '' : `; ${advice}`}`

const describeRefused = (refused: ReadonlyMap<string, string>): readonly Finding[] =>
  refused.size === 0
    ? [{ check: 'settings', ...fine('each has a valid value') }]
    : [...refused].map(([check, reason]) => ({ check, ...wrong(reason, 'correct it, or leave it unset') }))

const checkDatabase = async ({ database, migrate, workers }: Settings): Promise<readonly Finding[]> => {
  if (database.kind === 'memory') return []
  try {
    return judgeDatabase(await inspectDatabase(database), database, migrate, workers)
  } catch (error) {
    return [database.kind === 'server' ? describeOutage(error) : describeFolder(error)]
  }
}
