import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  customType,
  index,
  integer,
  pgTable,
  text,
  timestamp,
  uniqueIndex,
  uuid
} from 'drizzle-orm/pg-core'
import { bytes, listOf, readTexts } from './sql.js'

/** 32 bytes, which are base64url in the core. */
const digest = customType<{ data: string; driverData: Uint8Array }>({
  dataType: () => 'bytea',
  toDriver: bytes,
  fromDriver: value => Buffer.from(value).toString('base64url')
})

/** Drizzle's own text[] loses backslashes when it reads. */
const texts = customType<{ data: readonly string[]; driverData: string }>({
  dataType: () => 'text[]',
  toDriver: listOf,
  fromDriver: readTexts
})

const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 })

/** Identifiers are int8, so that a safe integer beyond int4 is compared like any other and does not fail with 22003. */
const id = () => bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity()

export const heroes = pgTable('hero', {
  id: id(),
  name: text('name').notNull().unique(),
  /** The name as JavaScript's toLowerCase leaves it: PostgreSQL's lower() depends on the server's locale. */
  nameLower: text('name_lower').notNull()
})

export const users = pgTable('user', {
  id: id(),
  username: text('username').notNull().unique(),
  hashedPassword: text('hashedpassword').notNull(),
  salt: text('salt').notNull(),
  generation: bigint('generation', { mode: 'number' }).notNull().default(0)
})

export const clients = pgTable(
  'client',
  {
    id: text('id').primaryKey(),
    secretDigest: digest('secret_digest'),
    previousDigest: digest('previous_digest'),
    previousUntil: instant('previous_until'),
    /** The first redirect URI. When it is null, the client has none, whatever the next column says. */
    redirectUri: text('redirect_uri'),
    furtherRedirectUris: texts('further_redirect_uris').notNull().default([]),
    allowedScopes: texts('allowed_scopes').notNull(),
    grantTypes: texts('grant_types').notNull().default(['password', 'authorization_code', 'refresh_token']),
    name: text('name'),
    requirePkce: boolean('require_pkce').notNull(),
    requireState: boolean('require_state').notNull().default(true)
  },
  table => [check('previous_secret', sql`(${table.previousDigest} is null) = (${table.previousUntil} is null)`)]
)

/** The words in which the login page tells of a scope. */
export const scopes = pgTable('scope', {
  name: text('name').primaryKey(),
  text: text('text').notNull()
})

export const grants = pgTable(
  'grant',
  {
    id: uuid('id').primaryKey(),
    /** Null for what a client got for itself. */
    userId: bigint('user_id', { mode: 'number' }).references(() => users.id, { onDelete: 'cascade' }),
    clientId: text('client_id')
      .notNull()
      .references(() => clients.id, { onDelete: 'cascade' }),
    scopes: texts('scopes').notNull(),
    /** Null for what an earlier version began. */
    beganAt: instant('began_at'),
    expiresAt: instant('expires_at').notNull(),
    revokedAt: instant('revoked_at'),
    /**
     * When to look whether everything under the grant has expired. It may be too early, as a rotation does not change
     * it.
     */
    sweepAt: instant('sweep_at').notNull()
  },
  table => [
    index('grant_user_id').on(table.userId),
    index('grant_client_id').on(table.clientId),
    index('grant_sweep_at').on(table.sweepAt),
    // Every bearer check reads this index. It is small, because it has the revoked grants alone.
    index('grant_revoked').on(table.id).where(sql`${table.revokedAt} is not null`)
  ]
)

const grantId = () =>
  uuid('grant_id')
    .notNull()
    .references(() => grants.id, { onDelete: 'cascade' })

export const codes = pgTable(
  'code',
  {
    digest: digest('digest').primaryKey(),
    grantId: grantId(),
    redirectUri: text('redirect_uri'),
    challenge: text('challenge'),
    issuedAt: instant('issuedate').notNull(),
    expiresAt: instant('expirationdate').notNull(),
    spent: boolean('spent').notNull().default(false)
  },
  table => [index('code_grant_id').on(table.grantId)]
)

export const tokens = pgTable(
  'token',
  {
    accessDigest: digest('access_digest').primaryKey(),
    refreshDigest: digest('refresh_digest'),
    grantId: grantId(),
    scopes: texts('scopes').notNull(),
    issuedAt: instant('issuedate').notNull(),
    expiresAt: instant('expirationdate').notNull(),
    refreshExpiresAt: instant('refresh_expirationdate'),
    /** When the access token alone was revoked. The revocation of a grant is in the grant's own column. */
    revokedAt: instant('revoked_at'),
    spentAt: instant('spent_at'),
    nonce: digest('nonce')
  },
  table => [
    uniqueIndex('token_refresh_digest').on(table.refreshDigest),
    index('token_grant_id').on(table.grantId),
    index('token_nonce').on(table.spentAt).where(sql`${table.nonce} is not null`)
  ]
)

export const attempts = pgTable(
  'attempt',
  {
    key: digest('key').primaryKey(),
    /** How many attempts of the window are counted: those that failed, and those that are under way. */
    count: integer('count').notNull(),
    endsAt: instant('ends_at').notNull(),
    // The defaults are for instances of an earlier version, which do not write these columns.
    failures: integer('failures').notNull().default(0),
    countedAt: instant('counted_at').notNull().defaultNow()
  },
  table => [index('attempt_ends_at').on(table.endsAt)]
)

/** From where users have logged in: each key is a digest of a user's id and an address. */
export const knownLogins = pgTable(
  'known_login',
  {
    key: digest('key').primaryKey(),
    until: instant('known_until').notNull()
  },
  table => [index('known_login_until').on(table.until)]
)
