import type postgres from 'postgres'
import { digestOf } from './hand.js'

/** One statement, which judges the token and inserts the hero. `live` is false for a token that is not valid, `id` is null for a taken name. */
export const insertHero = async (
  sql: postgres.Sql,
  token: string,
  name: string
): Promise<{ live: boolean; id: string | null } | undefined> => {
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

/** One statement, which judges the token and reads the hero. `name` is null where there is no such hero. */
export const findHero = async (
  sql: postgres.Sql,
  token: string,
  id: number
): Promise<{ live: boolean; id: string | null; name: string | null } | undefined> => {
  const [row] = await sql<{ live: boolean; id: string | null; name: string | null }[]>`
    select t.expirationdate > ${new Date()} as live, h.id, h.name
    from token t join "grant" g on g.id = t.grant_id left join hero h on h.id = ${id}
    where t.access_digest = ${digestOf(token)}
      and t.spent_at is null and t.revoked_at is null and g.revoked_at is null`
  return row
}

export const isHeroName = (name: unknown): name is string =>
  typeof name === 'string' && name !== '' && name.length <= 255
