import { printable } from './printable.js'

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
