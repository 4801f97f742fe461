import { median, type Outcome, type Row } from './bench.js'

const LABELS = 330
const BARS = 480
const FIGURES = 150
const LINE = 22
const HEADING = 30

/** Draws requests a second as bars, in a group for each setting. The line at the end of a bar goes from the slowest round to the fastest. */
export const drawChart = ({ title, rows }: Outcome): string => {
  const most = Math.max(1, ...rows.flatMap(({ samples }) => samples.map(({ rate }) => rate)))
  const settings = [...new Set(rows.map(({ setting }) => setting))]
  const parts: string[] = []
  let y = HEADING + 10
  for (const setting of settings) {
    parts.push(text(10, y + 15, setting, 'font-weight="bold"'))
    y += LINE
    for (const row of rows.filter(row => row.setting === setting)) {
      parts.push(...drawRow(row, y, most))
      y += LINE
    }
    y += LINE / 2
  }
  return frame(LABELS + BARS + FIGURES, y, `${title}: requests a second, median of the rounds`, parts)
}

/** A drawing with its title above it. */
export const frame = (width: number, height: number, title: string, parts: readonly string[]): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13" fill="#222">`,
    `<title>${title}</title>`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    text(10, 22, title, 'font-size="15" font-weight="bold"'),
    ...parts,
    '</svg>\n'
  ].join('\n')

/** Whether the contestant is this service. */
export const isOurs = (label: string): boolean => label.startsWith('Heroes')

const drawRow = ({ label, samples, ratio }: Row, y: number, most: number): string[] => {
  const rates = samples.map(({ rate }) => rate)
  const middle = median(rates)
  const at = (rate: number): number => Math.round(LABELS + (rate / most) * BARS)
  const figure = `${Math.round(middle).toLocaleString('en')}${ratio === undefined ? '' : ` · ${ratio.toFixed(2)} ×`}`
  return [
    text(LABELS - 8, y + 15, label, 'text-anchor="end"'),
    `<rect x="${LABELS}" y="${y + 3}" width="${at(middle) - LABELS}" height="${LINE - 6}" fill="${isOurs(label) ? '#2b6cb0' : '#a0aec0'}"/>`,
    `<path d="M${at(Math.min(...rates))} ${y + LINE / 2}H${at(Math.max(...rates))}" stroke="#222"/>`,
    text(at(Math.max(...rates)) + 6, y + 15, figure)
  ]
}

export const text = (x: number, y: number, words: string, attributes = ''): string =>
  `<text x="${x}" y="${y}" ${attributes}>${words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`
