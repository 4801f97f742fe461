import { isRedirectUri, type UseCases } from '../../core/index.js'
import { examplePassword, shellWord } from '../http/trial.js'
import type { Settings } from '../settings/settings.js'

/** Whether there is a first client, and the page at its redirect URI: for trials, which need no database server. */
export const isForTrials = ({ database }: Settings): boolean => database.kind !== 'server'

type Trial = Pick<Settings, 'registrationOpen'> & { database: { kind: string }; policy: { passwordMinLength: number } }

/**
 * Registers the clients `local` and `docs` when no client is registered, so that a person who has just started the
 * service can try it. Resolves to the instructions for that person, or to undefined when a client is registered already.
 */
export const registerFirstClient = async (
  useCases: Pick<UseCases, 'listClients' | 'addClient'>,
  port: number,
  publicUrl: string,
  scopes: readonly string[],
  { database, registrationOpen, policy }: Trial
): Promise<string | undefined> => {
  if ((await useCases.listClients()).length > 0) return undefined
  const allowedScopes = [...new Set(scopes)]
  const { client, secret } = await useCases.addClient({
    id: 'local',
    secret: { generate: true },
    redirectUris: [`http://127.0.0.1:${port}/callback`],
    allowedScopes,
    name: 'Local trial'
  })
  const docsRedirectUri = `${publicUrl}/docs/callback`
  const docsMaySignIn = isRedirectUri(docsRedirectUri)
  if (docsMaySignIn) {
    await useCases.addClient({
      id: 'docs',
      redirectUris: [docsRedirectUri],
      allowedScopes,
      grantTypes: ['authorization_code'],
      name: 'API documentation'
    })
  }
  const asked = allowedScopes.join(' ')
  const scope = asked === '' ? '' : ` --data-urlencode ${shellWord(`scope=${asked}`)}`
  const scopeQuery = asked === '' ? '' : `&${new URLSearchParams({ scope: asked })}`
  const password = examplePassword(policy.passwordMinLength)
  // No command reaches the memory of another process.
  const hasCommands = database.kind !== 'memory'
  const register = registrationOpen
    ? `curl ${shellWord(`${publicUrl}/register`)} -H 'Content-Type: application/json' -d '{"username":"ada","password":"${password}"}'`
    : hasCommands
      ? `echo '${password}' | npx heroes user add ada`
      : '# Nobody can be registered: REGISTRATION is closed, and no command reaches this database.'
  const another = hasCommands ? `; \`npx heroes client rotate-secret ${client.id}\` makes another` : ''
  return `
A first client is registered. Its secret is shown this once${another}.

  client_id      ${client.id}
  client_secret  ${secret}

Register a user, get a token, create a hero:

  ${register}
  TOKEN=$(curl -s ${shellWord(`${publicUrl}/auth/token`)} -u ${client.id}:${secret} -d grant_type=password -d username=ada -d 'password=${password}'${scope} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl ${shellWord(`${publicUrl}/heroes`)} -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"name":"Starling"}'

Or sign in with a browser, and redeem the code that it shows you:

  ${publicUrl}/auth/code?client_id=${client.id}&response_type=code&state=xyz${scopeQuery}

Or do all of it on the page that documents the service:

  ${publicUrl}/docs
${docsMaySignIn ? '' : `\nNobody can sign in on that page: ${docsRedirectUri} is no redirect URI that a client may have.\n`}
`
}
