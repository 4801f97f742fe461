import { Command, CommanderError } from 'commander'
import { type Environment, readSettings, SettingError, type Settings, settingsHelp } from '../settings.js'
import { version } from '../version.js'
import { administer } from './administer.js'
import { addClientCommands } from './clients.js'
import type { CommandContext } from './context.js'
import { addDoctorCommand } from './doctor.js'
import { addHeroCommands } from './heroes.js'
import { INTERRUPTED } from './interrupt.js'
import { printable, toPrintableJson } from './printable.js'
import { addScopeCommands } from './scopes.js'
import { addServiceCommands } from './service.js'
import { createStatusLine } from './status-line.js'
import { InterruptedError, type Terminal, UsageError, writeAll } from './terminal.js'
import { addUserCommands } from './users.js'

const FIRST_STEPS = `To begin:

  heroes serve                       starts the service, and shows a first client and how to try it
  heroes client rotate-secret local  makes a new secret for that client, where the first is lost
  heroes doctor                      says what is fine, risky or wrong about settings and database
  heroes --help                      lists every command and every setting

In a checkout, each is \`npm run heroes -- <command>\`.
`

/** Runs the service until the process is asked to end, then resolves to the exit code. */
export type Serve = (settings: Settings, stdout: Terminal['stdout']) => Promise<number>

/** Makes the OpenAPI document of a service with these settings, as JSON. */
export type OpenApi = (settings: Settings) => Promise<string>

/**
 * Runs one command and resolves to the exit code: 0 for success, 1 when the command fails, 2 for bad usage or a bad
 * setting. A failure is one line on stderr that begins `heroes: `.
 */
export const runCommand = async (
  argv: readonly string[],
  env: Environment,
  terminal: Terminal,
  serve: Serve,
  openApi: OpenApi
): Promise<number> => {
  let exitCode = 0
  const { stdout } = terminal
  // Where the reader of stderr has left, nobody hears what is wrong, and the command goes on.
  terminal.stderr.on('error', () => {})
  const stderr = createStatusLine(terminal.stderr)
  const refuse = (reason: string): void => {
    stderr.write(`heroes: ${printable(reason.trim().replaceAll(/\s*\n\s*/g, ' '))}\n`)
  }
  const context: CommandContext = {
    env,
    terminal,
    status: stderr,
    refuse,
    withUseCases: (work, changes) => administer(env, stderr, work, changes),
    print: (json, value, lines) =>
      writeAll(stdout, [json ? `${toPrintableJson(value)}\n` : lines.map(line => `${printable(line)}\n`).join('')])
  }
  let help = ''
  const program = new Command('heroes')
    .description('A JSON service for hero records with its own OAuth 2.0 authorization server.')
    .exitOverride()
    .configureOutput({
      writeOut: text => {
        help += text
      },
      // Where a command is missing, commander would write the whole help to stderr.
      writeErr: () => {},
      outputError: text => refuse(text.replace(/^error: /, ''))
    })
    .version(version, '--version', 'print the version')
    .addHelpText('after', () => `\nSettings (environment):\n${settingsHelp()}`)
  const serveUntilAsked = async (): Promise<void> => {
    exitCode = await serve(readSettings(env), stdout)
  }
  addServiceCommands(program, context, serveUntilAsked, () => openApi(readSettings(env)))
  addClientCommands(program, context)
  addScopeCommands(program, context)
  addUserCommands(program, context)
  addHeroCommands(program, context)
  addDoctorCommand(program, context)

  const words = withHelpInGroup(argv, program)

  const run = async (): Promise<number> => {
    try {
      await program.parseAsync(words, { from: 'user' })
      return exitCode
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error
      // It is thrown for --help too. Of a refusal commander has written the reason, unless a command is missing.
      if (error.exitCode !== 0 && error.code !== 'commander.help') return 2
      if (argv.length === 0) help = FIRST_STEPS
      await writeAll(stdout, [help])
      if (error.exitCode === 0) return 0
      refuse(withoutCommand(words))
      return 2
    }
  }

  try {
    return await run()
  } catch (error) {
    if (error instanceof InterruptedError) return INTERRUPTED
    refuse(describe(error))
    return error instanceof SettingError || error instanceof UsageError ? 2 : 1
  }
}

/**
 * `help client add` as `client help add`. Of the words behind `help`, commander reads the first alone, and so would show
 * the help of `client` for any command of it.
 */
const withHelpInGroup = (argv: readonly string[], { commands }: Command): readonly string[] => {
  const [first, name, ...others] = argv
  const group = first === 'help' && commands.find(each => each.name() === name && each.commands.length > 0)
  return group ? [group.name(), 'help', ...others] : argv
}

/** What is wrong with words that name no command. */
const withoutCommand = (argv: readonly string[]): string => {
  const at = argv.indexOf('help')
  if (at === -1) return `a command is missing; \`${['heroes', ...argv].join(' ')} --help\` lists them`
  const group = ['heroes', ...argv.slice(0, at)].join(' ')
  return `there is no command \`${group} ${argv[at + 1]}\`; \`${group} --help\` lists them`
}

/**
 * The error's message and that of its cause. An HTTP answer never shows the cause, but the person who runs
 * the command has to know why the database cannot be reached.
 */
const describe = (error: unknown): string =>
  [error, Object(error).cause]
    .map(reason => String(Object(reason).message ?? reason ?? ''))
    .filter(message => message !== '')
    .join(': ')
