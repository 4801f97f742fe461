import { createInterface } from 'node:readline/promises'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { printable } from './printable.js'

/** The streams of the process, handed in so that a test can use its own. */
export interface Terminal {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly errored: Error | null }
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean }
}

/** The command line or what was entered is wrong. The exit code is 2, as it is for errors that commander finds. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The exit code of a command that Ctrl-C has ended, as a shell has it for SIGINT. */
export const INTERRUPTED = 130

/** Somebody has pressed Ctrl-C at a question. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
}

/**
 * Reads a secret line. On a terminal it is typed twice without echo; otherwise it is the first line of stdin, and what
 * comes behind it is not read, and an empty stdin is an empty text. Throws {@link UsageError} when the two entries at a
 * terminal differ or one is missing, or when the first line of stdin is not UTF-8 or longer than 64 kB, and
 * {@link InterruptedError}.
 */
export const readHidden = async ({ stdin, stderr }: Terminal, label: string): Promise<string> => {
  if (stdin.isTTY !== true) return firstLine(stdin)
  // readline echoes what is typed to its output, which goes nowhere. The prompts go to stderr: stdout has the result.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 })
  let isInterrupted = false
  // With the terminal in raw mode Ctrl-C is a character, and no signal.
  lines.on('SIGINT', () => {
    isInterrupted = true
    lines.close()
  })
  // The iterator keeps a line that arrives before its prompt, so a person may paste both entries at once.
  const entered = lines[Symbol.asyncIterator]()
  const ask = async (prompt: string): Promise<string> => {
    stderr.write(prompt)
    const line = await entered.next()
    stderr.write('\n')
    if (isInterrupted) throw new InterruptedError()
    if (line.done) throw new UsageError('nothing was entered')
    return line.value
  }
  try {
    const first = await ask(`${label}: `)
    if ((await ask(`${label} again: `)) !== first) throw new UsageError('the two entries differ')
    return first
  } finally {
    lines.close()
  }
}

/**
 * Asks on a terminal whether to go on, and resolves when the answer is `y` or `yes`. Rejects with the message `refusal`
 * otherwise. Without a terminal there is nobody to ask, and it resolves at once.
 */
export const confirm = async ({ stdin, stderr }: Terminal, question: string, refusal: string): Promise<void> => {
  if (stdin.isTTY !== true) return
  stderr.write(`${printable(question)} [y/N] `)
  // The terminal itself echoes the answer and lets it be corrected, so readline need not.
  const lines = createInterface({ input: stdin, terminal: false })
  const answer = await lines[Symbol.asyncIterator]().next()
  lines.close()
  if (answer.done) stderr.write('\n')
  if (!/^\s*y(?:es)?\s*$/i.test(String(answer.value))) throw new Error(printable(refusal))
}

/** Writes the texts as fast as the stream takes them. Rejects when its reader leaves, and when its disk is full. */
export const writeAll = async (
  stdout: Terminal['stdout'],
  texts: Iterable<string> | AsyncIterable<string>
): Promise<void> => {
  try {
    // Node 26 refuses a failed stream, and does not say why it failed.
    if (stdout.errored !== null) throw stdout.errored
    await pipeline(Readable.from(texts), stdout, { end: false })
  } catch (error) {
    throw Object(error).code === 'EPIPE' ? new Error('the reader of the output has left') : error
  }
}

/** In bytes. A password or a secret has 1024 characters at most. */
const LONGEST = 65_536

/** Reads no further than the chunk in which the line ends, and leaves stdin destroyed: its writer may never end. */
const firstLine = async (stdin: NodeJS.ReadableStream): Promise<string> => {
  // A character for each byte: a chunk may end within one of UTF-8.
  let bytes = ''
  for await (const chunk of stdin) {
    bytes += Buffer.from(chunk).toString('latin1')
    if (/[\r\n]/.test(bytes) || bytes.length > LONGEST) break
  }
  const [line = ''] = bytes.split(/[\r\n]/, 1)
  if (line.length > LONGEST) throw new UsageError(`the first line of stdin is longer than ${LONGEST} bytes`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(line, 'latin1'))
  } catch {
    throw new UsageError('the first line of stdin is not UTF-8')
  }
}

/** Writes lines and, on a terminal, a status below them that changes in its place. */
export interface StatusLine {
  write(text: string): void
  /** Shows the status in place of the last one, ten times a second at most. Does nothing where there is no terminal. */
  show(status: () => string): void
  /** Removes the status. */
  clear(): void
}

const PAUSE_MILLISECONDS = 100
/** ECMA-48: to the beginning of the line, and erase it. */
const ERASE = '\r\u001b[K'

export const createStatusLine = (output: NodeJS.WritableStream & { readonly isTTY?: boolean }): StatusLine => {
  let isShown = false
  let shownAt = Number.NEGATIVE_INFINITY
  const clear = (): void => {
    if (isShown) output.write(ERASE)
    isShown = false
  }
  return {
    write(text) {
      clear()
      output.write(text)
    },
    show(status) {
      const now = performance.now()
      if (output.isTTY !== true || now - shownAt < PAUSE_MILLISECONDS) return
      shownAt = now
      isShown = true
      output.write(ERASE + status())
    },
    clear
  }
}
