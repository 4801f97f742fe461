import type { PasswordHash } from '../../core/index.js'
import { CLIENT, PREFIX, type Sizes, sqlDigest, sqlSecret, USERS } from './data.js'

export type Execute = (statement: string) => Promise<unknown>

/** Fills a migrated database that has no rows. */
export const load = async (execute: Execute, sizes: Sizes, password: PasswordHash): Promise<void> => {
  await loadHeroes(execute, 1, sizes.heroes)
  await execute(`
    insert into "user" (username, hashedpassword, salt)
    select 'user ' || i, '${password.hash}', '${password.salt}' from generate_series(1, ${USERS}) i`)
  await execute(`
    insert into client (id, secret_digest, redirect_uri, allowed_scopes, require_pkce)
    values ('${CLIENT.id}', ${sqlDigest(`'${CLIENT.secret}'`)}, 'https://bench.example/callback', '{}', false)`)
  await loadTokens(execute, 1, sizes.tokens)
  await loadTokens(execute, 1, 1, { access: PREFIX.expired, refresh: undefined, expires: "- interval '1 minute'" })
  await loadTokens(execute, 1, 1, { access: PREFIX.revoked, refresh: undefined })
  await execute(`update "grant" set revoked_at = now() where id = ${grantId(PREFIX.revoked, '1')}`)
  await loadTokens(execute, 1, 1, { access: PREFIX.ended, refresh: undefined })
  await execute(`update token set revoked_at = now() where access_digest = ${sqlDigest(sqlSecret(PREFIX.ended, '1'))}`)
  if (sizes.chains > 0) await loadTokens(execute, 1, sizes.chains, { access: 'benchfirst', refresh: PREFIX.chain })
  if (sizes.codes > 0) await loadCodes(execute, sizes.codes)
  await execute('vacuum analyze')
}

const loadHeroes = async (execute: Execute, from: number, to: number): Promise<void> => {
  await execute(`
    insert into hero (id, name, name_lower) overriding system value
    select i, 'hero ' || i, 'hero ' || i from generate_series(${from}, ${to}) i`)
  await execute(`select setval('hero_id_seq', ${to})`)
}

interface TokenKind {
  readonly access: string
  readonly refresh: string | undefined
  /** An SQL interval, with its sign, which is added to the present time. */
  readonly expires?: string
}

/** Loads tokens, each with a grant of its own. */
export const loadTokens = async (
  execute: Execute,
  from: number,
  to: number,
  { access, refresh, expires = "+ interval '30 days'" }: TokenKind = PREFIX
): Promise<void> => {
  const numbers = `generate_series(${from}, ${to}) i`
  const id = grantId(access, 'i')
  await execute(`
    insert into "grant" (id, user_id, client_id, scopes, expires_at, sweep_at)
    select ${id}, 1 + i % ${USERS}, '${CLIENT.id}', '{}', now() + interval '1 year', now() ${expires}
    from ${numbers} order by 1`)
  // The rows come in the order of the key, so that the index grows at its end and millions of rows load in minutes.
  await execute(`
    insert into token
      (access_digest, refresh_digest, grant_id, scopes, issuedate, expirationdate, refresh_expirationdate)
    select ${sqlDigest(sqlSecret(access, 'i'))},
      ${refresh === undefined ? 'null::bytea' : sqlDigest(sqlSecret(refresh, 'i'))}, ${id}, '{}', now(),
      now() ${expires}, ${refresh === undefined ? 'null::timestamptz' : `now() ${expires}`}
    from ${numbers} order by 1`)
}

const loadCodes = async (execute: Execute, count: number): Promise<void> => {
  const id = grantId(PREFIX.code, 'i')
  await execute(`
    insert into "grant" (id, user_id, client_id, scopes, expires_at, sweep_at)
    select ${id}, 1 + i % ${USERS}, '${CLIENT.id}', '{}', now() + interval '1 year', now() + interval '30 days'
    from generate_series(1, ${count}) i`)
  await execute(`
    insert into code (digest, grant_id, issuedate, expirationdate)
    select ${sqlDigest(sqlSecret(PREFIX.code, 'i'))}, ${id}, now(), now() + interval '30 days'
    from generate_series(1, ${count}) i`)
}

const grantId = (kind: string, number: string): string => `md5('${kind} ' || ${number})::uuid`
