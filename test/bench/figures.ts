/** A figure that a run ends with. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit?: string
}

type Floor = { readonly atLeast: number } | { readonly atMost: number }

/** What the service must reach. Rates and times are medians of turns, each divided by the other contestant's beside it. */
export const FLOORS: Readonly<Record<string, Floor>> = {
  'reads at 64: rate × by hand': { atLeast: 1.7 },
  'reads at 8: rate × by hand': { atLeast: 1.5 },
  'reads at 1: median time ÷ by hand': { atMost: 1.1 },
  'refreshes at 64: rate × by hand': { atLeast: 2.2 },
  'refreshes at 8: rate × by hand': { atLeast: 1 },
  'refreshes at 1: median time ÷ by hand': { atMost: 1 },
  'creates at 64: rate × by hand': { atLeast: 1.5 },
  'creates at 8: rate × by hand': { atLeast: 0.85 },
  'creates at 1: median time ÷ by hand': { atMost: 1.6 },
  'mixed at 64+8+8: rate × before': { atLeast: 0.95 }
}

/** Two runs of one service differ by so much. */
const TOLERANCE = 0.1

export const holds = (value: number, floor: Floor): boolean =>
  'atLeast' in floor ? value >= floor.atLeast * (1 - TOLERANCE) : value <= floor.atMost * (1 + TOLERANCE)

export interface Verdict {
  /** A table of all floors. */
  readonly table: string
  /** False when a floor that was measured does not hold. */
  readonly allHold: boolean
}

export const judge = (figures: readonly Figure[]): Verdict => {
  let allHold = true
  const rows = Object.entries(FLOORS).map(([name, floor]) => {
    const value = figures.find(figure => figure.name === name)?.value
    if (value !== undefined && !holds(value, floor)) allHold = false
    return [
      name,
      value?.toFixed(2) ?? '',
      'atLeast' in floor ? `≥ ${floor.atLeast}` : `≤ ${floor.atMost}`,
      value === undefined ? 'not measured' : holds(value, floor) ? 'yes' : 'NO'
    ]
  })
  return { table: table(['figure', 'measured', 'floor', 'holds'], rows), allHold }
}

/** A table of the figures that have no floor. Empty where there are none. */
export const furtherFigures = (figures: readonly Figure[]): string => {
  const rows = figures
    .filter(({ name }) => FLOORS[name] === undefined)
    .map(({ name, value, unit = '' }) => [name, `${numeral(value)}${unit}`])
  return rows.length === 0 ? '' : table(['figure', 'measured'], rows)
}

export const numeral = (value: number): string =>
  Math.abs(value) < 100 ? value.toFixed(2) : Math.round(value).toLocaleString('en')

/** A Markdown table with aligned columns, to be read on a terminal and to be pasted. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map(row => row[column]?.length ?? 0)))
  const draw = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  return [draw(head), rule, ...rows.map(draw)].join('\n')
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}
