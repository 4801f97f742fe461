import type { Command } from 'commander'
import { lacksNameIndex } from '../settings-advice.js'
import type { CommandContext } from './context.js'
import { writeAll } from './terminal.js'

/**
 * The commands around the service itself. `serve` runs it until the process is asked to end, and `createDocument` makes its
 * OpenAPI document as JSON.
 */
export const addServiceCommands = (
  program: Command,
  { terminal, withUseCases, print }: CommandContext,
  serve: () => Promise<void>,
  createDocument: () => Promise<string>
): void => {
  program.command('serve').description('migrates the database and serves').action(serve)

  program
    .command('migrate')
    .description('applies pending migrations')
    .option('--json', 'print JSON')
    .action(({ json }: { json?: true }) =>
      withUseCases(
        async (_useCases, lacks) => {
          const lines = lacks.map(lacksNameIndex).map(({ message, advice }) => `But ${message}; ${advice}`)
          await print(json, { upToDate: true }, ['The database is up to date.', ...lines])
        },
        { migrate: true }
      )
    )

  program
    .command('openapi')
    .description('prints the OpenAPI document, without a database')
    .option('--json', 'print it as one line')
    .action(async ({ json }: { json?: true }) => {
      const document: unknown = JSON.parse(await createDocument())
      await writeAll(terminal.stdout, [`${JSON.stringify(document, null, json ? 0 : 2)}\n`])
    })
}
