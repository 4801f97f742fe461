// A stand-in for an instance of the first version: it does with PostgreSQL what that version does, on one connection.

import { deepStrictEqual } from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { createSecrets } from '../../adapters/crypto/secrets.js'
import type { Value } from '../../adapters/postgres/connection/driver.js'
import { OLDEST, type OldestStatement } from './oldest-statements.js'
import { challengeOf } from './service.js'
import { SECRET } from './world.js'

type Rows = readonly (readonly unknown[])[]

/** What the first version hands out: an access token, and the refresh token with it. */
export interface Pair {
  readonly access: string
  readonly refresh: string
}

/** What was acknowledged, and what has to be found for it later. */
export interface OldestLedger {
  /** By name. */
  readonly heroes: Map<string, number>
  readonly goneHeroes: string[]
  readonly usernames: string[]
  readonly live: Pair[]
  /** Spent refresh tokens, each with the pair that took its place. */
  readonly spent: { readonly refresh: string; readonly successor: Pair }[]
  /** Access tokens that open nothing. */
  readonly dead: string[]
  readonly codes: string[]
  readonly spentCodes: string[]
}

export interface OldestInstance {
  readonly ledger: OldestLedger
  /** The statements that have run. */
  readonly ran: ReadonlySet<string>
  /** Does once what each endpoint, chore and command does. Rejects when a statement fails or answers what it should not. */
  round(): Promise<void>
  /** What a bearer check finds for an access token: the row, or undefined. */
  findByAccess(access: string): Promise<readonly unknown[] | undefined>
  close(): Promise<void>
}

/** The confidential client of {@link OldestInstance}, with {@link SECRET}. */
export const OLDEST_CLIENT = 'oldest'
export const OLDEST_CALLBACK = 'https://oldest.example/cb'
export const OLDEST_VERIFIER = 'v'.repeat(43)

/** Of every user: the password, and what the first version stored for it. */
export const OLDEST_PASSWORD = 'secret'
const HASH = '$argon2id$v=19$m=19456,t=2,p=1$y8XYHOygSgKgIUE0N9JbUw$XJDfek7XdaLd0b+3NE3MByt3wP5qYLUPqekmwsKfSzA'
const SALT = 'y8XYHOygSgKgIUE0N9JbUw=='
const OTHER_HASH = '$argon2id$v=19$m=19456,t=2,p=1$11ijVZUI2jBn/Ac3kk3XtQ$3/0a9QtW+5sO1jhKIOPhD1MSvmKTP1fv8yGGJAEFhCs'
const OTHER_SALT = '11ijVZUI2jBn/Ac3kk3XtQ=='

const HOUR = 3_600_000
const TRIES = 3

const secrets = createSecrets()
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
const later = (milliseconds: number): Date => new Date(Date.now() + milliseconds)
const list = (elements: readonly (string | number)[]): string => `{${elements.join()}}`
const bytesList = (all: readonly Buffer[]): string => list(all.map(bytes => `"\\\\x${bytes.toString('hex')}"`))
const instants = (...all: readonly Date[]): string => list(all.map(instant => `"${instant.toISOString()}"`))

export const openOldestInstance = (url: string): OldestInstance => {
  const sql = postgres(url, {
    max: 1,
    fetch_types: false,
    onnotice: () => {},
    // What the first version asks of every connection.
    connection: {
      application_name: 'heroes',
      TimeZone: 'UTC',
      DateStyle: 'ISO',
      statement_timeout: 3000,
      idle_in_transaction_session_timeout: 10_000,
      default_transaction_isolation: 'read committed'
    }
  })
  const ran = new Set<OldestStatement>()
  const ledger: OldestLedger = {
    heroes: new Map(),
    goneHeroes: [],
    usernames: [],
    live: [],
    spent: [],
    dead: [],
    codes: [],
    spentCodes: []
  }

  const run = async (name: OldestStatement, ...values: readonly Value[]): Promise<Rows> => {
    ran.add(name)
    try {
      return Array.from(await sql.unsafe(OLDEST[name], [...values], { prepare: true }).values())
    } catch (error) {
      throw new Error(`${name}: ${error}`, { cause: error })
    }
  }

  /** As the first version does: what PostgreSQL has rolled back because of others is tried three times in all. */
  const again = async <T>(work: () => Promise<T>, tries = TRIES): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      const { code } = Object(Object(error).cause)
      if (tries > 1 && (code === '40001' || code === '40P01')) return again(work, tries - 1)
      throw error
    }
  }

  const write = (name: OldestStatement, ...values: readonly Value[]) => again(() => run(name, ...values))

  const transaction = <T>(work: () => Promise<T>, patient = false): Promise<T> =>
    again(async () => {
      await run('begin')
      try {
        if (patient) await run('patient')
        const result = await work()
        await run('commit')
        return result
      } catch (error) {
        await run('rollback')
        throw error
      }
    })

  /** The number of rows. */
  const has = (rows: Rows, count: number, what: string): void => deepStrictEqual(rows.length, count, what)

  const pair = async (): Promise<Pair> => ({ access: await secrets.random(), refresh: await secrets.random() })

  /** The times of a pair that is issued at this moment: its issue, its expiry, and that of its refresh token. */
  const times = (): readonly [Date, Date, Date] => [new Date(), later(HOUR), later(720 * HOUR)]

  const beginGrant = (user: number, sweepAt: Date, client = OLDEST_CLIENT) =>
    [user, 0, client, randomUUID(), '{}', later(8760 * HOUR), sweepAt] as const

  const register = async (username: string): Promise<number> => {
    const [row] = await write('insertUser', username, HASH, SALT)
    return Number(row?.[0])
  }

  /** Counts the attempt, looks the user up, begins the grant and gives the attempt back. */
  const logIn = async (username: string, user: number): Promise<Pair> => {
    has(await run('findClient', OLDEST_CLIENT), 1, 'the client')
    const keys = [`user ${username}`, 'address', `both ${username}`].map(digest)
    const [own = digest(''), ...others] = keys
    const most = '{10,100000,100}'
    deepStrictEqual(await run('findFullCount', bytesList(keys), most, new Date()), [[null]])
    await transaction(async () => {
      await run('lockCounts', bytesList(keys), new Date())
      const [row] = await run('count', bytesList(keys), most, new Date(), later(900_000))
      deepStrictEqual(row?.[0], null)
    })
    has(await run('findUserByName', username), 1, 'the user')
    const issued = await pair()
    const [now, expires, refreshExpires] = times()
    const grant = beginGrant(user, refreshExpires)
    const token = [digest(issued.access), digest(issued.refresh), '{}', now, expires, refreshExpires]
    has(await write('insertToken', ...grant, ...token), 1, 'the token')
    has(await write('giveBack', bytesList(others), own), 1, 'the attempt given back')
    return issued
  }

  const find = async (access: string): Promise<readonly unknown[] | undefined> =>
    (await run('findByAccess', digest(access)))[0]

  const serveHeroes = async (name: string): Promise<void> => {
    const keep = (rows: Rows): number[] => {
      for (const [id, name] of rows) ledger.heroes.set(String(name), Number(id))
      return rows.map(([id]) => Number(id))
    }
    const [one = 0] = keep(await write('insertHero', name, name))
    has(await write('insertHero', name, name), 0, 'a name that is taken')
    const names = list(['a', 'b', 'c', 'd'].map(letter => `"${name} ${letter}"`))
    const [a = 0, b = 0, ...rest] = keep(await write('insertHeroes', names, names))
    has(await run('findHero', one), 1, 'the hero')
    has(await run('findHeroes', list([one, a, b, ...rest])), 5, 'the heroes')
    has(await run('listHeroes', one, name, 3), 3, 'a list')
    const renamed = `${name} renamed`
    deepStrictEqual(await write('renameHero', renamed, renamed, a), [[String(a), renamed]])
    ledger.heroes.set(renamed, a)
    has(await write('removeHero', b), 1, 'the removed hero')
    for (const gone of [`${name} a`, `${name} b`]) {
      ledger.heroes.delete(gone)
      ledger.goneHeroes.push(gone)
    }
  }

  /** Two logins whose refresh tokens are used: one alone, and one in the statement for many. */
  const refresh = async (username: string, user: number): Promise<void> => {
    const old = [await logIn(username, user), await logIn(username, user)] as const
    const made = await Promise.all(
      old.map(async ({ refresh }) => {
        const nonce = await secrets.nonce()
        const { accessToken: access, refreshToken } = await secrets.successor(refresh, nonce)
        return { nonce: Buffer.from(nonce, 'base64url'), successor: { access, refresh: refreshToken } }
      })
    )
    const digests = old.map(({ refresh }) => digest(refresh))
    has(await run('findByRefresh', digests[0] ?? null), 1, 'the refresh token')
    has(await run('findManyByRefresh', bytesList(digests)), 2, 'the refresh tokens')
    const [now, expires, refreshExpires] = times()
    for (const [index, { nonce, successor }] of made.entries()) {
      const spent = digests[index] ?? digest('')
      const [access, refresh] = [digest(successor.access), digest(successor.refresh)]
      const rows =
        index === 0
          ? await write('rotate', spent, access, refresh, '{}', now, expires, refreshExpires, now, nonce)
          : await write(
              'rotateMany',
              ...[spent, access, refresh].map(bytes => bytesList([bytes])),
              '{"{}"}',
              ...[now, expires, refreshExpires, now].map(instant => instants(instant)),
              bytesList([nonce])
            )
      has(rows, 1, 'the rotation')
    }
    for (const [index, { access, refresh }] of old.entries()) {
      ledger.dead.push(access)
      const { successor } = made[index] ?? { successor: { access, refresh } }
      ledger.live.push(successor)
      ledger.spent.push({ refresh, successor })
    }
  }

  const giveCode = async (user: number): Promise<string> => {
    const code = await secrets.random()
    const expires = later(60_000)
    const values = [digest(code), OLDEST_CALLBACK, challengeOf(OLDEST_VERIFIER), new Date(), expires]
    has(await write('insertCode', ...beginGrant(user, expires), ...values), 1, 'the code')
    return code
  }

  const serveCodes = async (user: number): Promise<void> => {
    const code = await giveCode(user)
    has(await run('findCode', digest(code)), 1, 'the code')
    const [issued, [now, expires, refreshExpires]] = [await pair(), times()]
    const token = [digest(issued.access), digest(issued.refresh), '{}', now, expires, refreshExpires]
    has(await write('redeemCode', digest(code), ...token), 1, 'the redemption')
    has(await write('redeemCode', digest(code), ...token), 0, 'the second redemption')
    ledger.live.push(issued)
    const burnt = await giveCode(user)
    has(await write('burnCode', digest(burnt)), 1, 'the burnt code')
    ledger.spentCodes.push(burnt)
    ledger.codes.push(await giveCode(user))
  }

  const introspectAndRevoke = async (username: string, user: number): Promise<void> => {
    const [kept, token, grant] = [await logIn(username, user), await logIn(username, user), await logIn(username, user)]
    const digests = [kept, token, grant].map(({ access }) => digest(access))
    has(await run('findManyByAccess', bytesList(digests)), 3, 'the tokens')
    has(await run('findClients', list([OLDEST_CLIENT, OLDEST_CLIENT])), 2, 'the clients')
    has(await run('findUser', user), 1, 'the user of a token')
    await write('revokeAccess', new Date(), digest(token.access))
    const row = await find(grant.access)
    await write('revokeGrant', new Date(), String(row?.[2]))
    has(await run('findManyByAccess', bytesList(digests)), 1, 'the token that is left')
    ledger.live.push(kept)
    ledger.dead.push(token.access, grant.access)
  }

  const administer = async (name: string): Promise<void> => {
    const client = name.replaceAll(' ', '-')
    const row = [client, digest(SECRET), null, null, 'https://a.example/cb', '{a,b}', null, true]
    has(await write('insertClient', ...row), 1, 'the client')
    has(await write('changeClient', 'https://b.example/cb', false, client), 1, 'the changed client')
    has(await write('limitClient', '{a}', 'A name', client), 1, 'the limited client')
    has(await write('rotateSecret', digest('another'), later(HOUR), client), 1, 'the rotated secret')
    has(await write('replaceSecret', digest('a third'), null, null, client), 1, 'the replaced secret')
    const user = await register(`${name} gone`)
    const expires = later(60_000)
    has(
      await write('insertCode', ...beginGrant(user, expires, client), digest(name), null, null, new Date(), expires),
      1,
      'a code of the client'
    )
    deepStrictEqual(await write('rehashUser', OTHER_HASH, OTHER_SALT, user, HASH, SALT), [[String(user)]])
    await transaction(async () => {
      has(await run('setPassword', HASH, SALT, `${name} gone`), 1, 'the user with a new password')
      await run('revokeGrantsOfUser', new Date(), user)
    }, true)
    await transaction(async () => {
      has(await run('revokeUser', `${name} gone`), 1, 'the revoked user')
      await run('revokeGrantsOfUser', new Date(), user)
    }, true)
    await transaction(async () => has(await run('removeUser', `${name} gone`), 1, 'the removed user'), true)
    await transaction(async () => has(await run('removeClient', client), 1, 'the removed client'), true)
    await write('listClients')
    await write('listUsers')
  }

  const doChores = async (user: number): Promise<void> => {
    const expired = later(-HOUR)
    const values = [digest(await secrets.random()), null, null, expired, expired]
    has(await write('insertCode', ...beginGrant(user, expired), ...values), 1, 'a code that has expired')
    await write('eraseNonces', later(-90_000), 5000)
    await transaction(async () => {
      const picked = await run('pickExpired', later(-60_000), 1000)
      if (picked.length > 0) await run('removeExpired', list(picked.map(([id]) => String(id))), later(-60_000))
    })
    await write('removeCounts', later(-60_000), 1000)
    await write('clock')
    has(await write('isMigrated', 'drizzle.__drizzle_migrations'), 1, 'the table of migrations')
    has(await write('lastMigration', -1), 1, 'the last migration')
  }

  return {
    ledger,
    ran,
    async round() {
      await write('insertClient', OLDEST_CLIENT, digest(SECRET), null, null, OLDEST_CALLBACK, '{}', null, false)
      const name = `oldest ${randomBytes(8).toString('hex')}`
      const user = await register(name)
      ledger.usernames.push(name)
      const issued = await logIn(name, user)
      for (let read = 0; read < 5; read += 1) deepStrictEqual((await find(issued.access))?.[3], String(user))
      ledger.live.push(issued)
      await serveHeroes(name)
      await refresh(name, user)
      await serveCodes(user)
      await introspectAndRevoke(name, user)
      await administer(name)
      await doChores(user)
    },
    findByAccess: find,
    close: () => sql.end()
  }
}
