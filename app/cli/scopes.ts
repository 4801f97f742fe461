import type { CommandContext, CommandEntry, JsonOption } from './command.js'
import { toTable } from './printable.js'

export const scopeCommands = ({ show }: CommandContext): readonly CommandEntry[] => [
  {
    words: 'list',
    description: 'lists the scopes that have words',
    example: 'scope list',
    action: (options: JsonOption) =>
      show({ ...options, reads: true }, async useCases => {
        const found = await useCases.listScopeTexts()
        const rows = found.map(({ name, text }) => [name, text])
        return [found, toTable(['SCOPE', 'TEXT'], rows, 'No scope has words.')]
      })
  },
  {
    words: 'set <name> <text>',
    description: 'gives a scope its words, in place of earlier ones',
    example: "scope set heroes.readonly 'See your heroes'",
    action: (name: string, text: string, options: JsonOption) =>
      show(options, async useCases => {
        const scope = await useCases.setScopeText({ name, text })
        return [scope, [`The scope ${scope.name} is shown as: ${scope.text}`]]
      })
  },
  {
    words: 'remove <name>',
    description: 'removes the words of a scope, which is then shown as it is',
    example: 'scope remove heroes.readonly --yes',
    confirms: name => [`Remove the words of the scope ${name}?`, `the words of the scope ${name} are not removed`],
    action: (name: string, options: JsonOption) =>
      show(options, async useCases => {
        await useCases.removeScopeText(name)
        return [{ name }, [`The scope ${name} has no words any more.`]]
      })
  }
]
