/**
 * What steers a terminal or cannot be seen: control and formatting characters (ESC, C1, line breaks, the direction of
 * text, zero width), separators of lines, lone halves of surrogate pairs, and what fonts draw as nothing.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/**
 * The text with every unsafe character as `\u{…}`, so that a name that a caller chose is seen as it is and does nothing
 * to the terminal. For people alone: a backslash stays as it is, so the escapes of a text and those made here look alike.
 */
export const printable = (text: string): string =>
  text.replaceAll(UNSAFE, character => `\\u{${character.codePointAt(0)?.toString(16)}}`)

/** The value as one line of JSON in which every unsafe character is an escape. It reads as the same value. */
export const toPrintableJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(UNSAFE, character =>
    character.replaceAll(/./gs, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  )

/** The rows below the header, in columns; or the words for a list without rows. */
export const toTable = (
  header: readonly string[],
  rows: readonly (readonly string[])[],
  whenEmpty: string
): readonly string[] => {
  if (rows.length === 0) return [whenEmpty]
  const cells = [header, ...rows].map(row => row.map(printable))
  const widths = header.map((_, column) => cells.reduce((most, row) => Math.max(most, widthOf(String(row[column]))), 0))
  const fill = (cell: string, column: number): string => cell + ' '.repeat(Number(widths[column]) - widthOf(cell))
  return cells.map(row => row.map(fill).join('  ').trimEnd())
}

const widthOf = (cell: string): number => [...cell].length
