// Tables in a JSON file, for one process. Its methods run one after the other, so each of them is atomic.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { DomainError } from 'heroes/core'

export interface JsonFile<Tables> {
  /** Runs once all earlier calls are answered. Whatever `work` returns must share nothing with the tables. */
  read<T>(work: (tables: Tables) => T): Promise<T>
  /** As {@link read}. The changes that `work` makes are in the file before this resolves, or nowhere when it rejects. */
  write<T>(work: (tables: Tables) => T): Promise<T>
}

/** Opens the file, which is made when there is none. */
export const openJsonFile = async <Tables>(path: string, empty: Tables): Promise<JsonFile<Tables>> => {
  let saved = await readFile(path, 'utf8').catch((error: unknown) => {
    if (Object(error).code !== 'ENOENT') throw error
    return JSON.stringify(empty)
  })
  let tables: Tables = JSON.parse(saved)
  let last: Promise<unknown> = Promise.resolve()

  const inTurn = <T>(work: () => T | Promise<T>): Promise<T> => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }

  const save = async (): Promise<void> => {
    const text = JSON.stringify(tables)
    if (text === saved) return
    // A process that dies meanwhile leaves either the old file or the new one.
    await writeFile(`${path}.new`, text)
    await rename(`${path}.new`, path)
    saved = text
  }

  return {
    read: work => inTurn(() => work(tables)),
    write: work =>
      inTurn(async () => {
        try {
          const result = work(tables)
          await save()
          return result
        } catch (error) {
          tables = JSON.parse(saved)
          throw new DomainError('unavailable', 'the file cannot be written', { cause: error })
        }
      })
  }
}
