import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { startServer } from './postgres.js'

const windows = process.platform === 'win32'
const args = process.argv.slice(2)
// A few suites cannot cover every line, and a run of theirs does not fail for it.
if (args.some(arg => arg.endsWith('.ts'))) args.unshift('--allow-incomplete-coverage', '--allow-empty-coverage')

const server = process.env.TEST_DATABASE_URL ? undefined : await startServer()
const cli = fileURLToPath(new URL('dist/esm/run.mjs', import.meta.resolve('tap/package.json')))
const tap = spawn(process.execPath, [cli, ...args], {
  stdio: 'inherit',
  // tap dies of a signal without its children, so they share a group that a signal reaches as a whole.
  detached: !windows,
  env: { ...process.env, TEST_DATABASE_URL: server?.url ?? process.env.TEST_DATABASE_URL }
})

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end(signal))

function end(signal: NodeJS.Signals): void {
  if (!tap.pid) return
  process.kill(windows ? tap.pid : -tap.pid, signal)
  setTimeout(end, 3_000, 'SIGKILL').unref()
}

tap.on('exit', async code => {
  await server?.remove()
  process.exitCode = code ?? 1
})
