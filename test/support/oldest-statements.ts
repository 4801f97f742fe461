// What the first version of the service, whose schema is drizzle/0000_initial.sql alone, sends to PostgreSQL: every
// statement of its endpoints, its chores and its commands. The texts are those that PostgreSQL logged
// (log_statement = all) while that version did all of it; only the line breaks of the longer ones are made for reading.
// They never change: instances of that version run beside later ones while those are deployed.

/** What begins a grant: $1 to $7. */
const BEGUN = `with parties as (
  select u.id as user_id, c.id as client_id from "user" u, client c
  where u.id = $1 and u.generation = $2 and c.id = $3
  for share of u for key share of c
), begun as (
  insert into "grant" (user_id, client_id, id, scopes, expires_at, sweep_at)
  select user_id, client_id, $4, $5, $6, $7 from parties
  returning id
)`

const TOKEN = 'grant_id, access_digest, refresh_digest, scopes, issuedate, expirationdate, refresh_expirationdate'

const TOKEN_COLUMNS = `"token"."access_digest", "token"."refresh_digest", "grant"."id", "grant"."user_id",
  "grant"."client_id", "grant"."scopes", "grant"."expires_at", "token"."scopes", "token"."issuedate",
  "token"."expirationdate", "token"."refresh_expirationdate"`

const CLIENT_COLUMNS =
  '"id", "secret_digest", "previous_digest", "previous_until", "redirect_uri", "allowed_scopes", "name", "require_pkce"'

const USER_COLUMNS = '"id", "username", "hashedpassword", "salt", "generation"'

/** What spends a code: $1. */
const SPENT_CODE = `with held as (
  select g.id from code c join "grant" g on g.id = c.grant_id
  where c.digest = $1 and g.revoked_at is null
  for key share of g
), spent as (
  update code set spent = true from held
  where code.digest = $1 and code.grant_id = held.id and not spent
  returning held.id
)`

export const OLDEST = {
  begin: 'begin isolation level read committed',
  patient: 'set local statement_timeout = 600000',
  commit: 'commit',
  rollback: 'rollback',
  clock: 'select (extract(epoch from clock_timestamp()) * 1000)::float8',
  isMigrated: "select from pg_tables where schemaname || '.' || tablename = $1",
  lastMigration: 'select coalesce(max(created_at), $1) from drizzle.__drizzle_migrations',

  findHero: 'select "id", "name" from "hero" where "hero"."id" = $1',
  findHeroes: `select asked.position::int4, "hero"."id", "hero"."name"
    from unnest($1::bigint[]) with ordinality as asked (key, position)
    inner join "hero" on "hero"."id" = asked.key`,
  listHeroes: `select "id", "name" from "hero"
    where ("hero"."id" > $1 and strpos("hero"."name_lower", $2) > 0) order by "hero"."id" asc limit $3`,
  insertHero: `insert into "hero" ("id", "name", "name_lower") values (default, $1, $2)
    on conflict ("name") do nothing returning "id", "name"`,
  insertHeroes: `insert into hero (name, name_lower)
    select name, name_lower from unnest($1::text[], $2::text[]) as asked (name, name_lower)
    on conflict (name) do nothing
    returning id, name`,
  renameHero: 'update "hero" set "name" = $1, "name_lower" = $2 where "hero"."id" = $3 returning "id", "name"',
  removeHero: 'delete from "hero" where "hero"."id" = $1 returning "id"',

  insertUser: `insert into "user" ("id", "username", "hashedpassword", "salt", "generation")
    values (default, $1, $2, $3, default) on conflict ("username") do nothing returning "id"`,
  findUser: `select ${USER_COLUMNS} from "user" where "user"."id" = $1`,
  findUserByName: `select ${USER_COLUMNS} from "user" where "user"."username" = $1`,
  listUsers: `select ${USER_COLUMNS} from "user" order by "user"."id" asc`,
  rehashUser: `update "user" set "hashedpassword" = $1, "salt" = $2
    where ("user"."id" = $3 and "user"."hashedpassword" = $4 and "user"."salt" = $5) returning "id"`,
  setPassword: `update "user" set "hashedpassword" = $1, "salt" = $2, "generation" = "user"."generation" + 1
    where "user"."username" = $3 returning "id"`,
  revokeUser: `update "user" set "generation" = "user"."generation" + 1 where "user"."username" = $1 returning "id"`,
  revokeGrantsOfUser: `update "grant" set "revoked_at" = $1
    where ("grant"."user_id" = $2 and "grant"."revoked_at" is null)`,
  removeUser: 'delete from "user" where "user"."username" = $1 returning "id"',

  insertClient: `insert into "client" (${CLIENT_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8)
    on conflict ("id") do nothing returning "id"`,
  findClient: `select ${CLIENT_COLUMNS} from "client" where "client"."id" = $1`,
  findClients: `select asked.position::int4, "client"."id", "client"."secret_digest", "client"."previous_digest",
      "client"."previous_until", "client"."redirect_uri", "client"."allowed_scopes", "client"."name",
      "client"."require_pkce"
    from unnest($1::text[]) with ordinality as asked (key, position)
    inner join "client" on "client"."id" = asked.key`,
  listClients: `select ${CLIENT_COLUMNS} from "client" order by "client"."id" collate "C"`,
  changeClient: `update "client" set "redirect_uri" = $1, "require_pkce" = $2 where "client"."id" = $3
    returning ${CLIENT_COLUMNS}`,
  limitClient: `update "client" set "allowed_scopes" = $1, "name" = $2 where "client"."id" = $3
    returning ${CLIENT_COLUMNS}`,
  replaceSecret: `update "client" set "secret_digest" = $1, "previous_digest" = $2, "previous_until" = $3
    where ("client"."id" = $4 and "client"."secret_digest" is not null) returning "id"`,
  rotateSecret: `update "client"
    set "secret_digest" = $1, "previous_digest" = "client"."secret_digest", "previous_until" = $2
    where ("client"."id" = $3 and "client"."secret_digest" is not null) returning "id"`,
  removeClient: 'delete from "client" where "client"."id" = $1 returning "id"',

  findFullCount: `select max(ends_at) from attempt
    join unnest($1::bytea[], $2::int8[]) as wanted (key, most) using (key)
    where ends_at > $3 and count >= most`,
  lockCounts: `insert into attempt (key, count, ends_at)
    select key, 0, $2 from unnest($1::bytea[]) as wanted (key) order by key
    on conflict (key) do update set key = excluded.key`,
  count: `with wanted as (
      select key, most from unnest($1::bytea[], $2::int8[]) as wanted (key, most)
    ), filled as (
      select max(ends_at) as until from attempt join wanted using (key) where ends_at > $3 and count >= most
    ), counted as (
      update attempt set
        count = case when ends_at > $3 then count + 1 else 1 end,
        ends_at = case when ends_at > $3 then ends_at else $4 end
      from wanted, filled
      where attempt.key = wanted.key and filled.until is null
    )
    select until, set_config('synchronous_commit', 'off', true) from filled`,
  giveBack: `with locked as (
      select key from attempt where key = any($1::bytea[]) or key = $2 order by key for update
    ), cleared as (
      delete from attempt using locked where attempt.key = locked.key and locked.key = $2
    ), reduced as (
      update attempt set count = greatest(count - 1, 0) from locked
      where attempt.key = locked.key and locked.key <> $2
    )
    select set_config('synchronous_commit', 'off', true)`,
  removeCounts: `with removed as (
      delete from attempt where key in (
        select key from attempt where ends_at < $1 order by ends_at limit $2 for update skip locked
      ) returning true
    )
    select count(*)::int4 from removed`,

  insertToken: `${BEGUN}
    insert into token (${TOKEN})
    select id, $8, $9, $10, $11, $12, $13 from begun
    returning true`,
  findByAccess: `select ${TOKEN_COLUMNS} from "token" inner join "grant" on "grant"."id" = "token"."grant_id"
    where ("token"."access_digest" = $1
      and ("token"."spent_at" is null and "token"."revoked_at" is null and "grant"."revoked_at" is null))`,
  findManyByAccess: `select asked.position::int4, ${TOKEN_COLUMNS}
    from unnest($1::bytea[]) with ordinality as asked (key, position)
    inner join "token" on "token"."access_digest" = asked.key
    inner join "grant" on "grant"."id" = "token"."grant_id"
    where ("token"."spent_at" is null and "token"."revoked_at" is null and "grant"."revoked_at" is null)`,
  findByRefresh: `select ${TOKEN_COLUMNS}, "token"."spent_at", "token"."nonce"
    from "token" inner join "grant" on "grant"."id" = "token"."grant_id"
    where ("token"."refresh_digest" = $1 and "grant"."revoked_at" is null)`,
  findManyByRefresh: `select asked.position::int4, ${TOKEN_COLUMNS}, "token"."spent_at", "token"."nonce"
    from unnest($1::bytea[]) with ordinality as asked (key, position)
    inner join "token" on "token"."refresh_digest" = asked.key
    inner join "grant" on "grant"."id" = "token"."grant_id"
    where "grant"."revoked_at" is null`,
  rotate: `with held as (
      select g.id from token t join "grant" g on g.id = t.grant_id
      where t.refresh_digest = $1 and g.revoked_at is null
      for key share of g
    ), spent as (
      update token set spent_at = $8, nonce = $9 from held
      where token.refresh_digest = $1 and token.grant_id = held.id and token.spent_at is null
      returning held.id
    )
    insert into token (${TOKEN})
    select id, $2, $3, $4, $5, $6, $7 from spent
    returning true`,
  rotateMany: `with asked as (
      select * from unnest(
        $1::bytea[], $2::bytea[], $3::bytea[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[],
        $8::timestamptz[], $9::bytea[]
      ) with ordinality
      as asked (digest, access_digest, refresh_digest, scopes, issued, expires, refresh_expires, spent_at, nonce, position)
    ), held as (
      select g.id, t.refresh_digest as digest from asked join token t on t.refresh_digest = asked.digest
      join "grant" g on g.id = t.grant_id
      where g.revoked_at is null
      order by g.id
      for key share of g
    ), locked as (
      select t.access_digest, t.refresh_digest as digest from held join token t on t.refresh_digest = held.digest
      where t.spent_at is null
      order by t.refresh_digest
      for update of t
    ), spent as (
      update token set spent_at = asked.spent_at, nonce = asked.nonce
      from locked join asked using (digest)
      where token.access_digest = locked.access_digest
      returning token.grant_id, asked.*
    ), stored as (
      insert into token (${TOKEN})
      select grant_id, access_digest, refresh_digest, scopes::text[], issued, expires, refresh_expires from spent
    )
    select position::int4 from spent`,
  revokeAccess: 'update "token" set "revoked_at" = $1 where "token"."access_digest" = $2',
  revokeGrant: 'update "grant" set "revoked_at" = $1 where "grant"."id" = $2',

  insertCode: `${BEGUN}
    insert into code (grant_id, digest, redirect_uri, challenge, issuedate, expirationdate)
    select id, $8, $9, $10, $11, $12 from begun
    returning true`,
  findCode: `select "code"."digest", "grant"."id", "grant"."user_id", "grant"."client_id", "grant"."scopes",
      "grant"."expires_at", "code"."redirect_uri", "code"."challenge", "code"."issuedate", "code"."expirationdate",
      "code"."spent"
    from "code" inner join "grant" on "grant"."id" = "code"."grant_id"
    where ("code"."digest" = $1 and "grant"."revoked_at" is null)`,
  redeemCode: `${SPENT_CODE}
    insert into token (${TOKEN})
    select id, $2, $3, $4, $5, $6, $7 from spent
    returning true`,
  burnCode: `${SPENT_CODE} select true from spent`,

  eraseNonces: `with erased as (
      update token set nonce = null where access_digest in (
        select access_digest from token where nonce is not null and spent_at < $1
        order by spent_at, access_digest limit $2 for update
      ) returning true
    )
    select count(*)::int4 from erased`,
  pickExpired: `select id from "grant" where sweep_at < $1
    order by sweep_at limit $2 for update skip locked`,
  removeExpired: `with latest as (
      select id, greatest(
        (select max(greatest(expirationdate, refresh_expirationdate)) from token where grant_id = id),
        (select max(expirationdate) from code where grant_id = id)
      ) as expiry
      from unnest($1::uuid[]) as picked (id)
    ), moved as (
      update "grant" set sweep_at = expiry from latest where "grant".id = latest.id and expiry >= $2
    )
    delete from "grant" using latest where "grant".id = latest.id and expiry < $2`
} as const

export type OldestStatement = keyof typeof OLDEST
