import { DomainError } from './errors.js'
import type { ScopeText } from './model.js'
import type { AllPorts } from './ports.js'
import { isScopeToken } from './scope.js'
import { requireString, requireText } from './text.js'

/** What is done with the words for scopes. */
export interface ScopeTextUseCases {
  /**
   * Stores the words for a scope, in place of earlier ones, and returns them without the spaces around them. No client
   * need be allowed the scope. Throws `invalid_input`.
   */
  setScopeText(scope: ScopeText): Promise<ScopeText>
  /** Every scope that has words, in the order of the code points of their names. */
  listScopeTexts(): Promise<readonly ScopeText[]>
  /** Removes the words for a scope. Throws `not_found` when it has none. */
  removeScopeText(name: string): Promise<void>
  /** The words for those of the scopes that have some, by the names of the scopes. */
  describeScopes(names: readonly string[]): Promise<ReadonlyMap<string, string>>
}

export const createScopeTextUseCases = ({ scopes }: AllPorts): ScopeTextUseCases => ({
  async setScopeText({ name, text }) {
    if (!isNameOfScope(name)) {
      throw new DomainError(
        'invalid_input',
        `a scope is 1 to ${MOST_CHARACTERS} characters of printable ASCII without space, quote and backslash`
      )
    }
    const described = { name, text: requireText('text', requireString('text', text).trim(), 1, MOST_CHARACTERS) }
    await scopes.set(described)
    return described
  },

  listScopeTexts: () => scopes.list(),

  async removeScopeText(name) {
    if (!isNameOfScope(name) || !(await scopes.remove(name))) {
      throw new DomainError('not_found', 'no words are stored for this scope')
    }
  },

  async describeScopes(names) {
    const found = await Promise.all(names.map(name => scopes.find(name)))
    return new Map(found.flatMap(scope => (scope === undefined ? [] : [[scope.name, scope.text]])))
  }
})

const MOST_CHARACTERS = 255

const isNameOfScope = (name: string): boolean => isScopeToken(name) && name.length <= MOST_CHARACTERS
