import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Client, type ClientChanges, defaultGrantTypes, grantTypes } from '../../core/index.js'
import type { CommandContext } from './context.js'
import { toTable } from './table.js'
import { confirm, readHidden, UsageError } from './terminal.js'

interface AddOptions {
  readonly public?: true
  readonly confidential?: true
  readonly secretStdin?: true
  readonly redirectUri?: readonly string[]
  readonly scope?: readonly string[]
  readonly grant?: readonly string[]
  readonly name?: string
  readonly requirePkce?: boolean
  readonly json?: true
}

interface SetOptions {
  readonly redirectUri?: readonly string[] | false
  readonly scope?: readonly string[] | false
  readonly grant?: readonly string[] | false
  readonly name?: string | false
  readonly requirePkce?: boolean
  readonly json?: true
}

export const addClientCommands = (program: Command, { terminal, withUseCases, print }: CommandContext): void => {
  const clients = program.command('client').description('registers and changes OAuth clients')

  clients
    .command('add <id>')
    .description('registers a client')
    .addOption(new Option('--public', 'a client without a secret').conflicts(['confidential', 'secretStdin']))
    .option('--confidential', 'a client with a secret, shown this once')
    .option('--secret-stdin', 'read the secret (24 characters or more) instead of making one')
    .option('--redirect-uri <uri>', 'where the login page may return to; may be repeated', addValue)
    .option('--scope <scope>', 'a scope that the client is allowed; may be repeated', addValue)
    .option(
      '--grant <type>',
      `a grant type that the client may use, of ${grantTypes.join(', ')}; may be repeated; ${defaultGrantTypes.join(', ')} when none is given`,
      addValue
    )
    .option('--name <text>', 'what the login page calls the client')
    .option('--require-pkce', 'refuse authorization requests without PKCE (the default for --public)')
    .option('--no-require-pkce', 'accept authorization requests without PKCE (the default for --confidential)')
    .option('--json', 'print JSON')
    .action(async (id: string, options: AddOptions) => {
      if (!options.public && !options.confidential) throw new UsageError('give either --public or --confidential')
      const given = options.secretStdin ? await readHidden(terminal, 'Secret') : undefined
      await withUseCases(async useCases => {
        const { client, secret } = await useCases.addClient({
          id,
          secret: options.public ? undefined : (given ?? { generate: true }),
          redirectUris: options.redirectUri,
          allowedScopes: options.scope ?? [],
          grantTypes: options.grant,
          name: options.name,
          requirePkce: options.requirePkce ?? options.public === true
        })
        const shown = given === undefined ? secret : undefined
        await print(options.json, { id, secret: shown, ...ofClient(client) }, [
          `The client ${id} is registered.`,
          ...(shown === undefined ? [] : [`Its secret, shown this once: ${shown}`])
        ])
      })
    })

  clients
    .command('list')
    .description('lists the clients')
    .option('--json', 'print JSON')
    .action(({ json }: { json?: true }) =>
      withUseCases(async useCases => {
        const found = await useCases.listClients()
        await print(json, found.map(toJson), toLines(found))
      })
    )

  clients
    .command('show <id>')
    .description('shows a client')
    .option('--json', 'print JSON')
    .action((id: string, { json }: { json?: true }) =>
      withUseCases(async useCases => {
        const client = await useCases.findClient(id)
        await print(json, toJson(client), toLines([client]))
      })
    )

  clients
    .command('set <id>')
    .description('changes a client')
    .option(
      '--redirect-uri <uri>',
      'where the login page may return to, in place of the present ones; may be repeated',
      addValue
    )
    .option('--no-redirect-uri', 'remove every redirect URI: the client has no login page then')
    .option(
      '--scope <scope>',
      'a scope that the client is allowed, in place of its present ones; may be repeated',
      addValue
    )
    .option('--no-scope', 'allow the client no scope')
    .option(
      '--grant <type>',
      'a grant type that the client may use, in place of its present ones; may be repeated',
      addValue
    )
    .option('--no-grant', 'allow the client no grant type: a confidential one may still introspect tokens')
    .option('--name <text>', 'what the login page calls the client')
    .option('--no-name', 'the login page calls the client by its id')
    .option('--require-pkce', 'refuse authorization requests without PKCE')
    .option('--no-require-pkce', 'accept authorization requests without PKCE')
    .option('--json', 'print JSON')
    .action(async (id: string, options: SetOptions) => {
      const { redirectUri, scope, grant, name, requirePkce } = options
      const changes: ClientChanges = {
        ...(redirectUri !== undefined && { redirectUris: redirectUri || [] }),
        ...(scope !== undefined && { allowedScopes: scope || [] }),
        ...(grant !== undefined && { grantTypes: grant || [] }),
        ...(name !== undefined && { name: name === false ? undefined : name }),
        ...(requirePkce !== undefined && { requirePkce })
      }
      if (Object.keys(changes).length === 0) throw new UsageError('say what to change')
      await withUseCases(async useCases => {
        const client = await useCases.changeClient(id, changes)
        await print(options.json, toJson(client), toLines([client]))
      })
    })

  clients
    .command('rotate-secret <id>')
    .description('gives a confidential client a new secret')
    .option('--keep-old <seconds>', 'for how long the present secret stays valid', wholeSeconds, 0)
    .option('--secret-stdin', 'read the secret (24 characters or more) instead of making one')
    .option('--json', 'print JSON')
    .action(async (id: string, options: { keepOld: number; secretStdin?: true; json?: true }) => {
      const given = options.secretStdin ? await readHidden(terminal, 'Secret') : undefined
      await withUseCases(async useCases => {
        const secret = await useCases.rotateSecret(id, given, options.keepOld)
        await print(options.json, given === undefined ? { id, secret } : { id }, [
          given === undefined ? `Its new secret, shown this once: ${secret}` : `The client ${id} has its new secret.`
        ])
      })
    })

  clients
    .command('remove <id>')
    .description('removes a client and ends every code and token of it')
    .option('--yes', 'remove without asking (without a terminal nothing is asked)')
    .option('--json', 'print JSON')
    .action(async (id: string, { yes, json }: { yes?: true; json?: true }) => {
      const question = `Remove the client ${id} with every code and token of it?`
      if (!yes) await confirm(terminal, question, `the client ${id} is not removed`)
      await withUseCases(async useCases => {
        await useCases.removeClient(id)
        await print(json, { id }, [`The client ${id} is removed.`])
      })
    })
}

// `earlier` is false after `--no-scope` and its like.
const addValue = (value: string, earlier: readonly string[] | false | undefined): readonly string[] => [
  ...(earlier || []),
  value
]

/** Nine digits: `rotateSecret` takes no more. */
const wholeSeconds = (text: string): number => {
  if (!/^[0-9]{1,9}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number of seconds, at most 999999999.')
  return Number(text)
}

const ofClient = ({ redirectUris, allowedScopes, grantTypes, name, requirePkce }: Client) => ({
  redirectUri: redirectUris[0],
  redirectUris,
  allowedScopes,
  grantTypes,
  name,
  requirePkce
})

const toJson = (client: Client) => ({
  id: client.id,
  confidential: client.secretDigest !== undefined,
  ...ofClient(client)
})

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

const NONE = '-'
