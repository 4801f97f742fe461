import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

/** The streams of the process, handed in so that a test can use its own. */
export interface Terminal {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
}

/** The command line or what was entered is wrong. The exit code is 2, as it is for errors that commander finds. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/**
 * Reads a secret line. On a terminal it is typed twice without echo; otherwise it is the first line of stdin.
 * Throws {@link UsageError} when the entries differ, nothing is entered, or stdin is not UTF-8.
 */
export const readHidden = async (terminal: Terminal, label: string): Promise<string> => {
  if (terminal.stdin.isTTY !== true) return firstLine(terminal.stdin)
  const ask = hiddenQuestions(terminal)
  try {
    const first = await ask(`${label}: `)
    if ((await ask(`${label} again: `)) !== first) throw new UsageError('the two entries differ')
    return first
  } finally {
    ask.close()
  }
}

const firstLine = async (stdin: NodeJS.ReadableStream): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  try {
    const [line] = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)).split(/[\r\n]/, 1)
    return String(line)
  } catch {
    throw new UsageError('what came from stdin is not UTF-8')
  }
}

const hiddenQuestions = ({ stdin, stderr }: Terminal): ((prompt: string) => Promise<string>) & { close(): void } => {
  // readline echoes what is typed to its output, which goes nowhere. The prompts go to stderr: stdout has the result.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 })
  // The iterator keeps a line that arrives before its prompt, so a person may paste both entries at once.
  const entered = lines[Symbol.asyncIterator]()
  const ask = async (prompt: string): Promise<string> => {
    stderr.write(prompt)
    const line = await entered.next()
    stderr.write('\n')
    if (line.done) throw new UsageError('nothing was entered')
    return line.value
  }
  return Object.assign(ask, { close: () => lines.close() })
}
