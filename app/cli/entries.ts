import type { Line } from './lines.js'

/** What a file says in one place: a value, or why there is none. `number` is that of its first line. */
export type Entry =
  | { readonly number: number; readonly value: unknown }
  | { readonly number: number; readonly fault: string }

/** The values of JSON lines. Lines of white space alone are left out. */
export async function* readJsonLines(lines: AsyncIterable<Line>): AsyncGenerator<Entry> {
  for await (const line of lines) {
    if ('fault' in line) yield line
    else if (line.text.trim() !== '') yield parseJson(line.number, line.text)
  }
}

const parseJson = (number: number, text: string): Entry => {
  try {
    return { number, value: JSON.parse(text) }
  } catch {
    return { number, fault: 'it is not JSON' }
  }
}

/** A field in quotes may have line breaks. A name has 255 characters at most, so no valid field has as many or is as long. */
const MOST_LINES = 256
const MOST_CHARACTERS = 65_536

/**
 * The rows of CSV (RFC 4180) as objects with the keys of the header. The header must be made of `known` keys and have
 * all that are `required`. Rejects when it is not. Empty lines are left out. A row that is wrong ends with its line, so
 * that a quote that is never closed costs this line alone.
 */
export async function* readCsv(
  lines: AsyncIterable<Line>,
  known: readonly string[],
  required: readonly string[]
): AsyncGenerator<Entry> {
  const rows = readRows(lines)
  const first = await rows.next()
  const header = first.done || 'fault' in first.value ? [] : first.value.fields
  const isSound =
    required.every(key => header.includes(key)) &&
    header.every((key, index) => known.includes(key) && header.indexOf(key) === index)
  if (!isSound) {
    throw new Error(`line 1: the header must name the columns, of which there may be: ${known.join(', ')}`)
  }
  for await (const row of rows) {
    if ('fault' in row) yield row
    else if (row.fields.length === header.length) {
      const { number, fields } = row
      yield { number, value: Object.fromEntries(header.map((key, index) => [key, fields[index]])) }
    } else {
      const { number, fields } = row
      const count = `${fields.length} ${fields.length === 1 ? 'field' : 'fields'}`
      yield { number, fault: `it has ${count}, and the header has ${header.length}` }
    }
  }
}

type Row =
  | { readonly number: number; readonly fields: readonly string[] }
  | { readonly number: number; readonly fault: string }

async function* readRows(lines: AsyncIterable<Line>): AsyncGenerator<Row> {
  const { parse } = await import('csv-parse/sync')
  const parseRow = (text: string): readonly string[] | undefined => {
    try {
      // Quotes that are even in number leave no line break outside of them, so there is one row.
      return parse(text, { record_delimiter: '\n', relax_column_count: true })[0]
    } catch {
      return undefined
    }
  }

  const unread = lines[Symbol.asyncIterator]()
  /** Lines that were read for a row to which they do not belong. */
  let ahead: Line[] = []
  const next = async (): Promise<Line | undefined> => ahead.shift() ?? (await unread.next()).value

  for (let line = await next(); line !== undefined; line = await next()) {
    if ('fault' in line) {
      yield line
      continue
    }
    const { number } = line
    const further: Line[] = []
    let text = line.text
    // While the quotes of a row are odd in number, a field in quotes goes on in the next line.
    let isOpen = hasOddQuotes(text)
    while (isOpen && further.length < MOST_LINES) {
      const more = await next()
      if (more === undefined) break
      further.push(more)
      if ('fault' in more || text.length + more.text.length >= MOST_CHARACTERS) break
      text += `\n${more.text}`
      isOpen = !hasOddQuotes(more.text)
    }
    text = text.replace(/\r$/, '')
    if (text === '') continue
    const fields = isOpen ? undefined : parseRow(text)
    if (fields === undefined) {
      ahead = [...further, ...ahead]
      yield { number, fault: 'it is not CSV: a quote is in the wrong place' }
    } else yield { number, fields }
  }
}

const hasOddQuotes = (text: string): boolean => {
  let odd = false
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) odd = !odd
  return odd
}
