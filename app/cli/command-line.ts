import { Command, CommanderError, Option } from 'commander'
import { type Finding, lacksNameIndex } from '../doctor/advice.js'
import { examine } from '../doctor/doctor.js'
import { type Environment, readSettings, SettingError, type Settings, settingsHelp } from '../settings/settings.js'
import { version } from '../version.js'
import { administer } from './administer.js'
import { clientCommands } from './clients.js'
import { addCommand, addCommands, type CommandContext, type CommandEntry, type JsonOption } from './command.js'
import { heroCommands } from './heroes.js'
import { movingCommands } from './moving.js'
import { printable, toPrintableJson } from './printable.js'
import { scopeCommands } from './scopes.js'
import { createStatusLine, INTERRUPTED, InterruptedError, type Terminal, UsageError, writeAll } from './terminal.js'
import { userCommands } from './users.js'

const FIRST_STEPS = `To begin:

  npx heroes serve                       starts the service, and shows a first client and how to try it
  npx heroes client rotate-secret local  makes a new secret for that client, where the first is lost
  npx heroes doctor                      says what is fine, risky or wrong about settings and database
  npx heroes --help                      lists every command and every setting
`

/** A reviver: leaves out the operations that the document marks as internal, and the paths that then have none. */
const withoutInternal = (key: string, value: unknown): unknown => {
  const isInternal = Object(value)['x-internal'] === true
  const isEmptyPath = key.startsWith('/') && Object.keys(Object(value)).length === 0
  return isInternal || isEmptyPath ? undefined : value
}

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
  const print: CommandContext['print'] = ({ json }, [value, lines]) =>
    writeAll(stdout, [json ? `${toPrintableJson(value)}\n` : lines.map(line => `${printable(line)}\n`).join('')])
  const context: CommandContext = {
    env,
    terminal,
    status: stderr,
    refuse,
    print,
    withUseCases: (work, access) => administer(env, stderr, work, access),
    show: (options, work) =>
      administer(env, stderr, async (useCases, lacks) => print(options, await work(useCases, lacks)), options)
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
  const served = 'DATABASE_URL=postgres://heroes:secret@db.example/heroes npx heroes serve'
  addCommand(program, 'serve', 'migrates the database and serves', served).action(async () => {
    exitCode = await serve(readSettings(env), stdout)
  })
  const group = (name: string, description: string, entries: readonly CommandEntry[]): void =>
    addCommands(program.command(name).description(description), terminal, entries)
  addCommands(program, terminal, serviceCommands(context, openApi))
  group('client', 'registers and changes OAuth clients', clientCommands(context))
  group('scope', 'says in words what a scope opens, for the login page', scopeCommands(context))
  group('user', 'administers users', userCommands(context))
  addCommands(program, terminal, [...heroCommands(context), ...movingCommands(context), doctorCommand(context)])

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

  return run().catch((error: unknown) => {
    if (error instanceof InterruptedError) return INTERRUPTED
    refuse(describe(error))
    return error instanceof SettingError || error instanceof UsageError ? 2 : 1
  })
}

const serviceCommands = ({ env, terminal, show }: CommandContext, openApi: OpenApi): readonly CommandEntry[] => [
  {
    words: 'migrate',
    description: 'applies pending migrations',
    example: 'migrate',
    action: (options: JsonOption) =>
      show({ ...options, migrates: true }, async (_useCases, lacks) => {
        const lines = lacks.map(lacksNameIndex).map(({ message, advice }) => `But ${message}; ${advice}`)
        return [{ upToDate: true }, ['The database is up to date.', ...lines]]
      })
  },
  {
    words: 'openapi',
    description: 'prints the OpenAPI document, without a database',
    example: 'openapi --public > openapi.json',
    options: [new Option('--public', 'leave out what only serves the page /docs, for generators of clients')],
    json: 'print it as one line',
    action: async ({ json, public: isPublic }: JsonOption & { readonly public?: true }) => {
      const whole = await openApi(readSettings(env))
      const document: unknown = JSON.parse(whole, isPublic ? withoutInternal : undefined)
      await writeAll(terminal.stdout, [`${JSON.stringify(document, null, json ? 0 : 2)}\n`])
    }
  }
]

const doctorCommand = ({ env, print }: CommandContext): CommandEntry => ({
  words: 'doctor',
  description: 'says what is fine, risky or wrong about the settings and the database, and changes nothing',
  example: 'doctor --json',
  action: async (options: JsonOption) => {
    const findings = await examine(env)
    await print(options, [findings, findings.map(toLine)])
    const bad = findings.filter(({ verdict }) => verdict === 'wrong').length
    if (bad > 0) throw new Error(`${bad} of ${findings.length} checks ${bad === 1 ? 'is' : 'are'} wrong`)
  }
})

const toLine = ({ check, verdict, message, advice }: Finding): string =>
  `${verdict.padEnd(5)}  ${check.padEnd(19)}  ${message}${advice === undefined ? '' : `; ${advice}`}`

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
  if (at === -1) return `a command is missing; \`${['npx heroes', ...argv].join(' ')} --help\` lists them`
  const group = ['npx heroes', ...argv.slice(0, at)].join(' ')
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
