import { median, type Outcome, type Row } from './bench.js'
import { frame, isOurs, text } from './chart.js'

const WIDTH = 960
const HEIGHT = 400
const LEFT = 80
const RIGHT = 300
const TOP = 50
const BOTTOM = 50
const STEPS = 5

interface Line {
  readonly label: string
  /** From the fewest connections to the most. */
  readonly points: readonly { readonly connections: number; readonly rate: number }[]
}

/** One line for each contestant that was timed at two numbers of connections or more. */
const linesOf = (rows: readonly Row[]): readonly Line[] => {
  const timed = rows.filter(({ setting }) => /^\d+$/.test(setting))
  const labels = [...new Set(timed.map(({ label }) => label))]
  return labels
    .map(name => ({
      label: name,
      points: timed
        .filter(({ label }) => label === name)
        .map(({ setting, samples }) => ({
          connections: Number(setting),
          rate: median(samples.map(({ rate }) => rate))
        }))
        .sort((a, b) => a.connections - b.connections)
    }))
    .filter(({ points }) => points.length > 1)
}

/**
 * Draws requests a second against connections, of which each step to the right has twice as many. Undefined when no
 * contestant was timed at more than one number of connections.
 */
export const drawLines = ({ title, rows }: Outcome): string | undefined => {
  const lines = linesOf(rows)
  if (lines.length === 0) return undefined
  const counts = [...new Set(lines.flatMap(({ points }) => points.map(({ connections }) => connections)))].sort(
    (a, b) => a - b
  )
  const most = Math.max(...lines.flatMap(({ points }) => points.map(({ rate }) => rate)))
  const [first = 1, last = 1] = [counts[0], counts.at(-1)]
  const x = (connections: number): number =>
    Math.round(LEFT + (Math.log2(connections / first) / Math.log2(last / first)) * (WIDTH - LEFT - RIGHT))
  const y = (rate: number): number => Math.round(HEIGHT - BOTTOM - (rate / most) * (HEIGHT - TOP - BOTTOM))

  const parts = [text(LEFT, HEIGHT - 10, 'connections')]
  for (const count of counts) parts.push(text(x(count), HEIGHT - BOTTOM + 18, String(count), 'text-anchor="middle"'))
  for (let step = 0; step <= STEPS; step += 1) {
    const rate = (most * step) / STEPS
    parts.push(
      `<path d="M${LEFT} ${y(rate)}H${WIDTH - RIGHT}" stroke="#ddd"/>`,
      text(LEFT - 8, y(rate) + 4, Math.round(rate).toLocaleString('en'), 'text-anchor="end"')
    )
  }
  // The names stand at the ends of their lines, and below each other where two lines end at one place.
  let free = TOP
  for (const { label, points } of lines.toSorted(
    (a, b) => (b.points.at(-1)?.rate ?? 0) - (a.points.at(-1)?.rate ?? 0)
  )) {
    const colour = isOurs(label) ? '#2b6cb0' : '#718096'
    const path = points.map(({ connections, rate }) => `${x(connections)} ${y(rate)}`).join('L')
    const end = points.at(-1)
    free = Math.max(free, y(end?.rate ?? 0))
    parts.push(
      `<path d="M${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...points.map(
        ({ connections, rate }) => `<circle cx="${x(connections)}" cy="${y(rate)}" r="3" fill="${colour}"/>`
      ),
      text(x(end?.connections ?? last) + 8, free + 4, label, `fill="${colour}"`)
    )
    free += 18
  }
  return frame(WIDTH, HEIGHT, `${title}: requests a second by connections`, parts)
}
