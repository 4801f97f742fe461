import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path/posix'
import t from 'tap'
import ts from 'typescript'

const root = join(import.meta.dirname, '..')
const table: Record<string, RegExp> = {
  core: /^core\//,
  'adapters/memory': /^(core|adapters\/memory)\//,
  'adapters/postgres':
    /^(core\/|adapters\/postgres\/|node:|(drizzle-orm|postgres|@electric-sql\/pglite|fs-native-extensions)(\/|$))/,
  'adapters/crypto': /^(core\/|adapters\/crypto\/|node:|@node-rs\/argon2$)/,
  app: /^(core\/|app\/|node:|@fastify\/|(fastify|@sinclair\/typebox|commander|pino)(\/|$)|heroes\/package\.json$)/
}
const mayImportAdapters = ['app/main.ts', 'app/cli.ts']

function forbidden(file: string, source: string): string[] {
  const folder = Object.keys(table).find(folder => file.startsWith(`${folder}/`))
  return ts
    .preProcessFile(source, true, true)
    .importedFiles.map(({ fileName }) => (fileName.startsWith('.') ? join(file, '..', fileName) : fileName))
    .filter(name => !(folder && table[folder]?.test(name)))
    .filter(name => !(name.startsWith('adapters/') && mayImportAdapters.includes(file)))
    .map(name => `${file} imports ${name}`)
}

t.test('a file imports only what its folder may know', async t => {
  const files = ['core', 'adapters', 'app']
    .flatMap(folder =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(file =>
        join(folder, file.replaceAll('\\', '/'))
      )
    )
    .filter(file => file.endsWith('.ts'))
  t.ok(files.length > 20)
  t.strictSame(
    files.flatMap(file => forbidden(file, readFileSync(join(root, file), 'utf8'))),
    []
  )
})

t.test('an import that breaks the rule is found, however it is written', async t => {
  const broken: [string, string][] = [
    ['core/heroes.ts', "import { randomBytes } from 'node:crypto'"],
    ['core/heroes.ts', "import type { FastifyInstance } from 'fastify'"],
    ['core/heroes.ts', "import { stores } from '../adapters/memory/stores.js'"],
    ['core/heroes.ts', "export * from '../app/server.js'"],
    ['adapters/memory/stores.ts', "import { readFile } from 'node:fs'"],
    ['adapters/crypto/crypto.ts', "const postgres = await import('postgres')"],
    ['adapters/postgres/stores.ts', "import { hash } from '../crypto/crypto.js'"],
    ['app/server.ts', "import { memory } from '../adapters/memory/stores.js'"],
    ['app/routes/heroes.ts', "import 'drizzle-orm/pg-core'"],
    ['app/main.ts', "import 'postgres'"],
    ['adapters/redis/stores.ts', "import '../../core/index.js'"]
  ]
  for (const [file, source] of broken) t.equal(forbidden(file, source).length, 1, `${file}: ${source}`)
  t.strictSame(forbidden('app/main.ts', "import { memory } from '../adapters/memory/stores.js'"), [])
})

t.test('the top level holds nothing but what the README names', async t => {
  const made = ['node_modules', 'dist', 'data', 'coverage']
  const named =
    'core adapters app test drizzle package.json package-lock.json tsconfig.json drizzle.config.ts README.md LICENSE'
  const found = readdirSync(root).filter(name => !name.startsWith('.') && !made.includes(name))
  t.strictSame(
    found.filter(name => !named.split(' ').includes(name)),
    []
  )
})
