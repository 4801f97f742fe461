import { Command, CommanderError } from 'commander'
import { DomainError } from '../../core/index.js'
import { type Composition, compose, prepareSchema } from '../compose.js'
import { type Environment, readSettings, SettingError, type Settings, settingsHelp } from '../settings.js'
import { addClientCommands } from './clients.js'
import type { CommandContext } from './context.js'
import { type Terminal, UsageError } from './terminal.js'
import { addUserCommands } from './users.js'

/** Runs the service until the process is asked to end, then resolves to the exit code. */
export type Serve = (settings: Settings, stdout: NodeJS.WritableStream) => Promise<number>

/**
 * Runs one command and resolves to the exit code: 0 for success, 1 when the command fails, 2 for bad usage or a bad
 * setting. A failure is one line on stderr; commander writes its own messages about bad usage.
 */
export const runCommand = async (
  argv: readonly string[],
  env: Environment,
  terminal: Terminal,
  serve: Serve
): Promise<number> => {
  let exitCode = 0
  const { stdout, stderr } = terminal
  const context: CommandContext = {
    terminal,
    withUseCases: work => administer(env, ({ useCases }) => work(useCases)),
    print: (json, value, lines) => {
      stdout.write(json ? `${JSON.stringify(value)}\n` : lines.map(line => `${line}\n`).join(''))
    }
  }
  const program = new Command('heroes')
    .description('A JSON service for hero records with its own OAuth 2.0 authorization server.')
    .exitOverride()
    .configureOutput({ writeOut: text => stdout.write(text), writeErr: text => stderr.write(text) })
    .addHelpText('after', () => `\nSettings (environment):\n${settingsHelp()}`)
  program
    .command('serve')
    .description('migrates the database and serves')
    .action(async () => {
      exitCode = await serve(readSettings(env), stdout)
    })
  program
    .command('migrate')
    .description('applies pending migrations')
    .action(() =>
      administer(
        env,
        async () => {
          stdout.write('The database is up to date.\n')
        },
        { migrate: true }
      )
    )
  addClientCommands(program, context)
  addUserCommands(program, context)

  try {
    await program.parseAsync(argv, { from: 'user' })
    return exitCode
  } catch (error) {
    // Commander has already written its message. It throws for --help too, with exit code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    stderr.write(`heroes: ${describe(error)}\n`)
    return error instanceof SettingError || error instanceof UsageError ? 2 : 1
  }
}

const administer = async (
  env: Environment,
  work: (composition: Composition) => Promise<void>,
  changes: Partial<Settings> = {}
): Promise<void> => {
  const settings = { ...readSettings(env), ...changes }
  if (settings.database.kind === 'memory') {
    throw new DomainError('invalid_input', 'DATABASE_URL is memory:, where there is nothing to administer')
  }
  const composition = await compose(settings)
  try {
    await prepareSchema(composition, settings)
    await work(composition)
  } finally {
    await composition.database.close()
  }
}

/**
 * The error's message and that of its cause, on one line. An HTTP answer never shows the cause, but the person who runs
 * the command has to know why the database cannot be reached.
 */
const describe = (error: unknown): string =>
  [error, Object(error).cause]
    .map(reason => String(Object(reason).message ?? reason ?? '').replaceAll(/\s*\n\s*/g, ' '))
    .filter(message => message !== '')
    .join(': ')
