import { type GetColumnData, getTableName } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Value } from './connection/driver.js'

/** Columns of the schema, by the names that their values have in a {@link Row}. */
export type Columns = Readonly<Record<string, PgColumn>>

type NullToUndefined<T> = null extends T ? Exclude<T, null> | undefined : T

/** The values of some columns in the form that the core gives them. Undefined stands for null. */
export type Row<Selected extends Columns> = {
  readonly [Name in keyof Selected]: NullToUndefined<GetColumnData<Selected[Name]>>
}

/** What a statement returns of each row, and how it is read. */
export interface Selection<Record> {
  /** The list after `select` or `returning`. */
  readonly text: string
  /** The number of columns. */
  readonly width: number
  /** Reads the values of a row, of which the first one of this selection is at `start`. */
  read(values: readonly unknown[], start?: number): Record
}

/**
 * Selects the columns, each cast to the type that the schema gives it: PostgreSQL refuses a prepared statement whose
 * result type has changed (0A000), so a migration may change the type of a column that is read.
 */
export const selection = <Selected extends Columns>(columns: Selected): Selection<Row<Selected>> => {
  const entries = Object.entries(columns)
  return {
    text: entries
      .map(([, column]) => `"${getTableName(column.table)}"."${column.name}"::${column.getSQLType()}`)
      .join(),
    width: entries.length,
    read(values, start = 0) {
      const row: Record<string, unknown> = {}
      let index = start
      for (const [name, column] of entries) {
        const value = values[index++]
        row[name] = value === null ? undefined : column.mapFromDriverValue(value)
      }
      // By the casts above, each value has the type that the schema gives its column.
      return row as Row<Selected>
    }
  }
}

/** The same columns, read as the record that `toRecord` makes of them. */
export const mapped = <Read, Record>(
  selected: Selection<Read>,
  toRecord: (read: Read) => Record
): Selection<Record> => ({ ...selected, read: (values, start) => toRecord(selected.read(values, start)) })

export const readAll = <Record>(selected: Selection<Record>, rows: readonly unknown[][]): readonly Record[] =>
  rows.map(values => selected.read(values))

/** Whether the statement returned a row. */
export const anyRow = async (rows: Promise<readonly unknown[]>): Promise<boolean> => (await rows).length > 0

/** The statement that makes this change and tells, to {@link countOf}, of how many rows. */
export const counting = (change: string): string =>
  `with changed as (${change} returning true) select count(*)::int4 from changed`

export const countOf = async (rows: Promise<readonly unknown[][]>): Promise<number> => Number((await rows)[0]?.[0])

/** Two selections beside each other. */
export const joined = <A, B>(first: Selection<A>, second: Selection<B>): Selection<readonly [A, B]> => ({
  text: `${first.text},${second.text}`,
  width: first.width + second.width,
  read: (values, start = 0) => [first.read(values, start), second.read(values, start + first.width)]
})

/** A row to be written, which may lack what may be null. */
type Written<Read> = { readonly [Name in keyof Read as undefined extends Read[Name] ? never : Name]: Read[Name] } & {
  readonly [Name in keyof Read as undefined extends Read[Name] ? Name : never]?: Read[Name]
}

/** How a statement takes any number of rows: as one list of values for each column. */
interface Requested<Record> {
  /** The names of the columns in their table. */
  readonly names: string
  /** The rows as a table `requested`, which has each value under its name in a {@link Row}, and `position` from 1 on. */
  readonly from: string
  /** The values of {@link names} in `requested`. */
  readonly values: string
  /** The number of the first parameter behind the lists. */
  readonly next: number
  /** The lists, as parameters of the statement. */
  lists(rows: readonly Written<Record>[]): readonly Value[]
}

/** The first list is the parameter of the number `first`. */
export const requested = <Wanted extends Columns>(columns: Wanted, first = 1): Requested<Row<Wanted>> => {
  const entries = Object.entries(columns)
  const isList = (column: PgColumn): boolean => column.getSQLType().endsWith('[]')
  // `unnest` would take a list of lists apart, so lists travel as texts.
  const parameters = entries.map(
    ([, column], index) => `$${first + index}::${isList(column) ? 'text' : column.getSQLType()}[]`
  )
  const names = entries.map(([name]) => `"${name}"`)
  return {
    names: entries.map(([, column]) => column.name).join(),
    from: `unnest(${parameters.join()}) with ordinality as requested (${names.join()}, position)`,
    values: entries.map(([name, column]) => `"${name}"${isList(column) ? `::${column.getSQLType()}` : ''}`).join(),
    next: first + entries.length,
    lists: (rows: readonly Readonly<Record<string, unknown>>[]) =>
      entries.map(([name, column]) =>
        listOf(
          rows.map(row => {
            const value = row[name]
            return value === undefined ? null : column.mapToDriverValue(value)
          })
        )
      )
  }
}

/** The value for a `bytea` column, of base64url from the core. A string would be stored as its own characters. */
export const bytes = (base64url: string): Uint8Array => Buffer.from(base64url, 'base64url')

/**
 * Values of the driver as a list. It is sent as PostgreSQL's own array literal, because postgres.js declares a list of buffers
 * to be a single one.
 */
export const listOf = (values: readonly unknown[]): string => `{${values.map(element).join()}}`

const element = (value: unknown): string => {
  if (value === null) return 'NULL'
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString('hex')}"`
  return `"${String(value).replaceAll(/["\\]/g, '\\$&')}"`
}

/** Reads a `text[]`, of which the drivers give the literal. Others may have stored bounds (`[0:1]={a,b}`), and nulls. */
export const readTexts = (literal: string): string[] => {
  const items = literal.slice(literal.indexOf('{') + 1, -1)
  // The regular expression takes five times as long.
  if (!/"|NULL/.test(items)) return items === '' ? [] : items.split(',')
  return Array.from(items.matchAll(/"((?:[^"\\]|\\.)*)"|[^,]+/gs)).flatMap(([plain, quoted]) => {
    if (quoted !== undefined) return quoted.replace(/\\(.)/gs, '$1')
    return plain === 'NULL' ? [] : plain
  })
}
