// Runs the files that the command line names, or without any the suites that need nothing but memory, for the loop of
// editing and testing: nothing is checked or built. Two processes share the suites. A server is started only for a named file
// that asks for one.

import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { report } from './report.js'
import { filesIn, share } from './together.js'

const ROOMS = ['test/core/', 'test/adapters/memory/', 'test/app/http/routes/']
/** Suites of those rooms that wait for connections to be cut off, or try many random inputs. */
const SLOW = ['bad-input', 'long-lists', 'properties', 'wire-transport'].map(
  name => `test/app/http/routes/${name}.test.ts`
)
const PROCESSES = 2
const MAKES_DATABASES = ['postgres', 'databases'].map(name => `test/support/${name}.ts`)

const named = process.argv.slice(2)
const suites = filesIn('test').filter(
  file => file.endsWith('.test.ts') && ROOMS.some(room => file.startsWith(room)) && !SLOW.includes(file)
)
const files = named.length > 0 ? named : suites
/** Whether a file imports what makes databases, by itself or by what it imports of test/. */
const asksForServer = (file: string, seen = new Set<string>()): boolean => {
  if (seen.has(file) || !existsSync(file)) return false
  seen.add(file)
  const imports = [...readFileSync(file, 'utf8').matchAll(/^(?:import|export|\}) .*from '(\.[^']+)\.js'$/gm)]
  const imported = imports.map(([, path]) => `${relative('.', resolve(dirname(file), String(path)))}.ts`)
  return imported.some(path => MAKES_DATABASES.includes(path) || (/^test\//.test(path) && asksForServer(path, seen)))
}
const server = named.some(file => asksForServer(file))
  ? await (await import('./test-server.js')).openTestServer()
  : undefined
const programs = files.length > PROCESSES ? share('fast', files, PROCESSES, '.tap/fast') : files

const tap = new PassThrough()
const runs = programs.map(async (program, index) => {
  const started = performance.now()
  const child = spawn(process.execPath, ['--import=./test/support/typescript.mjs', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TAP_TIMEOUT: '300', ...server?.env }
  })
  const exited: Promise<[code: number | null, signal: string | null]> = new Promise(resolve =>
    child.on('exit', (...how) => resolve(how))
  )
  const output = await text(child.stdout)
  const [exitCode, signal] = await exited
  // What tap's own runner writes: the tests of a program are those of a subtest.
  const tests = (output || '1..0\n').replace(/^(?=.)/gm, '    ')
  const result = `${exitCode === 0 ? 'ok' : 'not ok'} ${index + 1} - ${program} # time=${performance.now() - started}ms`
  tap.write(`# Subtest: ${program}\n${tests}${result}\n  ---\n  exitCode: ${exitCode}\n  signal: ${signal}\n  ...\n`)
  return exitCode ?? 1
})
const ending = Promise.all(runs).then(exitCodes => {
  tap.end(`1..${programs.length}\n`)
  return { exitCode: Math.max(...exitCodes), complaints: '' }
})
process.exitCode = (await report(tap, ending, line => process.stdout.write(line))) ? 0 : 1
await server?.remove()
