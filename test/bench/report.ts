import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Fact, median, type Outcome, type Row, type Sample } from './bench.js'
import { drawChart } from './chart.js'
import { drawLines } from './line-chart.js'

export const printOutcome = ({ title, rows, facts }: Outcome): string => {
  const table = rows.length === 0 ? [] : align([HEAD, ...rows.map(cells)])
  const figures = facts.length === 0 ? [] : align([FACT_HEAD, ...facts.map(factCells)])
  return [`\n## ${title}\n`, ...table, ...(table.length > 0 && figures.length > 0 ? [''] : []), ...figures].join('\n')
}

const HEAD = [
  'contestant',
  'setting',
  '/s median',
  'min',
  'max',
  'p50 ms',
  'p99 ms',
  'Node µs',
  'PostgreSQL µs',
  'MB',
  '× baseline'
]

const cells = ({ label, setting, samples, ratio }: Row): string[] => {
  const of = (figure: keyof Sample): number[] => samples.map(sample => sample[figure])
  return [
    label,
    setting,
    rounded(median(of('rate'))),
    rounded(Math.min(...of('rate'))),
    rounded(Math.max(...of('rate'))),
    (median(of('p50')) / 1000).toFixed(2),
    (median(of('p99')) / 1000).toFixed(2),
    median(of('nodeCpu')).toFixed(0),
    median(of('postgresCpu')).toFixed(0),
    rounded(median(of('memory'))),
    ratio?.toFixed(2) ?? ''
  ]
}

const FACT_HEAD = ['figure', 'measured', 'floor', 'goal', '']

const factCells = ({ what, value, unit = '', floor, goal, atMost = false }: Fact): string[] => {
  const bound = (limit: number | undefined): string =>
    limit === undefined ? '' : `${atMost ? '≤ ' : ''}${numeral(limit)}${unit}`
  return [what, `${numeral(value)}${unit}`, bound(floor), bound(goal), verdict(value, floor, goal, atMost)]
}

const verdict = (value: number, floor: number | undefined, goal: number | undefined, atMost: boolean): string => {
  const meets = (limit: number | undefined): boolean =>
    limit === undefined || (atMost ? value <= limit : value >= limit)
  if (floor === undefined && goal === undefined) return ''
  if (!meets(floor)) return 'below the floor'
  return meets(goal) ? 'goal met' : 'floor met'
}

const rounded = (value: number): string => Math.round(value).toLocaleString('en')
const numeral = (value: number): string =>
  Math.abs(value) < 100 ? String(Math.round(value * 100) / 100) : rounded(value)

/** A Markdown table with aligned columns, to be read on a terminal and to be pasted. */
const align = (lines: readonly (readonly string[])[]): string[] => {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map(line => line[column]?.length ?? 0)))
  const draw = (line: readonly string[]): string =>
    `| ${line.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  const [head = [], ...rest] = lines
  return [draw(head), rule, ...rest.map(draw)]
}

/** Writes the figures of a workload as JSON and, where there is something to compare, as charts. Returns the names of the files. */
export const writeOutcome = (folder: string, name: string, outcome: Outcome, conditions: object): string[] => {
  const json = join(folder, `${name}.json`)
  writeFileSync(json, `${JSON.stringify({ ...conditions, ...outcome }, undefined, 2)}\n`)
  if (outcome.rows.length === 0) return [json]
  const svg = join(folder, `${name}.svg`)
  writeFileSync(svg, drawChart(outcome))
  const lines = drawLines(outcome)
  if (lines === undefined) return [json, svg]
  const byConnections = join(folder, `${name}-by-connections.svg`)
  writeFileSync(byConnections, lines)
  return [json, svg, byConnections]
}
