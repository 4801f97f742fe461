import { InvalidArgumentError, Option } from 'commander'
import { type Client, type ClientChanges, defaultGrantTypes, grantTypes } from '../../core/index.js'
import type { CommandContext, CommandEntry, JsonOption } from './command.js'
import { toTable } from './printable.js'
import { readHidden, type Terminal, UsageError } from './terminal.js'

/** Of `add` and `set`. What `--no-…` takes away is false. */
interface ClientOptions extends JsonOption {
  readonly public?: true
  readonly confidential?: true
  readonly secretStdin?: true
  readonly redirectUri?: readonly string[] | false
  readonly scope?: readonly string[] | false
  readonly grant?: readonly string[] | false
  readonly name?: string | false
  readonly requirePkce?: boolean
  readonly requireState?: boolean
}

/** An option that may be repeated. */
const several = (flags: string, description: string): Option =>
  // `earlier` is false after `--no-scope` and its like.
  new Option(flags, description).argParser((value, earlier: readonly string[] | false | undefined) => [
    ...(earlier || []),
    value
  ])

const SECRET_STDIN = new Option('--secret-stdin', 'read a secret (24 or more of printable ASCII), and make none')

/** The options that `add` and `set` share. `instead` and `grants` are what each adds to their descriptions. */
const shared = (instead: string, grants = instead): readonly Option[] => [
  several('--redirect-uri <uri>', `where the login page may return to${instead}; may be repeated`),
  several('--scope <scope>', `a scope that the client is allowed${instead}; may be repeated`),
  several('--grant <type>', `a grant type that the client may use${grants}; may be repeated`),
  new Option('--name <text>', 'what the login page calls the client'),
  new Option('--require-pkce', 'refuse authorization requests without PKCE (the default of `add --public`)'),
  new Option('--no-require-pkce', 'accept authorization requests without PKCE (the default of `add --confidential`)'),
  new Option('--no-require-state', 'accept authorization requests with a code_challenge in place of state')
]

const ADD_OPTIONS = [
  new Option('--public', 'a client without a secret').conflicts(['confidential', 'secretStdin']),
  new Option('--confidential', 'a client with a secret, shown this once'),
  SECRET_STDIN,
  ...shared('', `, of ${grantTypes.join(', ')} (without any: ${defaultGrantTypes.join(', ')})`)
]

const SET_OPTIONS = [
  // Before its opposite: commander takes an option that is declared as `--no-…` first for one that is on by default.
  new Option('--require-state', 'refuse authorization requests without state (the default of `add`)'),
  ...shared(', in place of the present ones'),
  new Option('--no-redirect-uri', 'remove every redirect URI: the client has no login page then'),
  new Option('--no-scope', 'allow the client no scope'),
  new Option('--no-grant', 'allow the client no grant type: a confidential one may still introspect tokens'),
  new Option('--no-name', 'the login page calls the client by its id')
]

/** Nine digits: `rotateSecret` takes no more. */
const wholeSeconds = (text: string): number => {
  if (!/^[0-9]{1,9}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number of seconds, at most 999999999.')
  return Number(text)
}

const readSecret = async (terminal: Terminal, isGiven: true | undefined): Promise<string | undefined> =>
  isGiven ? readHidden(terminal, 'Secret') : undefined

const ROTATE_OPTIONS = [
  new Option('--keep-old <seconds>', 'for how long the present secret stays valid').default(0).argParser(wholeSeconds),
  SECRET_STDIN
]

export const clientCommands = ({ terminal, show }: CommandContext): readonly CommandEntry[] => [
  {
    words: 'add <id>',
    description: 'registers a client',
    example: 'client add shop --confidential --redirect-uri https://shop.example/callback --scope heroes',
    options: ADD_OPTIONS,
    action: async (id: string, options: ClientOptions) => {
      if (!options.public && !options.confidential) throw new UsageError('give either --public or --confidential')
      const given = await readSecret(terminal, options.secretStdin)
      await show(options, async useCases => {
        const { client, secret } = await useCases.addClient({
          id,
          secret: options.public ? undefined : (given ?? { generate: true }),
          ...chosenBy(options)
        })
        const shown = given === undefined ? secret : undefined
        const secretLines = shown === undefined ? [] : [`Its secret, shown this once: ${shown}`]
        return [{ id, secret: shown, ...ofClient(client) }, [`The client ${id} is registered.`, ...secretLines]]
      })
    }
  },
  {
    words: 'list',
    description: 'lists the clients',
    example: 'client list --json',
    action: (options: JsonOption) =>
      show({ ...options, reads: true }, async useCases => {
        const found = await useCases.listClients()
        return [found.map(toJson), toLines(found)]
      })
  },
  {
    words: 'show <id>',
    description: 'shows a client',
    example: 'client show shop',
    action: (id: string, options: JsonOption) =>
      show({ ...options, reads: true }, async useCases => {
        const client = await useCases.findClient(id)
        return [toJson(client), toLines([client])]
      })
  },
  {
    words: 'set <id>',
    description: 'changes a client',
    example: "client set shop --name 'The Shop' --no-scope",
    options: SET_OPTIONS,
    action: async (id: string, options: ClientOptions) => {
      const changes = chosenBy(options)
      if (Object.keys(changes).length === 0) throw new UsageError('say what to change')
      await show(options, async useCases => {
        const client = await useCases.changeClient(id, changes)
        return [toJson(client), toLines([client])]
      })
    }
  },
  {
    words: 'rotate-secret <id>',
    description: 'gives a confidential client a new secret',
    example: 'client rotate-secret shop --keep-old 86400',
    options: ROTATE_OPTIONS,
    action: async (id: string, options: JsonOption & { keepOld: number; secretStdin?: true }) => {
      const given = await readSecret(terminal, options.secretStdin)
      await show(options, async useCases => {
        const secret = await useCases.rotateSecret(id, given, options.keepOld)
        return given === undefined
          ? [{ id, secret }, [`Its new secret, shown this once: ${secret}`]]
          : [{ id }, [`The client ${id} has its new secret.`]]
      })
    }
  },
  {
    words: 'remove <id>',
    description: 'removes a client and ends every code and token of it',
    example: 'client remove shop --yes',
    confirms: id => [`Remove the client ${id} with every code and token of it?`, `the client ${id} is not removed`],
    action: (id: string, options: JsonOption) =>
      show(options, async useCases => {
        await useCases.removeClient(id)
        return [{ id }, [`The client ${id} is removed.`]]
      })
  }
]

/** What the options say of a client, with keys for those alone that are given. */
const chosenBy = ({ redirectUri, scope, grant, name, requirePkce, requireState }: ClientOptions): ClientChanges => ({
  ...(redirectUri !== undefined && { redirectUris: redirectUri || [] }),
  ...(scope !== undefined && { allowedScopes: scope || [] }),
  ...(grant !== undefined && { grantTypes: grant || [] }),
  ...(name !== undefined && { name: name === false ? undefined : name }),
  ...(requirePkce !== undefined && { requirePkce }),
  ...(requireState !== undefined && { requireState })
})

const ofClient = ({ redirectUris, allowedScopes, grantTypes, name, requirePkce, requireState }: Client) => ({
  redirectUri: redirectUris[0],
  redirectUris,
  allowedScopes,
  grantTypes,
  name,
  requirePkce,
  requireState
})

const toJson = (client: Client) => ({
  id: client.id,
  confidential: client.secretDigest !== undefined,
  ...ofClient(client)
})

const NONE = '-'

const toLines = (clients: readonly Client[]): readonly string[] =>
  toTable(
    ['ID', 'KIND', 'REDIRECT URIS', 'SCOPES', 'GRANT TYPES', 'PKCE', 'NAME'],
    clients.map(({ id, secretDigest, redirectUris, allowedScopes, grantTypes, requirePkce, name }) => [
      id,
      secretDigest === undefined ? 'public' : 'confidential',
      redirectUris.join(' ') || NONE,
      allowedScopes.join(' ') || NONE,
      grantTypes.join(' ') || NONE,
      requirePkce ? 'required' : 'optional',
      name ?? NONE
    ]),
    'No clients are registered.'
  )
