// The built program as a process of its own, and requests to it over real sockets.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { settingsHelp } from '../../app/settings/settings.js'
import { basic, bearer } from './service.js'
import { startStopwatch } from './stopwatch.js'

/** The program that `npm run build` makes. */
export const PROGRAM = fileURLToPath(new URL('../../dist/app/main.js', import.meta.url))

/** Makes a folder outside of the checkout, which two runs of the suite at once do not share. It is removed when the test ends. */
export const temporaryFolder = (t: Pick<Test, 'teardown'>): string => {
  const folder = mkdtempSync(join(tmpdir(), 'heroes-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface Process {
  readonly child: ChildProcess
  /** What the process has written so far to stdout and stderr. */
  output(): string
  /** Resolves with the match once the output has one. Rejects when the process ends without one. */
  until(pattern: RegExp): Promise<RegExpExecArray>
  /** The exit code, or the signal that ended the process. It resolves when all output is there. */
  readonly ended: Promise<number | NodeJS.Signals>
}

/** Starts the built program with no settings but these. It is killed when the test ends, if it still runs. */
export const startProcess = (
  t: Pick<Test, 'teardown'>,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  program = PROGRAM
): Process => {
  const child = spawn(process.execPath, [program, ...argv], {
    env: { ...surroundings(), ...env },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  let over = false
  const ended = once(child, 'close').then(([code, signal]: (number | NodeJS.Signals)[]) => {
    over = true
    return code ?? signal ?? 0
  })
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    child,
    output: () => output,
    async until(pattern) {
      for (let searched = -1; ; ) {
        const last = over
        const found = output.length > searched ? pattern.exec(output) : null
        searched = output.length
        if (found) return found
        if (last) throw new Error(`the process has ended: ${output}`)
        await sleep(20)
      }
    },
    ended
  }
}

/** The names of the settings. */
export const settingNames = (): string[] =>
  [...settingsHelp().matchAll(/^ {2}([A-Z_]+) /gm)].map(([, name = '']) => name)

/** The environment of this process without settings of the service. */
const surroundings = (): NodeJS.ProcessEnv => {
  const settings = new Set(settingNames())
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !settings.has(name)))
}

export interface RunningService extends Process {
  readonly url: string
  /** Sends a signal, and resolves as {@link Process.ended} does. */
  stop(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals>
}

/** Starts `heroes serve` on a free port. Resolves when the service listens. */
export const serveProcess = async (
  t: Pick<Test, 'teardown'>,
  env: Readonly<Record<string, string>>
): Promise<RunningService> => {
  const process = startProcess(t, ['serve'], { PORT: '0', ...env })
  const [, port] = await process.until(/"port":(\d+),.*"msg":"listening"/)
  return {
    ...process,
    url: `http://127.0.0.1:${port}`,
    stop: (signal = 'SIGTERM') => {
      process.child.kill(signal)
      return process.ended
    }
  }
}

/** The id and secret of the first client, which the service prints when it registers it. */
export const firstClient = async ({ until }: Process): Promise<{ readonly id: string; readonly secret: string }> => {
  const [, id = '', secret = ''] = await until(/client_id +(\S+)\n +client_secret +(\S+)\n/)
  return { id, secret }
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The time from the request to the end of the answer, by {@link startStopwatch}. */
  readonly seconds: number
}

export interface Question {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A text is sent unchanged, URLSearchParams as a form, and any other value as JSON. */
  readonly body?: unknown
  /** Keeps the connection open for other requests. Without an agent the request has a connection of its own. */
  readonly agent?: Agent
  /** Called when the whole request has been handed to the operating system. */
  readonly sent?: () => void
}

/** Sends a request over a real socket. Rejects when no complete answer comes. */
export const ask = (url: string, { method, headers, body, agent, sent }: Question = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const counted = startStopwatch()
    const [type, text] = encoded(body)
    const outgoing = request(url, {
      agent: agent ?? false,
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...(text !== undefined && { 'content-type': type, 'content-length': Buffer.byteLength(text) }),
        ...headers
      }
    })
    outgoing.on('error', reject)
    if (sent) outgoing.on('finish', sent)
    outgoing.on('response', response => {
      let received = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        received += chunk
      })
      response.on('error', reject)
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response
        resolve({ status, headers, body: received, seconds: counted() })
      })
    })
    outgoing.end(text)
  })

const encoded = (body: unknown): readonly [type: string, text: string | undefined] => {
  if (body === undefined) return ['', undefined]
  if (body instanceof URLSearchParams) return ['application/x-www-form-urlencoded', body.toString()]
  return ['application/json', typeof body === 'string' ? body : JSON.stringify(body)]
}

/** An agent with one connection, which stays open between requests. */
export const keptConnection = (): Agent => new Agent({ keepAlive: true, maxSockets: 1 })

export const GRACE = { username: 'grace', password: 'a password' }

/** Registers {@link GRACE} and logs her in through the first client: the headers of a request with her access token. */
export const logInAtFirst = async (
  { url, ...service }: RunningService,
  scope?: string
): Promise<Readonly<Record<string, string>>> => {
  const { id, secret } = await firstClient({ ...service })
  await ask(`${url}/register`, { body: GRACE })
  const form = new URLSearchParams({ grant_type: 'password', ...GRACE, ...(scope !== undefined && { scope }) })
  const { body } = await ask(`${url}/auth/token`, { headers: { ...basic(id, secret) }, body: form })
  return { ...bearer(JSON.parse(body).access_token) }
}
