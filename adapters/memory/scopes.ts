import type { ScopeStore } from '../../core/ports.js'

export const createScopeStore = (): ScopeStore => {
  const texts = new Map<string, string>()

  return {
    async set({ name, text }) {
      texts.set(name, text)
    },

    async find(name) {
      const text = texts.get(name)
      return text === undefined ? undefined : { name, text }
    },

    async list() {
      // `<` compares UTF-16 code units. Scopes are ASCII, where this is the order of code points.
      return Array.from(texts, ([name, text]) => ({ name, text })).sort((a, b) => (a.name < b.name ? -1 : 1))
    },

    async remove(name) {
      return texts.delete(name)
    }
  }
}
