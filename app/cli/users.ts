import type { Command } from 'commander'
import type { NamedUser, PredecessorUser } from '../../core/index.js'
import type { Administration } from '../control/protocol.js'
import type { CommandContext } from './context.js'
import { type Kind, runImport } from './importing.js'
import { toTable } from './table.js'
import { confirm, readHidden } from './terminal.js'

/** Each of them takes a hash of some 10 ms: a batch takes about a second. */
const USERS_OF_A_BATCH = 100

const PREDECESSOR_USERS: Kind<PredecessorUser> = {
  nouns: ['user', 'users'],
  keys: ['username', 'hashedpassword', 'salt'],
  hasCsv: false,
  batch: USERS_OF_A_BATCH,
  toItem: textOf => ({
    username: textOf('username'),
    hashedPassword: textOf('hashedpassword'),
    salt: textOf('salt')
  }),
  store: (useCases, users) => useCases.importUsers(users)
}

/** How many users are read at a time. */
const PAGE = 1000

const everyUser = async ({ userPage }: Administration): Promise<readonly NamedUser[]> => {
  const found: NamedUser[] = []
  let after: number | undefined
  do {
    const page = await userPage({ after, limit: PAGE })
    found.push(...page.users)
    after = page.nextAfter
  } while (after !== undefined)
  return found
}

export const addUserCommands = (program: Command, context: CommandContext): void => {
  const { terminal, withUseCases, print } = context
  const users = program.command('user').description('administers users')

  users
    .command('list')
    .description('lists the users')
    .option('--json', 'print JSON')
    .action(({ json }: { json?: true }) =>
      withUseCases(async useCases => {
        const found = await everyUser(useCases)
        await print(
          json,
          found,
          toTable(
            ['ID', 'USERNAME'],
            found.map(({ id, username }) => [String(id), username]),
            'No users are registered.'
          )
        )
      })
    )

  users
    .command('add <name>')
    .description('registers a user; the password is read from the terminal or from stdin')
    .option('--json', 'print JSON')
    .action(async (username: string, { json }: { json?: true }) => {
      const password = await readHidden(terminal, 'Password')
      await withUseCases(async useCases => {
        const user = await useCases.registerUser({ username, password })
        await print(json, user, [`The user ${user.username} is registered.`])
      })
    })

  users
    .command('import <file>')
    .description("stores users with the hashes of the service's predecessor, of JSON lines; - reads stdin")
    .option('--json', 'print JSON')
    .action((file: string, { json }: { json?: true }) => runImport(context, PREDECESSOR_USERS, file, json))

  users
    .command('set-password <name>')
    .description('gives a user a new password and ends every token of the user')
    .option('--json', 'print JSON')
    .action(async (username: string, { json }: { json?: true }) => {
      const password = await readHidden(terminal, 'Password')
      await withUseCases(async useCases => {
        await useCases.setPassword({ username, password })
        await print(json, { username }, [`The user ${username} has a new password, and every token is ended.`])
      })
    })

  users
    .command('revoke <name>')
    .description('ends every code and token of a user')
    .option('--json', 'print JSON')
    .action((username: string, { json }: { json?: true }) =>
      withUseCases(async useCases => {
        await useCases.revokeUser(username)
        await print(json, { username }, [`The user ${username} has no code and no token any more.`])
      })
    )

  users
    .command('remove <name>')
    .description('removes a user with every code and token')
    .option('--yes', 'remove without asking (without a terminal nothing is asked)')
    .option('--json', 'print JSON')
    .action(async (username: string, { yes, json }: { yes?: true; json?: true }) => {
      const question = `Remove the user ${username} with every code and token?`
      if (!yes) await confirm(terminal, question, `the user ${username} is not removed`)
      await withUseCases(async useCases => {
        await useCases.removeUser(username)
        await print(json, { username }, [`The user ${username} is removed.`])
      })
    })
}
