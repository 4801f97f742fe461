import type { NamedUser, PredecessorUser } from '../../core/index.js'
import type { Administration } from '../control/protocol.js'
import type { CommandContext, CommandEntry, JsonOption } from './command.js'
import { type Kind, runImport } from './importing.js'
import { toTable } from './printable.js'
import { readHidden } from './terminal.js'

export const userCommands = (context: CommandContext): readonly CommandEntry[] => [
  {
    words: 'list',
    description: 'lists the users',
    action: (options: JsonOption) =>
      context.show(options, async useCases => {
        const found = await everyUser(useCases)
        const rows = found.map(({ id, username }) => [String(id), username])
        return [found, toTable(['ID', 'USERNAME'], rows, 'No users are registered.')]
      })
  },
  {
    words: 'add <name>',
    description: 'registers a user; the password is read from the terminal or from stdin',
    action: async (username: string, options: JsonOption) => {
      const password = await readHidden(context.terminal, 'Password')
      await context.show(options, async useCases => {
        const user = await useCases.registerUser({ username, password })
        return [user, [`The user ${user.username} is registered.`]]
      })
    }
  },
  {
    words: 'import <file>',
    description: "stores users with the hashes of the service's predecessor, of JSON lines; - reads stdin",
    action: (file: string, options: JsonOption) => runImport(context, PREDECESSOR_USERS, file, options)
  },
  {
    words: 'set-password <name>',
    description: 'gives a user a new password and ends every token of the user',
    action: async (username: string, options: JsonOption) => {
      const password = await readHidden(context.terminal, 'Password')
      await context.show(options, async useCases => {
        await useCases.setPassword({ username, password })
        return [{ username }, [`The user ${username} has a new password, and every token is ended.`]]
      })
    }
  },
  {
    words: 'revoke <name>',
    description: 'ends every code and token of a user',
    action: (username: string, options: JsonOption) =>
      context.show(options, async useCases => {
        await useCases.revokeUser(username)
        return [{ username }, [`The user ${username} has no code and no token any more.`]]
      })
  },
  {
    words: 'remove <name>',
    description: 'removes a user with every code and token',
    confirms: name => [`Remove the user ${name} with every code and token?`, `the user ${name} is not removed`],
    action: (username: string, options: JsonOption) =>
      context.show(options, async useCases => {
        await useCases.removeUser(username)
        return [{ username }, [`The user ${username} is removed.`]]
      })
  }
]

const PREDECESSOR_USERS: Kind<PredecessorUser> = {
  nouns: ['user', 'users'],
  keys: ['username', 'hashedpassword', 'salt'],
  hasCsv: false,
  // Each of them takes a hash of some 10 ms: a batch takes about a second.
  batch: 100,
  toItem: textOf => ({ username: textOf('username'), hashedPassword: textOf('hashedpassword'), salt: textOf('salt') }),
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
