import { DomainError } from './errors.js'
import { requireValidHero } from './heroes.js'
import type { NewHero, NewUser, PredecessorHash } from './model.js'
import type { AllPorts } from './ports.js'
import { requireString, requireText } from './text.js'
import { requireUsername } from './users.js'

/** A user of this service's predecessor. */
export interface PredecessorUser extends PredecessorHash {
  readonly username: string
}

/** What became of one record: it was stored, its name was taken already, or it breaks a rule, which is told in words. */
export type ImportOutcome = 'imported' | 'present' | { readonly refused: string }

/** Moving records in. */
export interface ImportUseCases {
  /**
   * Stores the heroes that can be stored, all of them or none when the call rejects. The outcomes are in the order of
   * the heroes. A call that is repeated finds the heroes present.
   */
  importHeroes(heroes: readonly NewHero[]): Promise<readonly ImportOutcome[]>
  /**
   * Stores users of the predecessor, who log in with their old passwords, on the terms of {@link importHeroes}. A call
   * takes as long as a hash for each of them. Emits `user.imported`.
   */
  importUsers(users: readonly PredecessorUser[]): Promise<readonly ImportOutcome[]>
}

export const createImportUseCases = ({
  heroes: heroStore,
  users: userStore,
  passwords,
  events
}: AllPorts): ImportUseCases => {
  const judgeUser = async (user: PredecessorUser): Promise<Judged<NewUser>> => {
    const username = requireUsername(user.username)
    const { hashedPassword, salt } = requireHash(user)
    // Saves the hash for a name that is taken, so that a second run is fast. Between imports at once `insertAll` decides.
    if ((await userStore.findByUsername(username)) !== undefined) return 'present'
    return { valid: { username, password: await passwords.adopt({ hashedPassword, salt }) } }
  }

  return {
    importHeroes: heroes =>
      importAll(
        heroes,
        async hero => ({ valid: requireValidHero(hero) }),
        valid => heroStore.insertAll(valid)
      ),

    importUsers: users =>
      importAll(users, judgeUser, async valid => {
        const stored = await userStore.insertAll(valid)
        const ids = stored.filter(user => user !== undefined).map(({ id }) => id)
        if (ids.length > 0) events.emit({ event: 'user.imported', users: ids })
        return stored
      })
  }
}

/** 32 bytes in base64. */
const HASHED_PASSWORD = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/
const SALT_MAX = 1024

const requireHash = (user: PredecessorHash): PredecessorHash => {
  requireText('salt', user.salt, 1, SALT_MAX)
  if (HASHED_PASSWORD.test(requireString('hashedpassword', user.hashedPassword))) return user
  throw new DomainError('invalid_input', 'hashedpassword must be 32 bytes in base64')
}

type Judged<Valid> = { readonly valid: Valid } | Exclude<ImportOutcome, 'imported'>

/** Judges each item and stores the valid ones in one call. `judge` throws `invalid_input` for an item to be refused. */
const importAll = async <Item, Valid>(
  items: readonly Item[],
  judge: (item: Item) => Promise<Judged<Valid>>,
  store: (valid: readonly Valid[]) => Promise<readonly unknown[]>
): Promise<readonly ImportOutcome[]> => {
  const judged = await Promise.all(
    items.map(item =>
      judge(item).catch((error: unknown): Judged<Valid> => {
        if (error instanceof DomainError && error.code === 'invalid_input') return { refused: error.message }
        throw error
      })
    )
  )
  const valid = judged.flatMap(each => (typeof each === 'object' && 'valid' in each ? [each.valid] : []))
  const stored = valid.length === 0 ? [] : [...(await store(valid))]
  return judged.map(each => {
    if (each === 'present' || 'refused' in each) return each
    return stored.shift() === undefined ? 'present' : 'imported'
  })
}
