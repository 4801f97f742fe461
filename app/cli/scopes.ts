import type { Command } from 'commander'
import type { CommandContext } from './context.js'
import { toTable } from './table.js'
import { confirm } from './terminal.js'

export const addScopeCommands = (program: Command, { terminal, withUseCases, print }: CommandContext): void => {
  const scopes = program.command('scope').description('says in words what a scope opens, for the login page')

  scopes
    .command('list')
    .description('lists the scopes that have words')
    .option('--json', 'print JSON')
    .action(({ json }: { json?: true }) =>
      withUseCases(async useCases => {
        const found = await useCases.listScopeTexts()
        await print(
          json,
          found,
          toTable(
            ['SCOPE', 'TEXT'],
            found.map(({ name, text }) => [name, text]),
            'No scope has words.'
          )
        )
      })
    )

  scopes
    .command('set <name> <text>')
    .description('gives a scope its words, in place of earlier ones')
    .option('--json', 'print JSON')
    .action((name: string, text: string, { json }: { json?: true }) =>
      withUseCases(async useCases => {
        const scope = await useCases.setScopeText({ name, text })
        await print(json, scope, [`The scope ${scope.name} is shown as: ${scope.text}`])
      })
    )

  scopes
    .command('remove <name>')
    .description('removes the words of a scope, which is then shown as it is')
    .option('--yes', 'remove without asking (without a terminal nothing is asked)')
    .option('--json', 'print JSON')
    .action(async (name: string, { yes, json }: { yes?: true; json?: true }) => {
      const question = `Remove the words of the scope ${name}?`
      if (!yes) await confirm(terminal, question, `the words of the scope ${name} are not removed`)
      await withUseCases(async useCases => {
        await useCases.removeScopeText(name)
        await print(json, { name }, [`The scope ${name} has no words any more.`])
      })
    })
}
