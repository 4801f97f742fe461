import type { Token } from '../../../core/model.js'
import type { Value } from '../connection/driver.js'
import { bytes, bytesList, bytesOrNull, instantList, textList } from './values.js'

export const TOKEN_COLUMNS =
  'grant_id, access_digest, refresh_digest, scopes, issuedate, expirationdate, refresh_expirationdate'

/**
 * The condition under which an access token in the table `token` is good until it expires. PostgreSQL reads only the small
 * index of revoked grants: among millions of grants, the grant's row and its index would be four more pages to read. The
 * subquery is a value and no `exists`, which could be planned as a list of all revoked grants.
 */
export const IS_LIVE = `token.spent_at is null and token.revoked_at is null and (
  select revoked_at from "grant" where id = token.grant_id and revoked_at is not null
) is null`

/** In the order of {@link TOKEN_COLUMNS}, without the grant. */
export const tokenValues = (token: Token): readonly Value[] => [
  bytes(token.accessDigest),
  bytesOrNull(token.refreshDigest),
  textList(token.scopes),
  token.issuedAt,
  token.expiresAt,
  token.refreshExpiresAt ?? null
]

/** The names of {@link tokenLists}. */
export const TOKEN_LISTS = 'access_digest, refresh_digest, scopes, issued, expires, refresh_expires'

/** A list for each of {@link TOKEN_LISTS}, of which `unnest` makes a row for each token. The scopes are texts to be cast. */
export const tokenLists = (tokens: readonly Token[]): readonly Value[] => [
  bytesList(tokens.map(({ accessDigest }) => accessDigest)),
  bytesList(tokens.map(({ refreshDigest }) => refreshDigest)),
  textList(tokens.map(({ scopes }) => textList(scopes))),
  instantList(tokens.map(({ issuedAt }) => issuedAt)),
  instantList(tokens.map(({ expiresAt }) => expiresAt)),
  instantList(tokens.map(({ refreshExpiresAt }) => refreshExpiresAt))
]
