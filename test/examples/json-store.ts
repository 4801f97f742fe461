// A store for another database, written after core/ports.ts: every table in a JSON file.
import {
  type AttemptStore,
  type Client,
  type ClientStore,
  type Code,
  type CodeStore,
  type FullWindow,
  type Grant,
  type GrantStore,
  type Hero,
  type HeroStore,
  type NewHero,
  type NewUser,
  type PasswordHash,
  type ScopeStore,
  type ScopeText,
  SPENT_TOKEN_SECONDS,
  type Stores,
  type Token,
  type TokenStore,
  type User,
  type UserStore
} from 'heroes/core'
import { type JsonFile, openJsonFile } from './json-file.js'

// Rows hold what JSON can: milliseconds for a date, null for what is absent.
interface HeroRow {
  readonly id: number
  name: string
}
interface UserRow {
  readonly id: number
  readonly username: string
  password: PasswordHash
  generation: number
}
interface ClientRow {
  readonly id: string
  secretDigest: string | null
  previousSecret: { readonly digest: string; readonly until: number } | null
  redirectUris: readonly string[]
  allowedScopes: readonly string[]
  grantTypes: readonly string[]
  name: string | null
  requirePkce: boolean
  requireState: boolean
}
interface GrantRow {
  readonly id: string
  readonly userId: number | null
  readonly clientId: string
  readonly scopes: readonly string[]
  readonly beganAt: number | null
  readonly expiresAt: number
  revoked: boolean
}
interface CodeRow {
  readonly digest: string
  readonly grantId: string
  readonly redirectUri: string | null
  readonly challenge: string | null
  readonly issuedAt: number
  readonly expiresAt: number
  spent: boolean
}
interface TokenRow {
  readonly accessDigest: string
  readonly refreshDigest: string | null
  readonly grantId: string
  readonly scopes: readonly string[]
  readonly issuedAt: number
  readonly expiresAt: number
  readonly refreshExpiresAt: number | null
  accessEnded: boolean
  spent: { readonly at: number; nonce: string | null } | null
}
interface WindowRow {
  readonly key: string
  readonly endsAt: number
  countedAt: number
  count: number
  failures: number
}
interface KnownRow {
  readonly key: string
  until: number
}

interface Tables {
  lastHero: number
  lastUser: number
  heroes: HeroRow[]
  users: UserRow[]
  clients: ClientRow[]
  scopes: ScopeText[]
  grants: GrantRow[]
  codes: CodeRow[]
  tokens: TokenRow[]
  windows: WindowRow[]
  known: KnownRow[]
}

const EMPTY: Tables = {
  lastHero: 0,
  lastUser: 0,
  heroes: [],
  users: [],
  clients: [],
  scopes: [],
  grants: [],
  codes: [],
  tokens: [],
  windows: [],
  known: []
}

/** The stores in a JSON file. */
export const openJsonStores = async (path: string): Promise<Stores> => {
  const file = await openJsonFile(path, EMPTY)
  return {
    heroes: createHeroStore(file),
    users: createUserStore(file),
    clients: createClientStore(file),
    scopes: createScopeStore(file),
    grants: createGrantStore(file),
    codes: createCodeStore(file),
    tokens: createTokenStore(file),
    attempts: createAttemptStore(file)
  }
}

const insertHero = (tables: Tables, { name }: NewHero): Hero | undefined => {
  if (tables.heroes.some(hero => hero.name === name)) return undefined
  tables.lastHero += 1
  const hero = { id: tables.lastHero, name }
  tables.heroes.push(hero)
  return toHero(hero)
}

const createHeroStore = ({ read, write }: JsonFile<Tables>): HeroStore => ({
  list: ({ nameContains = '', after = Number.NEGATIVE_INFINITY, limit }) =>
    read(({ heroes }) =>
      heroes
        .filter(({ id, name }) => id > after && name.toLowerCase().includes(nameContains.toLowerCase()))
        .slice(0, limit)
        .map(toHero)
    ),
  find: id => read(({ heroes }) => optional(toHero, rowOf(heroes, id))),
  insert: hero => write(tables => insertHero(tables, hero)),
  insertAll: heroes => write(tables => heroes.map(hero => insertHero(tables, hero))),
  replace: (id, { name }) =>
    write(({ heroes }) => {
      const hero = rowOf(heroes, id)
      if (hero === undefined) return undefined
      if (heroes.some(other => other !== hero && other.name === name)) return 'taken'
      hero.name = name
      return toHero(hero)
    }),
  remove: id => write(tables => keep(tables, 'heroes', hero => hero.id !== id) > 0)
})

const toHero = ({ id, name }: HeroRow) => ({ id, name })

const createUserStore = ({ read, write }: JsonFile<Tables>): UserStore => {
  const named = ({ users }: Tables, username: string): UserRow | undefined =>
    users.find(user => user.username === username)
  const insertUser = (tables: Tables, { username, password }: NewUser): User | undefined => {
    if (named(tables, username) !== undefined) return undefined
    tables.lastUser += 1
    const user = { id: tables.lastUser, username, password: { ...password }, generation: 0 }
    tables.users.push(user)
    return toUser(user)
  }
  const endGrants = ({ grants }: Tables, user: UserRow): void => {
    user.generation += 1
    for (const grant of grants) if (grant.userId === user.id) grant.revoked = true
  }
  return {
    insert: (username, password) => write(tables => insertUser(tables, { username, password })),
    insertAll: users => write(tables => users.map(user => insertUser(tables, user))),
    find: id => read(({ users }) => optional(toUser, rowOf(users, id))),
    findByUsername: username => read(tables => optional(toUser, named(tables, username))),
    list: ({ after = Number.NEGATIVE_INFINITY, limit } = {}) =>
      read(({ users }) =>
        users
          .filter(({ id }) => id > after)
          .slice(0, limit)
          .map(toUser)
      ),
    rehash: (id, { hash, salt }, replacement) =>
      write(({ users }) => {
        const user = rowOf(users, id)
        if (user?.password.hash !== hash || user.password.salt !== salt) return false
        user.password = { ...replacement }
        return true
      }),
    setPassword: (username, password, _at, verified) =>
      write(tables => {
        const user = named(tables, username)
        if (user === undefined) return false
        const { id, generation } = verified ?? user
        if (id !== user.id || generation !== user.generation) return false
        user.password = { ...password }
        endGrants(tables, user)
        return true
      }),
    revoke: (username, _at, id) =>
      write(tables => {
        const user = named(tables, username)
        if (user === undefined || user.id !== (id ?? user.id)) return false
        endGrants(tables, user)
        return true
      }),
    remove: username =>
      write(tables => {
        const user = named(tables, username)
        if (user === undefined) return false
        keep(tables, 'users', other => other !== user)
        removeGrants(tables, grant => grant.userId === user.id)
        return true
      })
  }
}

const toUser = ({ id, username, password, generation }: UserRow): User => ({
  id,
  username,
  password: { ...password },
  generation
})

const createClientStore = ({ read, write }: JsonFile<Tables>): ClientStore => ({
  insert: client =>
    write(({ clients }) => {
      if (rowOf(clients, client.id) !== undefined) return false
      const { secretDigest = null, previousSecret: previous, name = null } = client
      const previousSecret = previous === undefined ? null : { ...previous, until: previous.until.getTime() }
      clients.push(structuredClone({ ...client, secretDigest, previousSecret, name }))
      return true
    }),
  find: id => read(({ clients }) => optional(toClient, rowOf(clients, id))),
  list: () => read(({ clients }) => clients.map(toClient).sort((a, b) => byCodePoints(a.id, b.id))),
  update: (id, changes) =>
    write(({ clients }) => {
      const client = rowOf(clients, id)
      if (client === undefined) return undefined
      const { name = null, ...others } = structuredClone(changes)
      const given = Object.entries(others).filter(([, value]) => value !== undefined)
      Object.assign(client, Object.fromEntries(given), 'name' in changes && { name })
      return toClient(client)
    }),
  rotateSecret: (id, digest, keepUntil) =>
    write(({ clients }) => {
      const client = rowOf(clients, id)
      if (client === undefined || client.secretDigest === null) return false
      client.previousSecret =
        keepUntil === undefined ? null : { digest: client.secretDigest, until: keepUntil.getTime() }
      client.secretDigest = digest
      return true
    }),
  remove: id =>
    write(tables => {
      removeGrants(tables, grant => grant.clientId === id)
      return keep(tables, 'clients', client => client.id !== id) > 0
    })
})

const toClient = (row: ClientRow): Client => {
  const { secretDigest, previousSecret, name, ...rest } = structuredClone(row)
  return {
    ...rest,
    secretDigest: secretDigest ?? undefined,
    previousSecret: previousSecret === null ? undefined : { ...previousSecret, until: new Date(previousSecret.until) },
    name: name ?? undefined
  }
}

const createScopeStore = ({ read, write }: JsonFile<Tables>): ScopeStore => ({
  set: ({ name, text }) =>
    write(tables => {
      keep(tables, 'scopes', scope => scope.name !== name)
      tables.scopes.push({ name, text })
    }),
  find: name =>
    read(({ scopes }) =>
      optional(
        scope => ({ ...scope }),
        scopes.find(scope => scope.name === name)
      )
    ),
  list: () => read(({ scopes }) => scopes.map(scope => ({ ...scope })).sort((a, b) => byCodePoints(a.name, b.name))),
  remove: name => write(tables => keep(tables, 'scopes', scope => scope.name !== name) > 0)
})

/** Stores a new grant. False when its user or client has gone or moved on since the login was judged. */
const begin = ({ users, clients, grants }: Tables, grant: Grant, generation: number | undefined): boolean => {
  const present = grant.userId === undefined ? undefined : rowOf(users, grant.userId)
  if (grant.userId !== undefined && present === undefined) return false
  if (present?.generation !== generation || rowOf(clients, grant.clientId) === undefined) return false
  const { id, userId = null, clientId, scopes, beganAt, expiresAt } = grant
  const times = { beganAt: beganAt?.getTime() ?? null, expiresAt: expiresAt.getTime() }
  grants.push({ id, userId, clientId, scopes: [...scopes], ...times, revoked: false })
  return true
}

/** The grant, unless it was revoked. */
const liveGrant = ({ grants }: Tables, id: string): Grant | undefined => {
  const row = rowOf(grants, id)
  return row === undefined || row.revoked ? undefined : toGrant(row)
}

const toGrant = ({ id, userId, clientId, scopes, beganAt, expiresAt }: GrantRow): Grant => ({
  id,
  userId: userId ?? undefined,
  clientId,
  scopes: [...scopes],
  beganAt: beganAt === null ? undefined : new Date(beganAt),
  expiresAt: new Date(expiresAt)
})

const removeGrants = (tables: Tables, which: (grant: GrantRow) => boolean): void => {
  const removed = new Set(tables.grants.filter(which).map(({ id }) => id))
  keep(tables, 'grants', ({ id }) => !removed.has(id))
  keep(tables, 'codes', ({ grantId }) => !removed.has(grantId))
  keep(tables, 'tokens', ({ grantId }) => !removed.has(grantId))
}

const createGrantStore = ({ read, write }: JsonFile<Tables>): GrantStore => ({
  find: id => read(tables => liveGrant(tables, id)),
  listOpen: (userId, at, limit) =>
    read(({ grants, tokens }) => {
      const isGood = ({ accessEnded, expiresAt, spent, refreshExpiresAt }: TokenRow): boolean =>
        (!accessEnded && expiresAt > at.getTime()) || (spent === null && (refreshExpiresAt ?? 0) > at.getTime())
      const open = grants
        .filter(grant => grant.userId === userId && !grant.revoked)
        .map(grant => ({ grant, tokens: tokens.filter(({ grantId }) => grantId === grant.id) }))
        .filter(({ tokens }) => tokens.some(isGood))
        .map(({ grant, tokens }) => ({ grant, refreshedAt: Math.max(...tokens.map(({ issuedAt }) => issuedAt)) }))
        .sort((a, b) => (b.grant.beganAt ?? 0) - (a.grant.beganAt ?? 0) || b.refreshedAt - a.refreshedAt)
      const logins = open.map(({ grant, refreshedAt }) => ({
        grant: toGrant(grant),
        refreshedAt: new Date(refreshedAt)
      }))
      return { open: logins.slice(0, limit), count: logins.length }
    }),
  revoke: id =>
    write(({ grants }) => {
      const grant = rowOf(grants, id)
      if (grant === undefined || grant.revoked) return false
      grant.revoked = true
      return true
    }),
  removeExpired: (at, limit) =>
    write(tables => {
      const lasting = new Set<string>()
      const note = (grantId: string, expiresAt: number | null): void => {
        if (expiresAt !== null && expiresAt >= at.getTime()) lasting.add(grantId)
      }
      for (const { grantId, expiresAt } of tables.codes) note(grantId, expiresAt)
      for (const { grantId, expiresAt, refreshExpiresAt } of tables.tokens) {
        note(grantId, expiresAt)
        note(grantId, refreshExpiresAt)
      }
      const over = new Set(tables.grants.filter(({ id }) => !lasting.has(id)).slice(0, limit))
      removeGrants(tables, grant => over.has(grant))
      keep(tables, 'tokens', ({ spent, issuedAt, refreshExpiresAt }) => {
        const end = Math.max(issuedAt + SPENT_TOKEN_SECONDS * 1000, refreshExpiresAt ?? 0)
        return spent === null || spent.nonce !== null || end >= at.getTime()
      })
      return over.size
    })
})

const createCodeStore = ({ read, write }: JsonFile<Tables>): CodeStore => {
  const spend = (tables: Tables, digest: string): Grant | undefined => {
    const code = tables.codes.find(code => code.digest === digest)
    const grant = code && liveGrant(tables, code.grantId)
    if (code === undefined || grant === undefined || code.spent) return undefined
    code.spent = true
    return grant
  }
  return {
    insert: (code: Code, generation) =>
      write(tables => {
        if (!begin(tables, code.grant, generation)) return false
        const { digest, grant, redirectUri = null, challenge = null, issuedAt, expiresAt } = code
        const times = { issuedAt: issuedAt.getTime(), expiresAt: expiresAt.getTime() }
        tables.codes.push({ digest, grantId: grant.id, redirectUri, challenge, ...times, spent: false })
        return true
      }),
    find: digest =>
      read(tables => {
        const row = tables.codes.find(code => code.digest === digest)
        const grant = row && rowOf(tables.grants, row.grantId)
        if (row === undefined || grant === undefined) return undefined
        const { redirectUri, challenge, issuedAt, expiresAt, spent } = row
        return {
          digest,
          grant: toGrant(grant),
          redirectUri: redirectUri ?? undefined,
          challenge: challenge ?? undefined,
          issuedAt: new Date(issuedAt),
          expiresAt: new Date(expiresAt),
          spent,
          ended: grant.revoked
        }
      }),
    redeem: (digest, token) =>
      write(tables => {
        const grant = spend(tables, digest)
        if (grant !== undefined) storeToken(tables, grant.id, token)
        return grant !== undefined
      }),
    burn: digest => write(tables => spend(tables, digest) !== undefined)
  }
}

const storeToken = ({ tokens }: Tables, grantId: string, token: Token): void => {
  const { accessDigest, refreshDigest = null, scopes, issuedAt, expiresAt, refreshExpiresAt } = token
  tokens.push({
    accessDigest,
    refreshDigest,
    grantId,
    scopes: [...scopes],
    issuedAt: issuedAt.getTime(),
    expiresAt: expiresAt.getTime(),
    refreshExpiresAt: refreshExpiresAt?.getTime() ?? null,
    accessEnded: false,
    spent: null
  })
}

const createTokenStore = ({ read, write }: JsonFile<Tables>): TokenStore => {
  const byRefresh = ({ tokens }: Tables, digest: string): TokenRow | undefined =>
    tokens.find(({ refreshDigest }) => refreshDigest === digest)
  const byAccess = ({ tokens }: Tables, digest: string): TokenRow | undefined =>
    tokens.find(({ accessDigest }) => accessDigest === digest)
  return {
    insert: (token, generation) =>
      write(tables => {
        if (!begin(tables, token.grant, generation)) return false
        storeToken(tables, token.grant.id, token)
        return true
      }),
    findByAccess: digest =>
      read(tables => {
        const row = byAccess(tables, digest)
        if (row === undefined || row.accessEnded || liveGrant(tables, row.grantId) === undefined) return undefined
        const { grantId, scopes, issuedAt, expiresAt } = row
        return { grantId, scopes: [...scopes], issuedAt: new Date(issuedAt), expiresAt: new Date(expiresAt) }
      }),
    findByRefresh: digest =>
      read(tables => {
        const row = byRefresh(tables, digest)
        const grant = row && rowOf(tables.grants, row.grantId)
        if (row === undefined || grant === undefined) return undefined
        const { accessDigest, scopes, issuedAt, expiresAt, refreshExpiresAt, spent } = row
        return {
          accessDigest,
          refreshDigest: digest,
          grant: toGrant(grant),
          scopes: [...scopes],
          issuedAt: new Date(issuedAt),
          expiresAt: new Date(expiresAt),
          refreshExpiresAt: refreshExpiresAt === null ? undefined : new Date(refreshExpiresAt),
          spent: spent === null ? undefined : { at: new Date(spent.at), nonce: spent.nonce ?? undefined },
          ended: grant.revoked
        }
      }),
    rotate: (digest, { at, nonce }, successor) =>
      write(tables => {
        const row = byRefresh(tables, digest)
        if (row === undefined || row.spent !== null || liveGrant(tables, row.grantId) === undefined) return false
        row.spent = { at: at.getTime(), nonce }
        row.accessEnded = true
        storeToken(tables, row.grantId, successor)
        return true
      }),
    revokeAccess: digest =>
      write(tables => {
        const row = byAccess(tables, digest)
        if (row !== undefined) row.accessEnded = true
      }),
    eraseNonces: at =>
      write(({ tokens }) => {
        let erased = 0
        for (const { spent } of tokens) {
          if (spent === null || spent.nonce === null || spent.at >= at.getTime()) continue
          spent.nonce = null
          erased += 1
        }
        return erased
      })
  }
}

const createAttemptStore = ({ read, write }: JsonFile<Tables>): AttemptStore => {
  const windowOf = ({ windows }: Tables, key: string): WindowRow | undefined =>
    windows.find(window => window.key === key)
  return {
    take: (limits, at, windowSeconds) =>
      write(tables => {
        const now = at.getTime()
        const present = (key: string): WindowRow | undefined => {
          const window = windowOf(tables, key)
          return window !== undefined && window.endsAt > now ? window : undefined
        }
        const full = limits.flatMap(({ key, most }): FullWindow[] => {
          const window = present(key)
          if (window === undefined || window.count < most) return []
          const { endsAt, countedAt, failures } = window
          return [{ key, endsAt: new Date(endsAt), countedAt: new Date(countedAt), failures }]
        })
        if (full.length > 0) return full
        for (const { key } of limits) {
          const window = present(key)
          if (window === undefined) {
            keep(tables, 'windows', other => other.key !== key)
            tables.windows.push({ key, endsAt: now + windowSeconds * 1000, countedAt: now, count: 1, failures: 0 })
          } else {
            window.count += 1
            window.countedAt = Math.max(window.countedAt, now)
          }
        }
        return undefined
      }),
    fail: keys =>
      write(tables => {
        for (const key of keys) {
          const window = windowOf(tables, key)
          if (window !== undefined && window.failures < window.count) window.failures += 1
        }
      }),
    giveBack: (counted, cleared, known) =>
      write(tables => {
        for (const key of counted) {
          const window = windowOf(tables, key)
          if (window !== undefined) window.count -= 1
        }
        keep(tables, 'windows', ({ count }) => count > 0)
        if (cleared !== undefined) keep(tables, 'windows', ({ key }) => key !== cleared)
        if (known !== undefined) {
          const until = known.until.getTime()
          const before = tables.known.find(({ key }) => key === known.key)
          if (before === undefined) tables.known.push({ key: known.key, until })
          else before.until = Math.max(before.until, until)
        }
      }),
    findKnown: key =>
      read(tables =>
        optional(
          ({ until }) => new Date(until),
          tables.known.find(known => known.key === key)
        )
      ),
    removeExpired: (at, limit) =>
      write(tables => {
        const before = at.getTime()
        let left = limit
        const stays = (instant: number): boolean => {
          if (instant >= before || left === 0) return true
          left -= 1
          return false
        }
        keep(tables, 'windows', ({ endsAt }) => stays(endsAt))
        keep(tables, 'known', ({ until }) => stays(until))
        return limit - left
      })
  }
}

const rowOf = <Row extends { readonly id: number | string }>(rows: readonly Row[], id: Row['id']): Row | undefined =>
  rows.find(row => row.id === id)

const optional = <Row, T>(toRecord: (row: Row) => T, row: Row | undefined): T | undefined =>
  row === undefined ? undefined : toRecord(row)

type TableName = { [Name in keyof Tables]: Tables[Name] extends readonly unknown[] ? Name : never }[keyof Tables]

/** Removes the other rows from a table. Returns how many it removed. */
const keep = <Name extends TableName>(
  tables: Tables,
  name: Name,
  stays: (row: Tables[Name][number]) => boolean
): number => {
  const table: Tables[Name][number][] = tables[name]
  const kept = table.filter(stays)
  return table.splice(0, table.length, ...kept).length - kept.length
}

// The order of UTF-8 is that of code points.
const byCodePoints = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
