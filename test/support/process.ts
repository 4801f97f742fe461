import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { settingsHelp } from '../../app/settings.js'
import { basic, bearer } from './service.js'
import { startStopwatch } from './stopwatch.js'

/** What `npm run build` made. */
export const PROGRAM = fileURLToPath(new URL('../../dist/app/main.js', import.meta.url))

/** A folder outside of the checkout, which two runs of the suite at once do not share; gone at the end of the test. */
export const temporaryFolder = (t: Pick<Test, 'teardown'>): string => {
  const folder = mkdtempSync(join(tmpdir(), 'heroes-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface Process {
  readonly child: ChildProcess
  /** What it has printed so far, on both streams. */
  output(): string
  /** The match, once the output has one. Rejects when the process ends without. */
  until(pattern: RegExp): Promise<RegExpExecArray>
  /** The exit code, or the signal that ended it, once it has ended and everything it printed is here. */
  readonly ended: Promise<number | NodeJS.Signals>
}

/** The built program as a process of its own, with no settings but these; killed at the end of the test if need be. */
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
      for (;;) {
        const last = over
        const found = pattern.exec(output)
        if (found) return found
        if (last) throw new Error(`the process has ended: ${output}`)
        await sleep(5)
      }
    },
    ended
  }
}

/** This process's environment without what would be settings. */
const surroundings = (): NodeJS.ProcessEnv => {
  const settings = new Set([...settingsHelp().matchAll(/^ {2}([A-Z_]+) /gm)].map(([, name]) => name))
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !settings.has(name)))
}

export interface RunningService extends Process {
  readonly url: string
  /** Asks it to end; what {@link Process.ended} says. */
  stop(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals>
}

/** `heroes serve` on a free port, once it listens. */
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

/** The id and secret of the client that a service without one registers and prints. */
export const firstClient = async ({ until }: Process): Promise<{ readonly id: string; readonly secret: string }> => {
  const [, id = '', secret = ''] = await until(/client_id +(\S+)\n +client_secret +(\S+)\n/)
  return { id, secret }
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** How long it took, by {@link startStopwatch}. */
  readonly seconds: number
}

export interface Question {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A text as it stands, a form, or anything else as JSON. */
  readonly body?: unknown
  /** A connection that is kept, or a new one. */
  readonly agent?: Agent
  /** Called when the whole request has been handed to the system. */
  readonly sent?: () => void
}

/** One request over a real socket. Rejects when there is no complete answer. */
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

/** An agent of one connection that outlives its requests. */
export const keptConnection = (): Agent => new Agent({ keepAlive: true, maxSockets: 1 })

export const GRACE = { username: 'grace', password: 'a password' }

/** Registers {@link GRACE} and logs in through the first client: the headers of a request with the token. */
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
