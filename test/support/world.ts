// The use cases in this process, over real adapters: what a test of the core starts from.

import { createCrypto } from '../../adapters/crypto/crypto.js'
import { createMemoryStores } from '../../adapters/memory/stores.js'
import {
  type Client,
  createUseCases,
  defaultPolicy,
  type Events,
  type Policy,
  type Ports,
  type TokenRequest,
  type UseCases
} from '../../core/index.js'
import { noteSecrets } from './whole-run.js'

export type Stores = ReturnType<typeof createMemoryStores>

/** A clock that only the test moves. */
export interface TestClock {
  now(): Date
  advance(seconds: number): void
}

export interface World {
  readonly useCases: UseCases
  readonly ports: Ports
  readonly clock: TestClock
  readonly policy: Policy
}

export interface WorldOptions {
  readonly stores?: Stores
  readonly policy?: Partial<Policy>
  readonly clock?: TestClock
  readonly events?: Events
}

export const createClock = (start = new Date('2026-01-01T00:00:00.000Z')): TestClock => {
  let now = start.getTime()
  return {
    now: () => new Date(now),
    advance: seconds => {
      now += seconds * 1000
    }
  }
}

/** The cheapest parameters of argon2id: a hash takes 0.06 ms. */
export const cheapest = { memoryCost: 8, timeCost: 1, parallelism: 1 }

/** The use cases over real adapters, with the cheapest hashes and a clock that only the test moves. */
export const createWorld = ({
  stores = createMemoryStores(),
  policy,
  clock = createClock(),
  events
}: WorldOptions = {}): World => {
  const crypto = noteSecrets(createCrypto({ parameters: cheapest, concurrency: 3, queue: 1000 }))
  const ports = { ...stores, ...crypto, clock, ...(events && { events }) }
  const whole = { ...defaultPolicy, ...policy }
  return { useCases: createUseCases(ports, whole), ports, clock, policy: whole }
}

/** Returns a function that returns a store as it is. The names of the methods that are taken from it go to `calls`. */
export const notingIn =
  (calls: string[]) =>
  <Store extends object>(store: Store): Store =>
    new Proxy(store, {
      get(target, key, receiver) {
        calls.push(String(key))
        return Reflect.get(target, key, receiver)
      }
    })

export const SECRET = 'a-secret-of-more-than-24-characters'
export const CALLBACK = 'https://app.example/callback'

/** Registers a client: confidential, with {@link SECRET}, {@link CALLBACK} and the scopes `a` and `b`, unless told otherwise. */
export const addClient = async (
  { useCases }: Pick<World, 'useCases'>,
  id: string,
  options: Partial<Parameters<UseCases['addClient']>[0]> = {}
): Promise<Client> => {
  const { client } = await useCases.addClient({
    id,
    secret: SECRET,
    redirectUris: [CALLBACK],
    allowedScopes: ['a', 'b'],
    name: undefined,
    requirePkce: false,
    ...options
  })
  return client
}

export const ADA = { username: 'ada', password: 'correct horse' }

/** Memory stores of which every method rejects. */
export const rejecting = (reason: () => Error): Stores => {
  const broken = <T extends object>(store: T): T =>
    Object.fromEntries(Object.keys(store).map(name => [name, () => Promise.reject(reason())])) as T
  const { heroes, users, clients, scopes, grants, codes, tokens, attempts } = createMemoryStores()
  return {
    heroes: broken(heroes),
    users: broken(users),
    clients: broken(clients),
    scopes: broken(scopes),
    grants: broken(grants),
    codes: broken(codes),
    tokens: broken(tokens),
    attempts: broken(attempts)
  }
}

let tenants = 0

/** A client and a user of their own, on stores that other tests use as well. */
export interface Tenant {
  /** No other tenant has this number. */
  readonly number: number
  /** The id of the client. */
  readonly id: string
  readonly user: { readonly username: string; readonly password: string }
}

/** Registers the client `app-N` as {@link addClient} does and the user `ada-N`, where N is the number of the tenant. */
export const addTenant = async (
  world: Pick<World, 'useCases'>,
  { password = ADA.password, ...client }: { readonly password?: string; readonly redirectUris?: readonly string[] } = {}
): Promise<Tenant> => {
  const number = ++tenants
  const id = `app-${number}`
  const user = { username: `ada-${number}`, password }
  await addClient(world, id, client)
  await world.useCases.registerUser(user)
  return { number, id, user }
}

/** Faults by their names, and what makes a method of a port reject while its fault is set. */
export const createFaults = <Name extends string>() => {
  const faults: { [Fault in Name]?: Error } = {}
  const orFail =
    <Given extends unknown[], Result>(fault: Name, work: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      const error = faults[fault]
      if (error !== undefined) throw error
      return work(...given)
    }
  return { faults, orFail }
}

/** A token request without any parameter. */
export const blankRequest: TokenRequest = {
  grantType: undefined,
  username: undefined,
  password: undefined,
  refreshToken: undefined,
  code: undefined,
  redirectUri: undefined,
  codeVerifier: undefined,
  scope: undefined,
  address: '192.0.2.1'
}
