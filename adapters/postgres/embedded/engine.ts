import { setFlagsFromString } from 'node:v8'
import { messages, PGlite } from '@electric-sql/pglite'

// How much of a function runs before V8 optimizes it, in bytes of WebAssembly. The default is 1.8 million in Node 20
// and 13 million in later versions of V8. With 1.8 million the start, in which much runs a few times, takes a seventh
// longer.
setFlagsFromString('--wasm-tiering-budget=30000000')

/**
 * Starts PostgreSQL in the folder, which is made if it does not exist: with a new database, or with that of a `backup`, a
 * tar of `dumpDataDir`. Rejects with an Error whose message is PostgreSQL's own complaint, in one line: the error of the
 * engine says only that it has aborted.
 */
export const startEngine = async (dataDir: string, backup?: Blob): Promise<Engine> => {
  const printed: string[] = []
  const engine = new Engine(dataDir, {
    onStderr: line => printed.push(line) > 0,
    startParams: START_PARAMETERS,
    ...(backup && { loadDataDir: backup })
  })
  try {
    await engine.waitReady
    engine.endAtCrash()
    return engine
  } catch (error) {
    throw new Error(lastComplaint(printed) ?? reasonOf(engine, error))
  }
}

/**
 * They turn off the timer of a recovery: after a recovery that fails it would run for ever and keep the process and the
 * engine alive. PostgreSQL's buffers take half of their usual size, because all of it counts as the process's memory from
 * the start.
 */
const START_PARAMETERS = [
  ...PGlite.defaultStartParams,
  ...['-c', 'log_startup_progress_interval=0'],
  ...['-c', 'shared_buffers=64MB']
]

/** PostgreSQL's last complaint with its details, without the time and the hints, which are for other installations. */
const lastComplaint = (printed: readonly string[]): string | undefined => {
  const last = printed.findLastIndex(line => COMPLAINT.test(line))
  if (last === -1) return undefined
  const details = printed.slice(last).filter((line, index) => index === 0 || /\bDETAIL: /.test(line))
  return details.map(line => line.replace(COMPLAINT, '').replace(/^.*?\bDETAIL: +/, '')).join(' ')
}

const COMPLAINT = /^.*?\b(?:FATAL|PANIC): +|^postgres: /

/** The engine's file system rejects with objects that are not Errors. The C library has a text for their number. */
const reasonOf = (engine: Engine, error: unknown): string => {
  if (error instanceof Error) return error.message
  const library = Object(engine.Module)
  return library.UTF8ToString(library._strerror(Object(error).errno))
}

/** PGlite that notices its own crash and returns texts as they were stored: PGlite itself drops a leading U+FEFF. */
export class Engine extends PGlite {
  #crashed = false

  /**
   * True once PostgreSQL has ended itself, for example when it cannot write its log. All statements are rejected from
   * then on: only a new engine can run them.
   */
  get crashed(): boolean {
    return this.#crashed
  }

  /**
   * Makes a crash end the statement. PGlite takes it for the error of a statement and calls the crashed engine again
   * for ever, so that nothing else in the process runs.
   */
  endAtCrash(): void {
    const { Module: engine } = this
    const run = engine._PostgresMainLoopOnce
    engine._PostgresMainLoopOnce = () => {
      try {
        run()
      } catch (error) {
        // A crash is WebAssembly's RuntimeError. The error of a statement comes as an exit status.
        if (Object(error).name === 'RuntimeError') {
          this.#crashed = true
          const fail = (): never => {
            throw error
          }
          Object.assign(engine, {
            stackRestore: fail,
            _PostgresSendReadyForQueryIfNecessary: fail,
            _pgl_pq_flush: fail
          })
        }
        throw error
      }
    }
  }

  /** Arrays are sent and read as PostgreSQL's literals. To read their types first would take a twentieth of the start. */
  override async _initArrayTypes(): Promise<void> {}

  /** The answer to every statement comes through this method. */
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
/** A message of PostgreSQL's protocol begins with its type in one byte and its length, without that byte, in four. */
const HEADER = 5

/** PGlite's decoder takes a leading U+FEFF of a field for a byte order mark and drops it. The rows were read from `data`. */
const restoreByteOrderMarks = (rows: readonly messages.DataRowMessage[], data: Uint8Array): void => {
  // Nearly every answer is without a U+FEFF.
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
