import { scopeMalformed, scopeNotAllowed, scopeTooLong } from './refusals.js'
import { requireString } from './text.js'

/** Whether a client may be allowed this scope: the `scope-token` of RFC 6749 section 3.3. */
export const isScopeToken = (text: string): boolean =>
  /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(requireString('a scope', text))

/**
 * More than any client requests. A refresh compares each of its scopes with each scope of the grant: ten thousand of
 * them would take half a minute.
 */
const MOST_SCOPES = 100
/** In UTF-16 units. A longer `scope` is refused. */
const LONGEST_SCOPE = 4096

/**
 * Splits the `scope` of RFC 6749 section 3.3, in the order given and without repeats. Several spaces count as one, and
 * spaces at either end do not count. Throws `invalid_scope` when a part breaks the grammar or the scope has too many
 * parts or characters.
 */
export const parseScope = (scope = ''): readonly string[] => {
  if (scope.length > LONGEST_SCOPE) throw scopeTooLong()
  const tokens = new Set(scope.split(' ').filter(part => part !== ''))
  if (tokens.size > MOST_SCOPES) throw scopeTooLong()
  if (![...tokens].every(isScopeToken)) throw scopeMalformed()
  return [...tokens]
}

/** Splits a scope: `a:b.read` has the path `['a', 'b']` and the modifier `read`. */
const parts = (scope: string): { readonly path: readonly string[]; readonly modifier: string | undefined } => {
  const colon = scope.lastIndexOf(':') + 1
  const dot = scope.indexOf('.', colon)
  if (dot === -1) return { path: scope.split(':'), modifier: undefined }
  return { path: scope.slice(0, dot).split(':'), modifier: scope.slice(dot + 1) }
}

/**
 * True when the scope `granted` includes the scope `required`: `a` covers `a`, `a:b` and `a.readonly`; `a.readonly`
 * covers `a:b.readonly`.
 */
export const covers = (granted: string, required: string): boolean => {
  if (granted === required) return true
  const g = parts(granted)
  const r = parts(required)
  return g.path.every((segment, i) => segment === r.path[i]) && (g.modifier === undefined || g.modifier === r.modifier)
}

export const anyCovers = (granted: readonly string[], required: string): boolean =>
  granted.some(scope => covers(scope, required))

/**
 * The requested scopes that are allowed, in the order requested. Throws `invalid_scope`, as `refusal` makes it, when
 * scopes are requested and none is allowed.
 */
export const grantScopes = (
  requested: readonly string[],
  allowed: readonly string[],
  refusal = scopeNotAllowed
): readonly string[] => {
  const granted = requested.filter(scope => anyCovers(allowed, scope))
  if (requested.length > 0 && granted.length === 0) throw refusal()
  return granted
}
