// What a run of the tests prints for people.

import type { Readable } from 'node:stream'
import { inspect } from 'node:util'
import { Parser, type Result } from 'tap-parser'

/** How a run of tap ended. */
export interface Ending {
  /** Zero when every test passed and every line was reached. */
  readonly exitCode: number
  /** The end of what the test files and their processes wrote to stderr. */
  readonly complaints: string
}

interface Failure {
  readonly title: string
  readonly diagnosis: Diagnosis
  /** The place of the assertion, or of the nearest test around it that tells its place. */
  at: Place | undefined
}

type Diagnosis = Readonly<Record<string, unknown>>
interface Place {
  readonly fileName: string
  readonly lineNumber: number
  readonly columnNumber: number
}

/** So many failures are described, and the others are counted. */
const MOST = 50
/** So many lines of a difference are shown, and the others are counted. */
const MOST_LINES = 200

/**
 * Turns the TAP of a run into plain text. Each file gets a line when it ends. The failures follow when the run is over,
 * and the totals are the last line. Returns true when everything ran and nothing failed.
 */
export const report = async (
  tap: Readable,
  ending: Promise<Ending>,
  write: (text: string) => void
): Promise<boolean> => {
  const failures: Failure[] = []
  const omitted: string[] = []
  const comments: string[] = []
  const files = { planned: 0, ended: 0, current: '' }
  const passed = { before: 0, count: 0 }
  let failedBefore = 0
  let afterwards = ''

  const parser = new Parser()
  watchPlaces(parser, failures)
  parser.on('plan', ({ end }: { readonly end: number }) => {
    files.planned = end
  })
  parser.on('child', ({ name }: Parser) => {
    files.current = name
  })
  parser.on('pass', () => {
    passed.count += 1
  })
  parser.on('fail', (result: Result) => {
    if (result.fullname === files.current) return
    const diagnosis = diagnosisOf(result)
    failures.push({ title: result.fullname, diagnosis, at: placeOf(diagnosis) })
  })
  parser.on('skip', ({ fullname, skip }: Result) => omitted.push(`skipped: ${fullname} (${skip})\n`))
  parser.on('todo', ({ fullname, todo }: Result) => omitted.push(`to do: ${fullname} (${todo})\n`))
  parser.on('comment', (comment: string) => comments.push(comment))
  parser.on('extra', (text: string) => {
    // What tests print comes before the end of the last file, and the table of coverage after it.
    if (files.ended < files.planned) write(text)
    else afterwards += text
  })
  parser.on('assert', (result: Result) => {
    if (result.name !== files.current) return
    const { signal, exitCode } = diagnosisOf(result)
    if (!result.ok && (failures.length === failedBefore || signal)) {
      const how = signal ? `ended by ${signal}` : `ended with exit code ${exitCode}`
      failures.push({ title: `${result.name} > ${how}`, diagnosis: {}, at: undefined })
    }
    const seconds = ((result.time ?? 0) / 1000).toFixed(1)
    const count = passed.count - passed.before
    write(`${result.ok ? 'ok    ' : 'FAILED'} ${seconds.padStart(6)} s ${String(count).padStart(6)}  ${result.name}\n`)
    files.ended += 1
    passed.before = passed.count
    failedBefore = failures.length
  })
  tap.pipe(parser)
  await new Promise(resolve => parser.on('complete', resolve))
  const { exitCode, complaints } = await ending

  const green = exitCode === 0 && failures.length === 0 && files.ended > 0 && files.ended >= files.planned
  if (failures.some(({ at }) => at === undefined) && complaints) write(`\nThe end of stderr:\n${complaints}`)
  for (const failure of failures.slice(0, MOST)) write(`\n${describe(failure)}`)
  if (failures.length > MOST) write(`\n... and ${failures.length - MOST} more\n`)
  if (!green && failures.length === 0) {
    write(
      afterwards.trim() ? '\nThe tests do not reach every line:\n' : `\nThe run ended with exit code ${exitCode}.\n`
    )
    write(afterwards.trim() ? afterwards : comments.join(''))
  }
  if (omitted.length > 0) write(`\n${omitted.join('')}`)
  const { ended, planned } = files
  const missing = ended < planned ? ` of ${planned}` : ''
  const rest = omitted.length > 0 ? `, ${omitted.length} skipped or to do` : ''
  write(
    `\n${passed.count} passed, ${failures.length} failed${rest} in ${ended}${missing} ${ended === 1 && !missing ? 'file' : 'files'}\n`
  )
  return green
}

/** Finds places for failures without one: a test that ends too early or too late tells no place, but the test around it does. */
const watchPlaces = (parser: Parser, failures: readonly Failure[]): void => {
  parser.on('child', (child: Parser) => watchPlaces(child, failures))
  parser.on('assert', (result: Result) => {
    for (const failure of failures) {
      if (failure.title.startsWith(`${result.fullname} > `)) failure.at ??= placeOf(diagnosisOf(result))
    }
  })
}

const isRecord = (value: unknown): value is Diagnosis => typeof value === 'object' && value !== null

const diagnosisOf = (result: Result): Diagnosis => {
  const diagnosis: unknown = result.diag
  return isRecord(diagnosis) ? diagnosis : {}
}

const placeOf = ({ at }: Diagnosis): Place | undefined =>
  isRecord(at) && typeof at.fileName === 'string'
    ? { fileName: at.fileName, lineNumber: Number(at.lineNumber), columnNumber: Number(at.columnNumber) }
    : undefined

const TOLD_APART = ['at', 'source', 'diff', 'stack', 'test', 'signal', 'tapCaught']

const describe = ({ title, diagnosis, at }: Failure): string => {
  const { source, diff, stack } = diagnosis
  const lines = [`FAILED  ${title}`]
  if (at) lines.push(`at ${at.fileName}:${at.lineNumber}:${at.columnNumber}`)
  if (typeof source === 'string') lines.push(...indented(statementIn(source)))
  if (typeof diff === 'string') lines.push(...indented(diff))
  for (const [key, value] of Object.entries(diagnosis)) {
    if (!TOLD_APART.includes(key)) lines.push(...indented(`${key}: ${typeof value === 'string' ? value : show(value)}`))
  }
  if (typeof stack === 'string') lines.push(...indented(stack))
  return `${lines.join('\n')}\n`
}

const show = (value: unknown): string => inspect(value, { depth: 5, breakLength: 100 })

/** The line of the assertion: the one above the mark that tap sets. */
const statementIn = (source: string): string => {
  const lines = source.split('\n').filter(line => line.trim())
  const mark = lines.findIndex(line => /^-*\^$/.test(line))
  return (lines[mark - 1] ?? '').trim()
}

const indented = (text: string): string[] => {
  const lines = text.trimEnd().split('\n')
  const shown = lines.slice(0, MOST_LINES)
  if (lines.length > shown.length) shown.push(`... and ${lines.length - shown.length} more lines`)
  return shown.map(line => `  ${line}`)
}
