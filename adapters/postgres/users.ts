import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import type { PasswordHash, User } from '../../core/model.js'
import type { UserStore } from '../../core/ports.js'
import type { Driver } from './driver.js'
import { key, lookup } from './lookups.js'
import { grants, users } from './schema.js'
import { builder, plain, prepared } from './statements.js'

const columns = {
  id: users.id,
  username: users.username,
  hash: users.hashedPassword,
  salt: users.salt,
  generation: users.generation
}

const toUser = ({ hash, salt, ...user }: Omit<User, 'password'> & PasswordHash): User => ({
  ...user,
  password: { hash, salt }
})

export const createUserStore = ({ read, write, transaction }: Driver): UserStore => {
  const reader = builder(read)
  const writer = builder(write)

  const insert = prepared(
    writer
      .insert(users)
      .values({
        username: sql.placeholder('username'),
        hashedPassword: sql.placeholder('hash'),
        salt: sql.placeholder('salt')
      })
      .onConflictDoNothing({ target: users.username })
      .returning({ id: users.id })
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
      .returning({ id: users.id })
      .prepare('rehash_user')
  )

  const endEveryGrant = (username: string, at: Date, password?: PasswordHash): Promise<boolean> =>
    transaction(
      async run => {
        const changes = password && { hashedPassword: password.hash, salt: password.salt }
        const [user] = await plain(
          builder(run)
            .update(users)
            .set({ generation: sql`${users.generation} + 1`, ...changes })
            .where(eq(users.username, username))
            .returning({ id: users.id })
        )
        if (user === undefined) return false
        // A statement of its own: it sees the grants of every login that the first one had to wait for.
        await plain(
          builder(run)
            .update(grants)
            .set({ revokedAt: at })
            .where(and(eq(grants.userId, user.id), isNull(grants.revokedAt)))
        )
        return true
      },
      { patient: true }
    )

  return {
    async insert(username, password): Promise<User | undefined> {
      const [user] = await insert({ username, hash: password.hash, salt: password.salt })
      return user && { id: user.id, username, password: { hash: password.hash, salt: password.salt }, generation: 0 }
    },

    find: lookup(reader.select(columns).from(users).where(eq(users.id, key)).prepare('user'), toUser),

    findByUsername: lookup(
      reader.select(columns).from(users).where(eq(users.username, key)).prepare('user_by_name'),
      toUser
    ),

    async list() {
      return (await plain(writer.select(columns).from(users).orderBy(asc(users.id)))).map(toUser)
    },

    async rehash(id, verified, { hash, salt }) {
      const changed = await rehash({ id, hash, salt, verifiedHash: verified.hash, verifiedSalt: verified.salt })
      return changed.length > 0
    },

    setPassword: (username, password, at) => endEveryGrant(username, at, password),

    revoke: (username, at) => endEveryGrant(username, at),

    remove: username =>
      transaction(
        async run => {
          const removing = builder(run).delete(users).where(eq(users.username, username))
          return (await plain(removing.returning({ id: users.id }))).length > 0
        },
        { patient: true }
      )
  }
}

// Drizzle's `set` takes no placeholder as it is.
const text = (name: string) => sql`${sql.placeholder(name)}`
