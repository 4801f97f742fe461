import { PassThrough } from 'node:stream'
import { runCommand } from '../../app/cli/command-line.js'
import { serve } from '../../app/serve/serve.js'
import type { Environment } from '../../app/settings.js'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs one command line in this process, with nothing in its environment but `env`. `stdin` may be a terminal of the test's own. */
export const heroes = async (
  argv: readonly string[],
  env: Environment,
  stdin: string | Buffer | PassThrough = ''
): Promise<Ran> => {
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const input = stdin instanceof PassThrough ? stdin : new PassThrough().end(stdin)
  const code = await runCommand(argv, env, { stdin: input, stdout, stderr }, serve)
  const read = (stream: PassThrough): string => String(stream.read() ?? '')
  return { code, stdout: read(stdout), stderr: read(stderr) }
}

/** A terminal at which somebody types: each entry once its prompt is there, or all of them at once. */
export const typing = (...entries: readonly string[]): PassThrough =>
  Object.assign(new PassThrough().end(entries.map(entry => `${entry}\r`).join('')), {
    isTTY: true,
    setRawMode: () => {}
  })
