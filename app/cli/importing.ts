import { createReadStream } from 'node:fs'
import type { ImportOutcome } from '../../core/index.js'
import type { Administration } from '../control/protocol.js'
import { count } from '../doctor/advice.js'
import type { CommandContext, JsonOption } from './command.js'
import { type Entry, readCsv, readJsonLines, readLines } from './entries.js'

/** What a file may bring. */
export interface Importable<Item, Key extends string> {
  /** One and many, as in `1 hero` and `2 heroes`. */
  readonly nouns: readonly [one: string, many: string]
  /** The keys of a record, whose values are texts. It may also have an `id`, which is ignored. */
  readonly keys: readonly Key[]
  readonly hasCsv: boolean
  /** How many records are stored together, all or none. */
  readonly batch: number
  toItem(line: Readonly<Record<Key, string>>): Item
  store(useCases: Administration, items: readonly Item[]): Promise<readonly ImportOutcome[]>
}

/**
 * Stores the records of a file, `-` for stdin, batch by batch, and prints how many there were. Tells of each wrong line
 * with its number and goes on. Rejects at the end when there was one.
 */
export const runImport = async <Item, Key extends string>(
  { terminal, status, withUseCases, print, refuse }: CommandContext,
  { nouns: [one, many], keys, hasCsv, batch: size, toItem, store }: Importable<Item, Key>,
  file: string,
  options: JsonOption
): Promise<void> => {
  const counts = { imported: 0, present: 0, refused: 0 }

  const flush = async (useCases: Administration, batch: readonly Entry<Item>[]): Promise<void> => {
    const sound = batch.filter(entry => 'value' in entry)
    const wrong = batch.filter(entry => 'fault' in entry)
    const outcomes = await store(
      useCases,
      sound.map(({ value }) => value)
    )
    for (const [index, { number }] of sound.entries()) {
      const outcome = outcomes[index]
      if (typeof outcome === 'object') wrong.push({ number, fault: outcome.refused })
      else counts[outcome === 'imported' ? 'imported' : 'present'] += 1
    }
    counts.refused += wrong.length
    for (const { number, fault } of wrong.toSorted((a, b) => a.number - b.number)) refuse(`line ${number}: ${fault}`)
    status.show(() => `${counts.imported + counts.present} ${many}, ${counts.refused} refused`)
  }

  await withUseCases(async useCases => {
    let batch: Entry<Item>[] = []
    const lines = readLines(readChunks(file, terminal.stdin))
    const entries = hasCsv && /\.csv$/i.test(file) ? readCsv(lines, keys) : readJsonLines(lines)
    for await (const entry of entries) {
      batch.push(toRecord(entry, keys, toItem))
      if (batch.length < size) continue
      await flush(useCases, batch)
      batch = []
    }
    await flush(useCases, batch)
  }).finally(status.clear)
  await print(options, [
    counts,
    [`${count(counts.imported, one, many)} imported, ${counts.present} there already, ${counts.refused} refused`]
  ])
  if (counts.refused > 0) throw new Error(`${count(counts.refused, 'line was', 'lines were')} refused`)
}

/** What the file holds. Rejects when it cannot be read. */
async function* readChunks(file: string, stdin: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer | string> {
  try {
    yield* file === '-' ? stdin : createReadStream(file)
  } catch (error) {
    throw new Error(`${file} cannot be read: ${Object(error).message}`)
  }
}

const toRecord = <Item, Key extends string>(
  entry: Entry<unknown>,
  keys: readonly Key[],
  toItem: Importable<Item, Key>['toItem']
): Entry<Item> => {
  if ('fault' in entry) return entry
  const { number, value } = entry
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { number, fault: `it must be an object with ${keys.join(', ')}` }
  }
  const { id: _ignored, ...fields } = Object(value)
  const wrong = keys.find(key => typeof fields[key] !== 'string')
  if (wrong !== undefined) return { number, fault: `${wrong} must be a text` }
  if (Object.keys(fields).length > keys.length) return { number, fault: `it has a key other than ${keys.join(', ')}` }
  return { number, value: toItem(fields) }
}
