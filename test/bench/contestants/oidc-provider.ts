import Provider, { type Adapter, type AdapterPayload } from 'oidc-provider'
import { BASIC, CHAINS_FILE, CLIENT, TOKENS_FILE } from '../data.js'
import { exitOnSignal, readSettings, writeSecrets } from './settings.js'

/** oidc-provider over a Map for each kind of object. `/me` is its GET with a bearer token, which also answers with claims of OpenID Connect. */
const { port, folder, tokens, chains } = readSettings()

// The library's own store in memory holds at most a thousand entries.
class MapAdapter implements Adapter {
  readonly #rows = new Map<string, AdapterPayload>()

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    this.#rows.set(id, payload)
  }
  async find(id: string): Promise<AdapterPayload | undefined> {
    return this.#rows.get(id)
  }
  async consume(id: string): Promise<void> {
    const row = this.#rows.get(id)
    if (row !== undefined) row.consumed = Math.floor(Date.now() / 1000)
  }
  async destroy(id: string): Promise<void> {
    this.#rows.delete(id)
  }
  async findByUid(): Promise<undefined> {}
  async findByUserCode(): Promise<undefined> {}
  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [id, row] of this.#rows) if (row.grantId === grantId) this.#rows.delete(id)
  }
}

const provider = new Provider(`http://127.0.0.1:${port}`, {
  adapter: MapAdapter,
  clients: [
    {
      client_id: CLIENT.id,
      client_secret: CLIENT.secret,
      grant_types: ['refresh_token', 'authorization_code'],
      redirect_uris: ['https://bench.example/callback'],
      token_endpoint_auth_method: 'client_secret_basic'
    }
  ],
  findAccount: async (_context, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  ttl: { AccessToken: 86_400, RefreshToken: 86_400, Grant: 86_400 },
  rotateRefreshToken: true,
  features: { devInteractions: { enabled: false } }
})

const grant = async (accountId: string, scope: string): Promise<string> => {
  const made = new provider.Grant({ accountId, clientId: CLIENT.id })
  made.addOIDCScope(scope)
  return made.save()
}

const client = await provider.Client.find(CLIENT.id)
if (client === undefined) throw new Error(`there is no client for ${BASIC}`)

const accessTokens: string[] = []
for (let number = 1; number <= tokens; number++) {
  const accountId = String(number % 1000)
  const token = new provider.AccessToken({
    accountId,
    client,
    grantId: await grant(accountId, 'openid'),
    gty: 'authorization_code',
    scope: 'openid'
  })
  accessTokens.push(await token.save())
}
writeSecrets(folder, TOKENS_FILE, accessTokens)

const refreshTokens: string[] = []
for (let number = 1; number <= chains; number++) {
  const accountId = String(number % 1000)
  // With the scope `openid`, each refresh would sign an ID token as well.
  const token = new provider.RefreshToken({
    accountId,
    client,
    grantId: await grant(accountId, 'offline_access'),
    gty: 'authorization_code',
    scope: 'offline_access'
  })
  refreshTokens.push(await token.save())
}
writeSecrets(folder, CHAINS_FILE, refreshTokens)

provider.listen(port, '127.0.0.1')
exitOnSignal()
