import { getTableColumns } from 'drizzle-orm'
import type { NewUser, PasswordHash, User } from '../../core/model.js'
import type { UserStore, VerifiedUser } from '../../core/ports.js'
import type { Driver } from './connection/driver.js'
import { inOrder, insertAlone, removeGrantsInPieces, revokeGrantsInPieces } from './long-writes.js'
import type { Lookups } from './lookups.js'
import { users } from './schema.js'
import { anyRow, mapped, type Row, readAll, requested, selection } from './sql.js'

const columns = getTableColumns(users)
const { id: _generated, generation: _initial, ...stored } = columns

const toRow = ({ username, password: { hash, salt } }: NewUser) => ({ username, hashedPassword: hash, salt })

const toUser = ({ hashedPassword: hash, salt, ...user }: Row<typeof columns>): User => ({
  ...user,
  password: { hash, salt }
})

const user = mapped(selection(columns), toUser)
const rows = requested(stored)

// Of several rows with one username it inserts the first.
const INSERT = `
insert into "user" (${rows.names})
select ${rows.values} from ${rows.from}
on conflict (username) do nothing
returning ${user.text}`

const LIST = `select ${user.text} from "user" where id > $1 order by id limit $2`

const REHASH = `
update "user" set hashedpassword = $2, salt = $3
where id = $1 and hashedpassword = $4 and salt = $5
returning true`

const END_LOGINS = `
update "user" set
  generation = generation + 1, hashedpassword = coalesce($2, hashedpassword), salt = coalesce($3, salt)
where username = $1 and id = coalesce($4, id) and generation = coalesce($5, generation)
returning id::bigint`

const REVOKE_GRANTS = 'update "grant" set revoked_at = $2 where user_id = $1 and revoked_at is null'

const REMOVE = 'delete from "user" where username = $1 returning true'

export const createUserStore = ({ query, transaction }: Driver, lookups: Lookups): UserStore => {
  const findByUsername = lookups.create({
    group: 'token request',
    selection: user,
    from: 'from "user" where username = $1',
    type: 'text'
  })

  /** What is undefined in `wanted` may be anything. */
  const endEveryGrant = async (username: string, at: Date, wanted: Partial<VerifiedUser>, password?: PasswordHash) => {
    const { id: wantedId, generation } = wanted
    const found = await findByUsername(username)
    if (wantedId !== undefined && found?.id !== wantedId) return false
    if (generation !== undefined && found?.generation !== generation) return false
    if (found !== undefined) await revokeGrantsInPieces(query, found.id, at)
    // Not patient: somebody waits for the answer, and others for the connection.
    return transaction({ name: 'user.revoke' }, async run => {
      const { hash = null, salt = null } = password ?? {}
      const [[id] = []] = await run(END_LOGINS, [username, hash, salt, wantedId ?? null, generation ?? null])
      if (id === undefined) return false
      // A separate statement: it sees the grants of every login for which the first statement had to wait.
      await run(REVOKE_GRANTS, [Number(id), at])
      return true
    })
  }

  return {
    async insert(username, password) {
      return readAll(user, await query(INSERT, rows.lists([toRow({ username, password })])))[0]
    },

    async insertAll(wanted) {
      const inserted = await insertAlone({ transaction }, INSERT, rows.lists(wanted.map(toRow)))
      return inOrder(wanted, readAll(user, inserted), ({ username }) => username)
    },

    find: lookups.create({ selection: user, from: 'from "user" where id = $1', type: 'bigint' }),

    findByUsername,

    async list({ after = Number.MIN_SAFE_INTEGER, limit = Number.MAX_SAFE_INTEGER }) {
      return readAll(user, await query(LIST, [after, limit]))
    },

    rehash: (id, verified, { hash, salt }) => anyRow(query(REHASH, [id, hash, salt, verified.hash, verified.salt])),

    setPassword: (username, password, at, verified) => endEveryGrant(username, at, verified ?? {}, password),

    revoke: (username, at, id) => endEveryGrant(username, at, id === undefined ? {} : { id }),

    async remove(username) {
      const found = await findByUsername(username)
      if (found !== undefined) await removeGrantsInPieces({ transaction }, 'user_id', found.id)
      return transaction({ name: 'user.remove', patient: true }, run => anyRow(run(REMOVE, [username])))
    }
  }
}
