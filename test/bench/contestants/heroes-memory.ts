import { createHash, randomUUID } from 'node:crypto'
import { createMemoryStores } from '../../../adapters/memory/stores.js'
import type { Token } from '../../../core/index.js'
import { CLIENT, heroName, PASSWORD, PREFIX, secret, USERS, username } from '../data.js'
import { assemble } from './assembly.js'
import { readSettings } from './settings.js'

/** This service on `memory:`. Its stores have their rows before it listens. */
const { port, heroes, tokens, chains, codes } = readSettings()
const stores = createMemoryStores()
const { useCases, crypto, listen } = assemble(port, stores)

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url')
const after = (days: number): Date => new Date(Date.now() + days * 86_400_000)

for (let number = 1; number <= heroes; number++) await stores.heroes.insert({ name: heroName(number) })
const password = await crypto.passwords.hash(PASSWORD)
for (let number = 1; number <= USERS; number++) await stores.users.insert(username(number), password)
await useCases.addClient({
  ...CLIENT,
  redirectUris: ['https://bench.example/callback'],
  allowedScopes: [],
  name: undefined,
  requirePkce: false
})

const grantOf = (number: number): Token['grant'] => ({
  id: randomUUID(),
  userId: 1 + (number % USERS),
  clientId: CLIENT.id,
  scopes: [],
  expiresAt: after(365)
})

const add = async (number: number, access: string, refresh?: string, expiresAt = after(30)): Promise<Token> => {
  const token: Token = {
    accessDigest: digest(secret(access, number)),
    refreshDigest: refresh === undefined ? undefined : digest(secret(refresh, number)),
    grant: grantOf(number),
    scopes: [],
    issuedAt: new Date(),
    expiresAt,
    refreshExpiresAt: refresh === undefined ? undefined : expiresAt
  }
  await stores.tokens.insert(token, 0)
  return token
}

for (let number = 1; number <= tokens; number++) await add(number, PREFIX.access, PREFIX.refresh)
for (let number = 1; number <= chains; number++) await add(number, 'benchfirst', PREFIX.chain)
await add(1, PREFIX.expired, undefined, new Date(Date.now() - 60_000))
await stores.grants.revoke((await add(1, PREFIX.revoked)).grant.id, new Date())
await stores.tokens.revokeAccess((await add(1, PREFIX.ended)).accessDigest, new Date())
for (let number = 1; number <= codes; number++) {
  const code = { digest: digest(secret(PREFIX.code, number)), grant: grantOf(number), redirectUri: undefined }
  await stores.codes.insert({ ...code, challenge: undefined, issuedAt: new Date(), expiresAt: after(30) }, 0)
}

await listen()
