import { and, asc, eq, gt, isNull, sql } from 'drizzle-orm'
import type { PasswordHash, User } from '../../core/model.js'
import type { UserStore } from '../../core/ports.js'
import type { Driver } from './connection/driver.js'
import { removeGrantsInPieces, revokeGrantsInPieces } from './grants-in-pieces.js'
import { inOrder, insertAlone } from './insert-all.js'
import { key, type Lookups } from './lookup/lookups.js'
import { grants, users } from './schema.js'
import { listed, manyRows, type Row, rowReader, typed } from './sql/columns.js'
import { builder, prepared, withDriverErrors } from './sql/statements.js'

const columns = {
  id: typed(users.id),
  username: typed(users.username),
  hash: typed(users.hashedPassword),
  salt: typed(users.salt),
  generation: typed(users.generation)
}

const readUser = ({ id, username, hash, salt, generation }: Row): User => ({
  id: Number(id),
  username: String(username),
  password: { hash: String(hash), salt: String(salt) },
  generation: Number(generation)
})

const toUser = ({ hash, salt, ...user }: Omit<User, 'password'> & PasswordHash): User => ({
  ...user,
  password: { hash, salt }
})

const { username, hashedPassword, salt } = users
const { names, from, lists } = manyRows({ username, hashedPassword, salt })
// Of several rows with one username it inserts the first.
const INSERT_ALL = `
insert into "user" (${names})
select ${names} from ${from}
on conflict (username) do nothing
returning ${listed(columns)}`

const readRow = rowReader(columns)

export const createUserStore = ({ write, transaction }: Driver, lookups: Lookups): UserStore => {
  const writer = builder(write)
  const findByUsername = lookups.create({
    name: 'user_by_name',
    sharedStatement: 'token',
    columns,
    select: writer.select(columns).from(users).where(eq(users.username, key)),
    type: 'text',
    read: readUser
  })

  const insert = prepared(
    writer
      .insert(users)
      .values({
        username: sql.placeholder('username'),
        hashedPassword: sql.placeholder('hash'),
        salt: sql.placeholder('salt')
      })
      .onConflictDoNothing({ target: users.username })
      .returning({ id: columns.id })
      .prepare('insert_user')
  )

  const rehash = prepared(
    writer
      .update(users)
      .set({ hashedPassword: text('hash'), salt: text('salt') })
      .where(
        and(
          eq(users.id, sql.placeholder('id')),
          eq(users.hashedPassword, sql.placeholder('verifiedHash')),
          eq(users.salt, sql.placeholder('verifiedSalt'))
        )
      )
      .returning({ id: columns.id })
      .prepare('rehash_user')
  )

  const endEveryGrant = async (username: string, at: Date, password?: PasswordHash): Promise<boolean> => {
    const user = await findByUsername(username)
    if (user !== undefined) await revokeGrantsInPieces(write, 'user_id', user.id, at)
    return transaction(
      'user.revoke',
      async run => {
        const changes = password && { hashedPassword: password.hash, salt: password.salt }
        const [changed] = await withDriverErrors(
          builder(run)
            .update(users)
            .set({ generation: sql`${users.generation} + 1`, ...changes })
            .where(eq(users.username, username))
            .returning({ id: columns.id })
        )
        if (changed === undefined) return false
        // A separate statement: it sees the grants of every login for which the first statement had to wait.
        await withDriverErrors(
          builder(run)
            .update(grants)
            .set({ revokedAt: at })
            .where(and(eq(grants.userId, changed.id), isNull(grants.revokedAt)))
        )
        return true
      },
      { patient: true }
    )
  }

  return {
    async insert(username, password): Promise<User | undefined> {
      const [user] = await insert({ username, hash: password.hash, salt: password.salt })
      return user && { id: user.id, username, password: { hash: password.hash, salt: password.salt }, generation: 0 }
    },

    async insertAll(wanted) {
      const rows = await insertAlone(
        { transaction },
        INSERT_ALL,
        lists(wanted.map(({ username, password: { hash, salt } }) => ({ username, hashedPassword: hash, salt })))
      )
      const stored = rows.map(values => readUser(readRow(values)))
      return inOrder(
        wanted.map(({ username }) => username),
        new Map(stored.map(user => [user.username, user]))
      )
    },

    find: lookups.create({
      name: 'user',
      columns,
      select: writer.select(columns).from(users).where(eq(users.id, key)),
      type: 'bigint',
      read: readUser
    }),

    findByUsername,

    async list({ after = Number.MIN_SAFE_INTEGER, limit = Number.MAX_SAFE_INTEGER }) {
      const listing = writer.select(columns).from(users).where(gt(users.id, after)).orderBy(asc(users.id)).limit(limit)
      return (await withDriverErrors(listing)).map(toUser)
    },

    async rehash(id, verified, { hash, salt }) {
      const changed = await rehash({ id, hash, salt, verifiedHash: verified.hash, verifiedSalt: verified.salt })
      return changed.length > 0
    },

    setPassword: (username, password, at) => endEveryGrant(username, at, password),

    revoke: (username, at) => endEveryGrant(username, at),

    async remove(username) {
      const user = await findByUsername(username)
      if (user !== undefined) await removeGrantsInPieces({ transaction }, 'user_id', user.id)
      return transaction(
        'user.remove',
        async run => {
          const removing = builder(run).delete(users).where(eq(users.username, username))
          return (await withDriverErrors(removing.returning({ id: columns.id }))).length > 0
        },
        { patient: true }
      )
    }
  }
}

// Drizzle's `set` takes a placeholder only inside `sql`.
const text = (name: string) => sql`${sql.placeholder(name)}`
