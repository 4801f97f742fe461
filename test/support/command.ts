// The command line `heroes`, run in this process.

import { PassThrough } from 'node:stream'
import type { Test } from 'tap'
import { runCommand, type Serve } from '../../app/cli/command-line.js'
import { serve } from '../../app/serve/serve.js'
import { openApi } from '../../app/serve/service.js'
import { createStop } from '../../app/serve/stop.js'
import type { Environment } from '../../app/settings/settings.js'
import { migratedDatabase } from './databases.js'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A text, bytes, or a terminal of the test's own. */
type Input = string | Buffer | PassThrough

/** Runs one command with no environment but `env`. A `line` that is one text is split at its spaces. */
export const heroes = async (
  line: string | readonly string[],
  env: Environment,
  stdin: Input = '',
  stderr = new PassThrough(),
  stdout = new PassThrough({ highWaterMark: 10_000_000 })
): Promise<Ran> => {
  const argv = typeof line === 'string' ? line.split(' ') : line
  const input = stdin instanceof PassThrough ? stdin : new PassThrough().end(stdin)
  const serveOn: Serve = (settings, stdout) => serve(settings, stdout, createStop())
  const code = await runCommand(argv, env, { stdin: input, stdout, stderr }, serveOn, openApi)
  return { code, stdout: read(stdout), stderr: read(stderr) }
}

/** What has arrived. Node 26 reads it chunk by chunk, and earlier versions read all at once. */
const read = (stream: PassThrough): string => {
  const chunks: Buffer[] = []
  for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) chunks.push(chunk)
  return String(Buffer.concat(chunks))
}

/** Runs a command as {@link heroes} does. Rejects unless the command succeeds. */
export const administer = async (line: string, env: Environment, stdin?: Input): Promise<void> => {
  const { code, stderr } = await heroes(line, env, stdin)
  if (code !== 0) throw new Error(stderr)
}

/** A terminal into which somebody has typed these entries, each with the return key. */
export const typing = (...entries: readonly string[]): PassThrough =>
  Object.assign(new PassThrough().end(entries.map(entry => `${entry}\r`).join('')), {
    isTTY: true,
    setRawMode: () => {}
  })

/** What a command prints when it is refused: one line. */
export const ONE_LINE = /^[^\n]+\n$/

/** Matches what a command writes to stderr: what it shows at a terminal, and the line that tells what it has done. */
export const told = (event: string, ids: Readonly<Record<string, unknown>>, shown = ''): RegExp => {
  const line = `{"level":30,"time":0,${JSON.stringify({ event, ...ids }).slice(1)}\n`
  const literally = `${shown}${line}`.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  return new RegExp(`^${literally.replace('"time":0', '"time":\\d+')}$`)
}

/** The command line on a new database, which is dropped when the test ends. */
export const openCommandLine = async (t: Pick<Test, 'teardown'>) => {
  const url = await migratedDatabase(t)
  const env = { DATABASE_URL: url, DATABASE_POOL: '2' }
  const run = (line: string, stdin?: Input) => heroes(line, env, stdin)
  /** The value that the command prints with `--json`. */
  const json = async (line: string, stdin?: Input) => JSON.parse((await run(`${line} --json`, stdin)).stdout)
  return { url, env, run, json }
}
