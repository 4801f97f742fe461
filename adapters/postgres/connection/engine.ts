import { messages, PGlite } from '@electric-sql/pglite'

/**
 * Starts PostgreSQL in the folder, which it makes if there is none. Rejects with a plain Error that says in one line what
 * PostgreSQL itself said about it: the engine only says that it has aborted.
 */
export const startEngine = async (dataDir: string): Promise<Engine> => {
  const said: string[] = []
  const engine = new Engine(dataDir, { onStderr: line => said.push(line) > 0, startParams: START_PARAMETERS })
  try {
    await engine.waitReady
    engine.endAtCrash()
    return engine
  } catch (error) {
    throw new Error(lastWords(said) ?? reasonOf(engine, error))
  }
}

/** Without the timer of a recovery: after one that fails it would go on for good, and keep the process and the engine alive. */
const START_PARAMETERS = [...PGlite.defaultStartParams, '-c', 'log_startup_progress_interval=0']

/** PostgreSQL's last complaint with its details; without the time and its own advice, which is for another installation. */
const lastWords = (said: readonly string[]): string | undefined => {
  const last = said.findLastIndex(line => COMPLAINT.test(line))
  if (last === -1) return undefined
  const details = said.slice(last).filter((line, index) => index === 0 || /\bDETAIL: /.test(line))
  return details.map(line => line.replace(COMPLAINT, '').replace(/^.*?\bDETAIL: +/, '')).join(' ')
}

const COMPLAINT = /^.*?\b(?:FATAL|PANIC): +|^postgres: /

/** The engine's file system rejects with objects that are no Errors, of which the C library knows the number. */
const reasonOf = (engine: Engine, error: unknown): string => {
  if (error instanceof Error) return error.message
  const library = Object(engine.Module)
  return library.UTF8ToString(library._strerror(Object(error).errno))
}

/** PGlite, whose texts come out as they were stored: by itself it drops a U+FEFF that one begins with. */
export class Engine extends PGlite {
  #crashed = false

  /** PostgreSQL has ended itself, as when it cannot write its log: every statement is rejected, and only another engine goes on. */
  get crashed(): boolean {
    return this.#crashed
  }

  /** PGlite takes a crash for a statement's error, and asks what has crashed for the next one for ever: nothing else in the process runs. */
  endAtCrash(): void {
    const { Module: engine } = this
    const run = engine._PostgresMainLoopOnce
    engine._PostgresMainLoopOnce = () => {
      try {
        run()
      } catch (error) {
        // WebAssembly's own kind. A statement's error comes as an exit status.
        if (Object(error).name === 'RuntimeError') {
          this.#crashed = true
          const end = (): never => {
            throw error
          }
          Object.assign(engine, { stackRestore: end, _PostgresSendReadyForQueryIfNecessary: end, _pgl_pq_flush: end })
        }
        throw error
      }
    }
  }

  /** Every statement's answer comes through here. */
  override async execProtocolStream(
    ...[message, options]: Parameters<PGlite['execProtocolStream']>
  ): ReturnType<PGlite['execProtocolStream']> {
    const answer = await this.execProtocol(message, options)
    const rows = answer.messages.filter(message => message instanceof messages.DataRowMessage)
    if (rows.length > 0) restoreByteOrderMarks(rows, answer.data)
    return answer.messages
  }
}

const BYTE_ORDER_MARK = '\ufeff'
const DATA_ROW = 'D'.charCodeAt(0)
/** A message of PostgreSQL's protocol: its type in a byte, its length without that byte in four, then what it holds. */
const HEADER = 5

/** PGlite's decoder takes a field's leading U+FEFF for a byte order mark. `data` is what the rows were read from. */
const restoreByteOrderMarks = (rows: readonly messages.DataRowMessage[], data: Uint8Array): void => {
  // Nearly every answer holds none.
  if (!Buffer.from(data.buffer, data.byteOffset, data.byteLength).includes(BYTE_ORDER_MARK)) return
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  let offset = 0
  for (const { fields } of rows) {
    while (view.getUint8(offset) !== DATA_ROW) offset += 1 + view.getInt32(offset + 1)
    let field = offset + HEADER + 2
    for (const [index, text] of fields.entries()) {
      const length = view.getInt32(field)
      field += 4
      if (text === null) continue
      const marked = length >= 3 && view.getUint16(field) === 0xefbb && view.getUint8(field + 2) === 0xbf
      if (marked) fields[index] = BYTE_ORDER_MARK + text
      field += length
    }
    offset = field
  }
}
