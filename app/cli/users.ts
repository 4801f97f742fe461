import { Option } from 'commander'
import { DomainError, type NamedUser, type PredecessorUser } from '../../core/index.js'
import type { Administration } from '../control/protocol.js'
import { count } from '../doctor/advice.js'
import type { CommandContext, CommandEntry, JsonOption } from './command.js'
import { type Importable, runImport } from './importing.js'
import { toTable } from './printable.js'
import { readHidden, UsageError } from './terminal.js'

export const userCommands = (context: CommandContext): readonly CommandEntry[] => [
  {
    words: 'list',
    description: 'lists the users',
    example: 'user list --json',
    action: (options: JsonOption) =>
      context.show({ ...options, reads: true }, async useCases => {
        const found: NamedUser[] = []
        for await (const users of pages(useCases, 1000)) found.push(...users)
        const rows = found.map(({ id, username }) => [String(id), username])
        return [found, toTable(['ID', 'USERNAME'], rows, 'No users are registered.')]
      })
  },
  {
    words: 'add <name>',
    description: 'registers a user; the password is read from the terminal or from stdin',
    example: 'user add ada',
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
    example: 'user import users.jsonl',
    action: (file: string, options: JsonOption) => runImport(context, PREDECESSOR_USERS, file, options)
  },
  {
    words: 'set-password <name>',
    description: 'gives a user a new password and ends every token of the user',
    example: 'user set-password ada < password.txt',
    action: async (username: string, options: JsonOption) => {
      const password = await readHidden(context.terminal, 'Password')
      await context.show(options, async useCases => {
        await useCases.setPassword({ username, password })
        return [{ username }, [`The user ${username} has a new password, and every token is ended.`]]
      })
    }
  },
  {
    words: 'revoke [name]',
    description: 'ends every code and token of a user',
    example: 'user revoke ada',
    options: [new Option('--all', 'of all users, as after a backup was restored')],
    action: async (username: string | undefined, options: JsonOption & { readonly all?: true }) => {
      if ((username === undefined) !== (options.all === true)) throw new UsageError('give either a name or --all')
      await context.show(options, async useCases => {
        if (username === undefined) {
          const revoked = await revokeAll(useCases, context.status).finally(context.status.clear)
          return [{ revoked }, [`${count(revoked, 'user has', 'users have')} no code and no token any more.`]]
        }
        await useCases.revokeUser(username)
        return [{ username }, [`The user ${username} has no code and no token any more.`]]
      })
    }
  },
  {
    words: 'remove <name>',
    description: 'removes a user with every code and token',
    example: 'user remove ada --yes',
    confirms: name => [`Remove the user ${name} with every code and token?`, `the user ${name} is not removed`],
    action: (username: string, options: JsonOption) =>
      context.show(options, async useCases => {
        await useCases.removeUser(username)
        return [{ username }, [`The user ${username} is removed.`]]
      })
  }
]

const PREDECESSOR_USERS: Importable<PredecessorUser, 'username' | 'hashedpassword' | 'salt'> = {
  nouns: ['user', 'users'],
  keys: ['username', 'hashedpassword', 'salt'],
  hasCsv: false,
  // Each of them takes a hash of some 10 ms: a batch takes about a second.
  batch: 100,
  toItem: ({ username, hashedpassword, salt }) => ({ username, hashedPassword: hashedpassword, salt }),
  store: (useCases, users) => useCases.importUsers(users)
}

/** Every user, so many at a time. */
async function* pages({ userPage }: Administration, limit: number): AsyncGenerator<readonly NamedUser[]> {
  let after: number | undefined
  do {
    const page = await userPage({ after, limit })
    yield page.users
    after = page.nextAfter
  } while (after !== undefined)
}

/** How many users are revoked at once. */
const AT_ONCE = 20

/** Resolves with the number of users. One who is removed meanwhile is none. */
const revokeAll = async (useCases: Administration, { show }: CommandContext['status']): Promise<number> => {
  let revoked = 0
  const revoke = async ({ username }: NamedUser): Promise<void> => {
    try {
      await useCases.revokeUser(username)
      revoked += 1
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'not_found') throw error
    }
  }
  for await (const users of pages(useCases, AT_ONCE)) {
    await Promise.all(users.map(revoke))
    show(() => `${revoked} users`)
  }
  return revoked
}
