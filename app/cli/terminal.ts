import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

/** The process as a command sees it, so that a test can hand in its own. */
export interface Terminal {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
}

/** What was typed makes no sense: exit code 2, as commander's own complaints. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A line that nobody should see: typed twice without echo on a terminal, else the first line of stdin. */
export const readHidden = async (terminal: Terminal, what: string): Promise<string> => {
  if (terminal.stdin.isTTY !== true) return firstLine(terminal.stdin)
  const ask = hiddenQuestions(terminal)
  try {
    const first = await ask(`${what}: `)
    if ((await ask(`${what} again: `)) !== first) throw new UsageError('the two entries differ')
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
  // readline echoes what is typed to its output; the prompts go to stderr, so that stdout stays the command's answer.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 })
  // It keeps a line that comes before its question: someone who pastes both at once is understood.
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
