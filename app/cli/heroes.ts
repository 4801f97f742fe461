import type { NewHero } from '../../core/index.js'
import type { Administration } from '../control/protocol.js'
import type { CommandContext, CommandEntry, JsonOption } from './command.js'
import { type Importable, runImport } from './importing.js'
import { toPrintableJson } from './printable.js'
import { writeAll } from './terminal.js'

export const heroCommands = (context: CommandContext): readonly CommandEntry[] => [
  {
    words: 'export',
    description: 'prints the heroes as JSON lines, without their ids',
    example: 'export > heroes.jsonl',
    json: 'print one JSON array',
    action: ({ json }: JsonOption) =>
      context.withUseCases(
        useCases =>
          writeAll(context.terminal.stdout, json ? asArray(heroTexts(useCases)) : asLines(heroTexts(useCases))),
        { reads: true }
      )
  },
  {
    words: 'import <file>',
    description: 'stores heroes of JSON lines ({"name":...}), or of a .csv file with a header; - reads stdin',
    example: 'import heroes.csv',
    action: (file: string, options: JsonOption) => runImport(context, HEROES, file, options)
  }
]

const HEROES: Importable<NewHero, 'name'> = {
  nouns: ['hero', 'heroes'],
  keys: ['name'],
  hasCsv: true,
  batch: 1000,
  toItem: ({ name }) => ({ name }),
  store: (useCases, heroes) => useCases.importHeroes(heroes)
}

/** How many heroes are read at a time. */
const PAGE = 1000

/** Each hero as JSON, in pages. */
async function* heroTexts({ heroPage }: Administration): AsyncGenerator<readonly string[]> {
  let after: number | undefined
  do {
    const page = await heroPage({ nameContains: undefined, after, limit: PAGE })
    yield page.heroes.map(({ id: _new, ...hero }) => toPrintableJson(hero))
    after = page.nextAfter
  } while (after !== undefined)
}

async function* asLines(pages: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  for await (const page of pages) yield page.map(text => `${text}\n`).join('')
}

async function* asArray(pages: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  let before = '['
  for await (const page of pages) {
    if (page.length === 0) continue
    yield before + page.join()
    before = ','
  }
  yield before === '[' ? '[]\n' : ']\n'
}
