import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path/posix'
import t from 'tap'
import ts from 'typescript'

const root = join(import.meta.dirname, '..')

/** Who may import whom: other rooms, and packages. A room may always import itself. A file of its own name is a room for itself. */
const ROOMS: Record<string, { readonly rooms: readonly string[]; readonly packages: readonly string[] }> = {
  core: { rooms: [], packages: [] },
  'adapters/memory': { rooms: ['core'], packages: [] },
  'adapters/crypto': { rooms: ['core'], packages: ['node:', '@node-rs/argon2'] },
  'adapters/postgres': {
    rooms: ['core', 'adapters/postgres/connection', 'adapters/postgres/embedded'],
    packages: ['node:', 'drizzle-orm']
  },
  'adapters/postgres/connection': { rooms: ['core'], packages: ['node:', 'postgres'] },
  'adapters/postgres/embedded': {
    rooms: ['adapters/postgres/connection'],
    packages: ['node:', '@electric-sql/pglite', 'fs-native-extensions']
  },
  'app/http': { rooms: ['core'], packages: ['node:', 'fastify', '@fastify/', '@sinclair/typebox', 'ipaddr.js'] },
  'app/http/pages': {
    rooms: ['core', 'app/http'],
    packages: ['@fastify/helmet', 'node:', '@fastify/accept-negotiator']
  },
  'app/http/routes': {
    rooms: ['core', 'app/http', 'app/http/pages', 'app/http/openapi'],
    packages: ['node:', 'fastify', '@fastify/', '@sinclair/typebox']
  },
  'app/http/openapi': {
    rooms: ['core', 'app/http', 'app/http/pages'],
    packages: ['fastify', '@fastify/swagger', '@sinclair/typebox']
  },
  'app/http/server.ts': {
    rooms: [
      'core',
      'app/http',
      'app/http/routes',
      'app/http/pages',
      'app/http/openapi',
      'app/defaults.ts',
      'app/version.ts'
    ],
    packages: ['fastify']
  },
  'app/defaults.ts': { rooms: [], packages: [] },
  'app/version.ts': { rooms: [], packages: ['node:', 'heroes/package.json'] },
  'app/database.ts': { rooms: ['core'], packages: [] },
  'app/settings': { rooms: ['core', 'app/defaults.ts'], packages: ['node:'] },
  'app/doctor': { rooms: ['app/compose.ts', 'app/settings'], packages: ['node:'] },
  'app/compose.ts': {
    rooms: ['core', 'app/database.ts', 'app/settings', 'adapters/memory', 'adapters/postgres', 'adapters/crypto'],
    packages: []
  },
  'app/control': { rooms: ['core', 'app/version.ts'], packages: ['node:'] },
  'app/serve': {
    rooms: [
      'core',
      'app/control',
      'app/http',
      'app/http/server.ts',
      'app/compose.ts',
      'app/database.ts',
      'app/doctor',
      'app/settings',
      'app/version.ts'
    ],
    packages: ['node:', 'fastify', 'pino', 'prom-client']
  },
  'app/embedding.ts': { rooms: ['app/http/server.ts', 'app/http/routes', 'app/serve'], packages: ['fastify'] },
  'app/cli': {
    rooms: ['core', 'app/control', 'app/compose.ts', 'app/doctor', 'app/settings', 'app/database.ts', 'app/version.ts'],
    packages: ['node:', 'commander', 'csv-parse']
  },
  'app/main.ts': { rooms: ['app/cli', 'app/serve'], packages: [] }
}

/** The innermost room that a file lies in. */
const roomOf = (file: string): string | undefined =>
  Object.keys(ROOMS)
    .filter(room => file === room || file.startsWith(`${room}/`))
    .sort((a, b) => b.length - a.length)[0]

/** What a file imports: other files by their paths from the root, packages by their names. */
const importsOf = (file: string, source: string): string[] =>
  ts
    .preProcessFile(source, true, true)
    .importedFiles.map(({ fileName }) =>
      fileName.startsWith('.') ? join(file, '..', fileName).replace(/\.js$/, '.ts') : fileName
    )

const forbidden = (file: string, source: string): string[] => {
  const room = roomOf(file) ?? ''
  const allowed = ROOMS[room] ?? { rooms: [], packages: [] }
  return importsOf(file, source)
    .filter(name => {
      const other = roomOf(name)
      if (other !== undefined) return other !== room && !allowed.rooms.includes(other)
      return !allowed.packages.some(prefix => name === prefix || name.startsWith(prefix.replace(/(?<![:/])$/, '/')))
    })
    .map(name => `${file} imports ${name}`)
}

/** The first circle that the arrows make, as the names on the way around; undefined when there is none. */
const circleIn = (arrows: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined => {
  const done = new Set<string>()
  const walk = (name: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(name)) return [...way.slice(way.indexOf(name)), name]
    if (done.has(name)) return undefined
    for (const next of arrows.get(name) ?? []) {
      const circle = walk(next, [...way, name])
      if (circle !== undefined) return circle
    }
    done.add(name)
    return undefined
  }
  for (const name of arrows.keys()) {
    const circle = walk(name, [])
    if (circle !== undefined) return circle
  }
  return undefined
}

const sources = new Map(
  ['core', 'adapters', 'app']
    .flatMap(folder =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(file =>
        join(folder, file.replaceAll('\\', '/'))
      )
    )
    .filter(file => file.endsWith('.ts'))
    .map(file => [file, readFileSync(join(root, file), 'utf8')])
)

t.test('a file imports only what its room may know', async t => {
  t.ok(sources.size > 80)
  t.strictSame(
    [...sources].flatMap(([file, source]) => forbidden(file, source)),
    []
  )
})

t.test('every room of the table is there, and every file lies in one', async t => {
  const inhabited = new Set([...sources.keys()].map(roomOf))
  t.strictSame([...inhabited].sort(), Object.keys(ROOMS).sort())
})

t.test('no import leads in a circle, from file to file or from room to room', async t => {
  const files = new Map([...sources].map(([file, source]) => [file, importsOf(file, source)]))
  t.equal(circleIn(files), undefined)
  t.equal(circleIn(new Map(Object.entries(ROOMS).map(([room, { rooms }]) => [room, rooms]))), undefined)
})

t.test('a circle is found, however long it is', async t => {
  const arrows = (text: string) => new Map(text.split(' ').map(pair => [pair.charAt(0), [...pair.slice(1)]]))
  t.strictSame(circleIn(arrows('abc bc ca')), ['a', 'b', 'c', 'a'])
  t.strictSame(circleIn(arrows('ab bc cb')), ['b', 'c', 'b'])
  t.strictSame(circleIn(arrows('aa')), ['a', 'a'])
  t.equal(circleIn(arrows('abc bc cd')), undefined)
})

t.test('an import that breaks the rule is found, however it is written', async t => {
  const broken: [string, string][] = [
    ['core/heroes.ts', "import { randomBytes } from 'node:crypto'"],
    ['core/heroes.ts', "import type { FastifyInstance } from 'fastify'"],
    ['core/heroes.ts', "import { stores } from '../adapters/memory/stores.js'"],
    ['core/heroes.ts', "export * from '../app/http/server.js'"],
    ['adapters/memory/stores.ts', "import { readFile } from 'node:fs'"],
    ['adapters/crypto/crypto.ts', "const postgres = await import('postgres')"],
    ['adapters/postgres/heroes.ts', "import { hash } from '../crypto/crypto.js'"],
    ['adapters/postgres/heroes.ts', "import postgres from 'postgres'"],
    ['adapters/postgres/connection/pool.ts', "import { bytes } from '../sql.js'"],
    ['app/http/http.ts', "import { heroRoutes } from './routes/heroes.js'"],
    ['app/http/errors.ts', "import { buildServer } from './server.js'"],
    ['app/http/routes/heroes.ts', "import 'drizzle-orm/pg-core'"],
    ['app/http/routes/heroes.ts', "import type { Settings } from '../../settings/settings.js'"],
    ['app/http/server.ts', "import { memory } from '../../adapters/memory/stores.js'"],
    ['app/settings/settings.ts', "import { compose } from '../compose.js'"],
    ['app/compose.ts', "import 'postgres'"],
    ['app/cli/users.ts', "import { buildServer } from '../http/server.js'"],
    ['app/serve/serve.ts', "import { runCommand } from '../cli/command-line.js'"],
    ['app/serve/serve.ts', "import 'pinot'"],
    ['adapters/redis/stores.ts', "import '../../core/index.js'"]
  ]
  for (const [file, source] of broken) t.equal(forbidden(file, source).length, 1, `${file}: ${source}`)
  const sound: [string, string][] = [
    ['app/compose.ts', "import { memory } from '../adapters/memory/stores.js'"],
    ['adapters/postgres/heroes.ts', "import { eq } from 'drizzle-orm/pg-core'"],
    ['app/http/http.ts', "import compress from '@fastify/compress'"]
  ]
  for (const [file, source] of sound) t.strictSame(forbidden(file, source), [])
})

t.test('the top level holds nothing but what is named here', async t => {
  const made = ['node_modules', 'dist', 'data', 'coverage']
  const named =
    'core adapters app test drizzle package.json package-lock.json tsconfig.json drizzle.config.ts README.md LICENSE'
  const found = readdirSync(root).filter(name => !name.startsWith('.') && !made.includes(name))
  t.strictSame(
    found.filter(name => !named.split(' ').includes(name)),
    []
  )
})

t.test('the package of the core has the version, the entries and the dependencies of the whole', async t => {
  const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'))
  const [whole, light] = [read('package.json'), read('core/package.json')]
  for (const key of ['version', 'license', 'author', 'type', 'engines']) t.strictSame(light[key], whole[key], key)
  const { './testing': _, ...entries } = light.exports
  for (const entry of Object.keys(entries)) t.strictSame(light.exports[entry], whole.exports[entry], entry)
  t.strictSame(Object.keys(light.dependencies), ['@node-rs/argon2'])
  t.match(whole.dependencies, light.dependencies)
})

t.test('every method of a port is mandatory', async t => {
  const ports = readFileSync(join(root, 'core/ports.ts'), 'utf8')
  t.strictSame(ports.match(/^ +\w+\?(\(.*|: \(.*=>.*)/gm), null)
})
