import type { Driver, Run } from './connection/driver.js'

/** Few enough for one statement to stay far below its time limit. */
const NONCES_PER_STATEMENT = 5000

// A token that someone has locked is left to the next sweep: waiting for it would end this one (55P03).
const ERASE_NONCES = `
with erased as (
  update token set nonce = null where access_digest in (
    select access_digest from token where nonce is not null and spent_at < $1
    order by spent_at, access_digest limit $2 for update skip locked
  ) returning true
)
select count(*)::int4 from erased`

export const eraseNonces = async (write: Run, at: Date): Promise<number> => {
  let total = 0
  let erased: number
  do {
    const [row] = await write(ERASE_NONCES, [at, NONCES_PER_STATEMENT])
    erased = Number(row?.[0])
    total += erased
  } while (erased === NONCES_PER_STATEMENT)
  return total
}

// Locked grants are someone else's: another sweep's, or about to have a new token.
const PICK = `
select id from "grant" where sweep_at < $1
order by sweep_at limit $2 for update skip locked`

// Codes and tokens go with their grants, by cascade.
const REMOVE = `
with latest as (
  select id, greatest(
    (select max(greatest(expirationdate, refresh_expirationdate)) from token where grant_id = id),
    (select max(expirationdate) from code where grant_id = id)
  ) as expiry
  from unnest($1::uuid[]) as picked (id)
), moved as (
  update "grant" set sweep_at = expiry from latest where "grant".id = latest.id and expiry >= $2
)
delete from "grant" using latest where "grant".id = latest.id and (expiry is null or expiry < $2)`

export const removeExpired = (transaction: Driver['transaction'], at: Date, limit: number): Promise<number> =>
  transaction('grant.sweep', async run => {
    const picked = await run(PICK, [at, limit])
    // A statement of its own: it sees what was stored under the grants until they were locked.
    if (picked.length > 0) await run(REMOVE, [`{${picked.join()}}`, at])
    return picked.length
  })
