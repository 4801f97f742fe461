import type { Token } from '../../../core/model.js'
import type { Value } from '../connection/driver.js'
import { bytes, bytesOrNull, textList } from './values.js'

export const TOKEN_COLUMNS =
  'grant_id, access_digest, refresh_digest, scopes, issuedate, expirationdate, refresh_expirationdate'

/** In the order of {@link TOKEN_COLUMNS}, without the grant. */
export const tokenValues = (token: Token): readonly Value[] => [
  bytes(token.accessDigest),
  bytesOrNull(token.refreshDigest),
  textList(token.scopes),
  token.issuedAt,
  token.expiresAt,
  token.refreshExpiresAt ?? null
]
