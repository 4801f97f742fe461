/** A line of a file, or why it cannot be read. */
export type Line =
  | { readonly number: number; readonly text: string }
  | { readonly number: number; readonly fault: string }

/** In bytes. A line of a hero or a user has a few thousand at most. */
const LONGEST = 65_536
const LINE_FEED = 10
const BYTE_ORDER_MARK = '\ufeff'

/**
 * The lines of UTF-8, without their line feeds and without a byte order mark at the beginning. However long a line is,
 * no more than 64 kB of it are kept.
 */
export async function* readLines(input: AsyncIterable<Buffer | string>): AsyncGenerator<Line> {
  let number = 0
  let length = 0
  let parts: Buffer[] = []

  const keep = (part: Buffer): void => {
    length += part.length
    if (length <= LONGEST) parts.push(part)
    else parts = []
  }

  const take = (): Line => {
    number += 1
    const bytes = length <= LONGEST ? Buffer.concat(parts) : undefined
    length = 0
    parts = []
    if (bytes === undefined) return { number, fault: `it is longer than ${LONGEST} bytes` }
    const text = decode(bytes)
    if (text === undefined) return { number, fault: 'it is not UTF-8' }
    return { number, text: number === 1 && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text }
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

const decode = (bytes: Buffer): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
