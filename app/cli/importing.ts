import { createReadStream } from 'node:fs'
import type { ImportOutcome } from '../../core/index.js'
import type { Administration } from '../control/protocol.js'
import { count } from '../doctor/advice.js'
import type { CommandContext, JsonOption } from './command.js'
import { type Entry, readCsv, readJsonLines, readLines } from './entries.js'

type Texts = Readonly<Record<string, string | undefined>>

/** A kind of record that a file may bring, whose lines are read as `Line`. */
export interface Kind<Item, Line extends Texts> {
  /** One and many, as in `1 hero` and `2 heroes`. */
  readonly nouns: readonly [one: string, many: string]
  /** The keys of a record, whose values are texts. It may also have an `id`, which is ignored. */
  readonly keys: readonly (keyof Line & string)[]
  /** Keys that a record may lack, as lines of an older export do. */
  readonly optional: readonly (keyof Line & string)[]
  readonly hasCsv: boolean
  /** How many records are stored together, all or none. */
  readonly batch: number
  toItem(line: Line): Item
  store(useCases: Administration, items: readonly Item[]): Promise<readonly ImportOutcome[]>
}

/**
 * Stores the records of a file, `-` for stdin, batch by batch, and prints how many there were. Tells of each wrong line
 * with its number and goes on. Rejects at the end when there was one.
 */
export const runImport = async <Item, Line extends Texts>(
  { terminal, status, withUseCases, print, refuse }: CommandContext,
  { nouns: [one, many], batch: size, store, ...kind }: Kind<Item, Line>,
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
    for await (const entry of readEntries(file, readChunks(file, terminal.stdin), kind)) {
      batch.push(toRecord(entry, kind))
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

const readEntries = (
  file: string,
  chunks: AsyncIterable<Buffer | string>,
  { keys, optional, hasCsv }: Pick<Kind<unknown, Texts>, 'keys' | 'optional' | 'hasCsv'>
): AsyncIterable<Entry<unknown>> => {
  const lines = readLines(chunks)
  return hasCsv && /\.csv$/i.test(file) ? readCsv(lines, [...keys, ...optional, 'id'], keys) : readJsonLines(lines)
}

const toRecord = <Item, Line extends Texts>(
  entry: Entry<unknown>,
  { keys, optional, toItem }: Pick<Kind<Item, Line>, 'keys' | 'optional' | 'toItem'>
): Entry<Item> => {
  if ('fault' in entry) return entry
  const { number, value } = entry
  const needed: readonly string[] = keys
  const known = [...needed, ...optional]
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { number, fault: `it must be an object with ${needed.join(', ')}` }
  }
  const fields = new Map<string, unknown>(Object.entries(value))
  const isThere = (key: string): boolean => fields.has(key) || needed.includes(key)
  const wrong = known.find(key => isThere(key) && typeof fields.get(key) !== 'string')
  if (wrong !== undefined) return { number, fault: `${wrong} must be a text` }
  const isKnown = (key: string): boolean => key === 'id' || known.includes(key)
  if (![...fields.keys()].every(isKnown)) return { number, fault: `it has a key other than ${known.join(', ')}` }
  return { number, value: toItem(Object(value)) }
}
