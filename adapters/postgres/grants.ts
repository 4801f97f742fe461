import { getTableColumns } from 'drizzle-orm'
import type { Grant, OpenLogin } from '../../core/model.js'
import type { GrantStore } from '../../core/ports.js'
import { inBatches } from './batches.js'
import type { Driver, Run } from './connection/driver.js'
import { hadNoEffect } from './connection/errors.js'
import { LIMITS } from './connection/limits.js'
import { END_OF_SPENT, pauseSince, removeGrants, removeSpent } from './long-writes.js'
import type { Lookups } from './lookups.js'
import { grants, tokens, users } from './schema.js'
import { anyRow, type Columns, joined, listOf, mapped, readAll, requested, type Selection, selection } from './sql.js'

const { revokedAt: _revokedAt, ...begun } = getTableColumns(grants)
const { sweepAt: _sweepAt, ...found } = begun

export const grant: Selection<Grant> = selection(found)

const rows = requested({ ...begun, generation: users.generation })
const { names, values } = requested(begun)

/** Stands for none. No user has it, so only a grant without a user begins with it. */
const NO_GENERATION = -1

/**
 * Begins a grant: the first of the two steps that store a login; `begun` has its id. It locks the user, if there is one, and
 * the client. A concurrent statement that ends the user's grants or removes the user or the client either waits and then
 * sees this grant, or came first: then this statement sees its effect and begins no grant.
 */
const BEGIN_GRANT = `login as (
  select * from ${rows.from}
), present_user as (
  select from "user" u, login where u.id = login."userId" and u.generation = login.generation for share of u
), present_client as (
  select from client c, login where c.id = login."clientId" for key share of c
), begun as (
  insert into "grant" (${names})
  select ${values} from login
  where exists (select from present_client)
    and case when "userId" is null then generation = ${NO_GENERATION} else exists (select from present_user) end
  returning id
)`

/** Returns what begins a grant and stores its first code or token, both or neither. `sweepAt`: when that has expired. */
export const createBeginning = <Stored extends Columns>(query: Run, table: 'code' | 'token', columns: Stored) => {
  const { names, from, values, lists } = requested(columns, rows.next)
  const statement = `
with ${BEGIN_GRANT}
insert into ${table} (grant_id, ${names})
select begun.id, ${values} from begun, ${from}
returning true`
  type First = Parameters<typeof lists>[0][number] & { readonly grant: Grant }
  return (first: First, generation: number | undefined, sweepAt: Date): Promise<boolean> => {
    const login = rows.lists([{ ...first.grant, sweepAt, generation: generation ?? NO_GENERATION }])
    return anyRow(query(statement, [...login, ...lists([first])]))
  }
}

const openLogin: Selection<OpenLogin> = mapped(
  joined(grant, selection({ refreshedAt: tokens.issuedAt })),
  ([grant, { refreshedAt }]) => ({ grant, refreshedAt })
)

// `greatest`: at least one row is read, even for a limit of 0, because the count of all comes with each row.
const LIST_OPEN = `
select ${openLogin.text}, count(*) over ()::int4
from "grant" cross join lateral (
  select
    max(issuedate) as issuedate,
    bool_or(spent_at is null and (revoked_at is null and expirationdate > $2 or refresh_expirationdate > $2)) as is_open
  from token where grant_id = "grant".id
) as token
where user_id = $1 and revoked_at is null and is_open
order by began_at desc nulls last, token.issuedate desc
limit greatest($3::int8, 1)`

/** How many grants a sweep looks at in one transaction. */
const MOST = 100

// `skip locked`: a locked grant is in another sweep or about to get a new token.
const PICK = `
select id::text from "grant" where sweep_at < $1
order by sweep_at limit $2 for update skip locked`

/**
 * For each grant with a code or token that has not expired, sets `sweep_at` to when the last of them expires. If its first
 * spent token may go before that, `sweep_at` is then, but a day from $2 at the earliest. Returns the other grants.
 */
const MOVE = `
with latest as (
  select picked.id, spent,
    greatest(token.expiry, (select max(expirationdate) from code where grant_id = picked.id)) as expiry
  from unnest($1::uuid[]) as picked (id), lateral (
    select max(greatest(expirationdate, refresh_expirationdate)) as expiry,
      min(${END_OF_SPENT}) filter (where spent_at is not null) as spent
    from token where grant_id = picked.id
  ) as token
), moved as (
  update "grant" set sweep_at = least(
    expiry, case when spent is not null then greatest(spent, $2::timestamptz + interval '86400 seconds') end
  )
  from latest where "grant".id = latest.id and expiry >= $2
)
select id::text from latest where expiry is null or expiry < $2`

const revoked = requested({ id: grants.id, revokedAt: grants.revokedAt })

// A tombstone, not an UPDATE of the tokens: under READ COMMITTED an UPDATE cannot see a token that a concurrent rotation has
// yet to commit.
const REVOKE = `
update "grant" set revoked_at = requested."revokedAt" from ${revoked.from}
where "grant".id = requested.id and revoked_at is null
returning "grant".id::text`

const POSTPONE = `
update "grant" set sweep_at = $1::timestamptz + interval '1 hour'
where id = (select id from "grant" where sweep_at < $1 order by sweep_at limit 1 for update skip locked)`

export const createGrantStore = ({ query, transaction }: Driver, lookups: Lookups): GrantStore => {
  /** Looks at up to `most` grants. Resolves with their number, or with `most` where there may be more to do. */
  const sweep = (at: Date, most: number): Promise<number> =>
    // Patient, because all tokens of a grant are read to learn whether one of them lives.
    transaction({ name: 'grant.sweep', patient: true }, async run => {
      // `patient` lifts the limit on locks too. It is set again: a sweep that waits for a locked table would keep its
      // connection from everybody.
      await run(`select set_config('lock_timeout', '${LIMITS.lock.others}', true)`, [])
      const picked = (await run(PICK, [at, most])).flat()
      if (picked.length === 0) return 0
      if (!(await removeSpent(run, picked, at))) return most
      // A separate statement: it sees every token that was stored under the grants before they were locked.
      const expired = (await run(MOVE, [listOf(picked), at])).flat()
      const removed = expired.length === 0 || (await removeGrants(run, expired))
      return removed ? picked.length : most
    })

  /** Does as {@link sweep} does, grant by grant. One that fails, because somebody has a token locked, is left for an hour. */
  const sweepEach = async (at: Date, most: number): Promise<number> => {
    for (let left = most; left > 0; left -= 1) {
      const looked = await sweep(at, 1).catch(async (error: unknown) => {
        if (!hadNoEffect(error)) throw error
        await query(POSTPONE, [at])
      })
      if (looked === 0) break
    }
    return most
  }

  /** Grants that are ended at the same time share a statement. In the order of their ids, so that two cannot deadlock (40P01). */
  const revoke = inBatches(
    async (ends: readonly { readonly id: string; readonly revokedAt: Date }[]) => {
      const inOrder = ends.toSorted((a, b) => (a.id < b.id ? -1 : 1))
      const ended = new Set((await query(REVOKE, revoked.lists(inOrder))).flat())
      return ends.map(({ id }) => ended.has(id))
    },
    { keyOf: ({ id }) => id }
  )

  return {
    find: lookups.create({ selection: grant, from: 'from "grant" where id = $1 and revoked_at is null', type: 'uuid' }),

    async listOpen(userId, at, limit) {
      const rows = await query(LIST_OPEN, [userId, at, limit])
      return { open: readAll(openLogin, rows).slice(0, limit), count: Number(rows[0]?.[openLogin.width] ?? 0) }
    },

    revoke: (id, at) => revoke({ id, revokedAt: at }),

    async removeExpired(at, limit) {
      const startedAt = performance.now()
      const most = Math.min(limit, MOST)
      const looked = await sweep(at, most).catch((error: unknown) => {
        if (!hadNoEffect(error)) throw error
        return sweepEach(at, most)
      })
      if (looked < most) return looked
      await pauseSince(startedAt)
      return limit
    }
  }
}
