import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import postgres from 'postgres'

// What the server written by hand does with PostgreSQL, as most would write it.

export const sql = postgres(process.env.DATABASE_URL ?? '', { max: 10 })

const HOUR = 3_600_000
const MONTH = 30 * 24 * HOUR

export const digestOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

/** The token and the hero in one statement. `live` is false for a token that has expired, and there is no row for one that is not valid. */
export const findHero = async (token: string, id: number) => {
  const [row] = await sql<{ live: boolean; id: string | null; name: string | null }[]>`
    select t.expirationdate > ${new Date()} as live, h.id, h.name
    from token t join "grant" g on g.id = t.grant_id left join hero h on h.id = ${id}
    where t.access_digest = ${digestOf(token)}
      and t.spent_at is null and t.revoked_at is null and g.revoked_at is null`
  return row
}

/** The token and the new hero in one statement. `live` is false for a token that is not valid, and `id` is null for a name that is taken. */
export const insertHero = async (token: string, name: string) => {
  const [row] = await sql<{ live: boolean; id: string | null }[]>`
    with bearer as (
      select true from token t join "grant" g on g.id = t.grant_id
      where t.access_digest = ${digestOf(token)} and t.expirationdate > ${new Date()}
        and t.spent_at is null and t.revoked_at is null and g.revoked_at is null
    ), inserted as (
      insert into hero (name, name_lower) select ${name}, ${name.toLowerCase()} from bearer
      on conflict (name) do nothing returning id
    )
    select exists (select from bearer) as live, (select id from inserted) as id`
  return row
}

export const isLive = async (token: string): Promise<boolean> => {
  const rows = await sql`
    select true from token t join "grant" g on g.id = t.grant_id
    where t.access_digest = ${digestOf(token)} and t.expirationdate > ${new Date()}
      and t.spent_at is null and t.revoked_at is null and g.revoked_at is null`
  return rows.length === 1
}

interface Page {
  readonly after: number
  /** Null for no limit. */
  readonly limit: number | null
  /** A part of the names, in small letters. */
  readonly part: string | undefined
}

export const listHeroes = async ({ after, limit, part }: Page) => {
  const rows = await sql<{ id: string; name: string }[]>`
    select id, name from hero where id > ${after} ${part === undefined ? sql`` : sql`and name_lower like ${`%${part}%`}`}
    order by id limit ${limit}`
  return rows.map(({ id, name }) => ({ id: Number(id), name }))
}

/**
 * The refresh grant as a transaction of four statements: BEGIN, an UPDATE that makes every check, an INSERT and COMMIT. Undefined
 * for a token or a client's secret that is not valid.
 */
export const rotate = async (client: { id: string; digest: Buffer }, refreshToken: string) => {
  const pair = { access: randomBytes(16).toString('hex'), refresh: randomBytes(16).toString('hex') }
  const now = new Date()
  const after = (milliseconds: number): Date => new Date(now.getTime() + milliseconds)
  try {
    await sql.begin(async transaction => {
      const [spent] = await transaction<{ id: string; secret: Buffer | null }[]>`
        update token set spent_at = ${now} from "grant" g join client c on c.id = g.client_id
        where token.refresh_digest = ${digestOf(refreshToken)} and token.spent_at is null
          and token.refresh_expirationdate > ${now} and g.id = token.grant_id and g.client_id = ${client.id}
          and g.revoked_at is null and g.expires_at > ${now}
        returning g.id, c.secret_digest as secret`
      if (spent?.secret == null || !timingSafeEqual(spent.secret, client.digest)) throw new Refused()
      await transaction`
        insert into token
          (access_digest, refresh_digest, grant_id, scopes, issuedate, expirationdate, refresh_expirationdate)
        values (${digestOf(pair.access)}, ${digestOf(pair.refresh)}, ${spent.id}, '{}', ${now}, ${after(HOUR)}, ${after(MONTH)})`
    })
    return pair
  } catch (error) {
    if (error instanceof Refused) return undefined
    throw error
  }
}

class Refused extends Error {}
