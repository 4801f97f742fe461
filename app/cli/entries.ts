import { isUtf8 } from 'node:buffer'
import { count } from '../doctor/advice.js'

/** What a file has in one place, or what is wrong there. `number` is that of its first line. */
export type Entry<Value> =
  | { readonly number: number; readonly value: Value }
  | { readonly number: number; readonly fault: string }

/** In bytes. A line of a hero or a user has a few thousand at most. */
const LONGEST = 65_536
const LINE_FEED = 10
const BYTE_ORDER_MARK = '\ufeff'

/**
 * The lines of UTF-8, without their line feeds and without a byte order mark at the beginning. However long a line is,
 * no more than 64 kB of it are kept. Not by node:readline, which keeps lines of any length and replaces bytes that are no
 * UTF-8.
 */
export async function* readLines(input: AsyncIterable<Buffer | string>): AsyncGenerator<Entry<string>> {
  let number = 0
  let length = 0
  let parts: Buffer[] = []

  const keep = (part: Buffer): void => {
    length += part.length
    if (length <= LONGEST) parts.push(part)
    else parts = []
  }

  const take = (): Entry<string> => {
    number += 1
    const bytes = length <= LONGEST ? Buffer.concat(parts) : undefined
    length = 0
    parts = []
    if (bytes === undefined) return { number, fault: `it is longer than ${LONGEST} bytes` }
    if (!isUtf8(bytes)) return { number, fault: 'it is not UTF-8' }
    const text = bytes.toString()
    return { number, value: number === 1 && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text }
  }

  for await (const chunk of input) {
    const bytes = Buffer.from(chunk)
    let start = 0
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      keep(bytes.subarray(start, end))
      yield take()
      start = end + 1
    }
    keep(bytes.subarray(start))
  }
  if (length > 0) yield take()
}

/** Undefined when it throws. */
const attempt = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** The values of JSON lines. Lines of white space alone are left out. */
export async function* readJsonLines(lines: AsyncIterable<Entry<string>>): AsyncGenerator<Entry<unknown>> {
  for await (const line of lines) {
    if ('fault' in line) yield line
    else if (line.value.trim() !== '') {
      const value: unknown = attempt(() => JSON.parse(line.value))
      yield value === undefined ? { number: line.number, fault: 'it is not JSON' } : { number: line.number, value }
    }
  }
}

/** A field in quotes may have line breaks. A name has 255 characters at most, so no valid row has more lines. */
const MOST_LINES = 256

/**
 * The rows of CSV (RFC 4180) as objects with the keys of the header. The header must have all `keys`, and at most an `id`
 * beside them. Rejects when it has not. Empty lines are left out. A row that is wrong ends with its line, so that a quote
 * that is never closed costs this line alone: csv-parse by itself would take the rest of the file for a field.
 */
export async function* readCsv(
  lines: AsyncIterable<Entry<string>>,
  keys: readonly string[]
): AsyncGenerator<Entry<unknown>> {
  const rows = readRows(lines)
  const first = await rows.next()
  const header = first.done || 'fault' in first.value ? [] : first.value.value
  const known = [...keys, 'id']
  const isSound =
    keys.every(key => header.includes(key)) &&
    header.every((key, index) => known.includes(key) && header.indexOf(key) === index)
  if (!isSound) {
    throw new Error(`line 1: the header must name the columns, of which there may be: ${known.join(', ')}`)
  }
  const toEntry = (number: number, fields: readonly string[]): Entry<unknown> => {
    if (fields.length === header.length) {
      return { number, value: Object.fromEntries(header.map((key, index) => [key, fields[index]])) }
    }
    return { number, fault: `it has ${count(fields.length, 'field', 'fields')}, and the header has ${header.length}` }
  }
  for await (const row of rows) yield 'fault' in row ? row : toEntry(row.number, row.value)
}

async function* readRows(lines: AsyncIterable<Entry<string>>): AsyncGenerator<Entry<readonly string[]>> {
  const { parse } = await import('csv-parse/sync')
  const unread = lines[Symbol.asyncIterator]()
  /** Lines that were read for a row to which they do not belong. */
  let ahead: Entry<string>[] = []
  const next = async (): Promise<Entry<string> | undefined> => ahead.shift() ?? (await unread.next()).value

  for (let line = await next(); line !== undefined; line = await next()) {
    if ('fault' in line) {
      yield line
      continue
    }
    const { number } = line
    const further: Entry<string>[] = []
    let text = line.value
    // While the quotes of a row are odd in number, a field in quotes goes on in the next line.
    let isOpen = hasOddQuotes(text)
    while (isOpen && further.length < MOST_LINES) {
      const more = await next()
      if (more === undefined) break
      further.push(more)
      if ('fault' in more || text.length + more.value.length >= LONGEST) break
      text += `\n${more.value}`
      isOpen = !hasOddQuotes(more.value)
    }
    const row = text.replace(/\r$/, '')
    if (row === '') continue
    // Quotes that are even in number leave no line break outside of them, so it is one row.
    const options = { record_delimiter: '\n', relax_column_count: true }
    const fields: readonly string[] | undefined = isOpen ? undefined : attempt(() => parse(row, options)[0])
    if (fields === undefined) ahead = [...further, ...ahead]
    yield fields === undefined
      ? { number, fault: 'it is not CSV: a quote is in the wrong place' }
      : { number, value: fields }
  }
}

const hasOddQuotes = (text: string): boolean => text.split('"').length % 2 === 0
