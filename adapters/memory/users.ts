import type { NewUser, PasswordHash, User } from '../../core/model.js'
import type { UserStore, VerifiedUser } from '../../core/ports.js'
import { removeGrant, type Tables, type UserRow } from './tables.js'

const freeze = ({ id, username, password: { hash, salt }, generation }: User): User =>
  Object.freeze({ id, username, password: Object.freeze({ hash, salt }), generation })

export const createUserStore = (tables: Tables): UserStore => {
  const { users } = tables
  const byUsername = new Map<string, UserRow>()
  let lastId = 0

  const endEveryGrant = (username: string, wanted: Partial<VerifiedUser>, password?: PasswordHash): boolean => {
    const row = byUsername.get(username)
    if (row === undefined) return false
    const { user } = row
    const { id = user.id, generation = user.generation } = wanted
    if (id !== user.id || generation !== user.generation) return false
    row.user = freeze({ ...user, password: password ?? user.password, generation: user.generation + 1 })
    return true
  }

  const insert = ({ username, password }: NewUser): User | undefined => {
    if (byUsername.has(username)) return undefined
    lastId += 1
    const user = freeze({ id: lastId, username, password, generation: 0 })
    const row: UserRow = { user, grants: new Set() }
    users.set(user.id, row)
    byUsername.set(username, row)
    return user
  }

  return {
    async insert(username, password) {
      return insert({ username, password })
    },

    async insertAll(all) {
      return all.map(insert)
    },

    async find(id) {
      return users.get(id)?.user
    },

    async findByUsername(username) {
      return byUsername.get(username)?.user
    },

    async list({ after = 0, limit }) {
      // A Map keeps the order of insertion, which is the order of the ids.
      return Array.from(users.values(), row => row.user)
        .filter(({ id }) => id > after)
        .slice(0, limit)
    },

    async rehash(id, verified, replacement) {
      const row = users.get(id)
      if (row?.user.password.hash !== verified.hash || row.user.password.salt !== verified.salt) return false
      row.user = freeze({ ...row.user, password: replacement })
      return true
    },

    async setPassword(username, password, _at, verified) {
      return endEveryGrant(username, verified ?? {}, password)
    },

    async revoke(username, _at, id) {
      return endEveryGrant(username, id === undefined ? {} : { id })
    },

    async remove(username) {
      const row = byUsername.get(username)
      if (row === undefined) return false
      byUsername.delete(username)
      users.delete(row.user.id)
      for (const grant of row.grants) removeGrant(tables, grant)
      return true
    }
  }
}
