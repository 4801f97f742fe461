// Runs every suite, or the files that the command line names. With --long, runs those of test/long/.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { type Ending, report } from './report.js'
import { openTestServer } from './test-server.js'
import { filesIn, together } from './together.js'

const windows = process.platform === 'win32'
const long = process.argv.includes('--long')
const args = process.argv.slice(2).filter(arg => arg !== '--long')
const named = args.some(arg => arg.endsWith('.ts'))
const suites = filesIn('test').filter(file => file.endsWith('.test.ts'))
const isLong = (file: string): boolean => file.startsWith('test/long/')
if (!named)
  args.push(
    ...(long
      ? suites.filter(isLong)
      : together(
          suites.filter(file => !isLong(file)),
          '.tap/together'
        ))
  )
// Suites that measure, or that wait for what is over in seconds, run one at a time, and of the others three, as some wait.
// tap begins them in the order of their names.
if (long) args.unshift('--jobs=3', '--serial=test/long/alone', '--timeout=600')
// A run of a few suites cannot reach every line, and does not fail for that.
if (long || named) args.unshift('--disable-coverage', '--allow-empty-coverage')

const tapPackage = import.meta.resolve('tap/package.json')
const cli = fileURLToPath(new URL('dist/esm/run.mjs', tapPackage))
// tap as it is installed compiles TypeScript itself. It would build itself without that during its first run, whose coverage
// would then come from two compilers, so it is built before.
const built = createRequire(tapPackage).resolve('@tapjs/test/built')
if (readFileSync(built, 'utf8').includes('@tapjs/typescript')) spawnSync(process.execPath, [cli, 'build'])

const sources = ['core', 'adapters', 'app', 'test'].flatMap(filesIn)
const compiler = spawn(process.execPath, ['test/support/compile.mjs', ...sources], { stdio: 'inherit' })
const [server] = await Promise.all([openTestServer(), once(compiler, 'close')])
const tap = spawn(process.execPath, [cli, '--reporter=tap', ...args], {
  stdio: ['inherit', 'pipe', 'pipe'],
  // A signal ends tap and not its children, so they share a process group to which signals are sent.
  detached: !windows,
  env: { ...process.env, ...server.env }
})

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end(signal))

function end(signal: NodeJS.Signals): void {
  if (!tap.pid) return
  process.kill(windows ? tap.pid : -tap.pid, signal)
  setTimeout(end, 3_000, 'SIGKILL').unref()
}

let complaints = ''
tap.stderr.setEncoding('utf8').on('data', (text: string) => {
  process.stderr.write(text)
  complaints = `${complaints}${text}`.slice(-10_000)
})
const ending = new Promise<Ending>(resolve => tap.on('close', code => resolve({ exitCode: code ?? 1, complaints })))
const green = await report(tap.stdout, ending, text => process.stdout.write(text))
await server.remove()
process.exitCode = green ? 0 : 1
