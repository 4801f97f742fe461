import { type GetColumnData, type SQL, sql } from 'drizzle-orm'
import { type PgColumn, PgDialect } from 'drizzle-orm/pg-core'
import type { Value } from '../connection/driver.js'
import { textOrNullList } from './values.js'

/** What a statement selects: columns of the schema, as {@link typed} makes them, by the names that a {@link Row} has. */
export type Columns = Readonly<Record<string, SQL>>

/** A row by the names of its {@link Columns}. Its values are as the driver read them. */
export type Row = Readonly<Record<string, unknown>>

/**
 * The column as a result, cast to the type that the schema gives it. PostgreSQL ends a prepared statement whose result type
 * changed (0A000): with the cast, a migration that changes a column's type is no event for those who read it.
 */
export const typed = <Column extends PgColumn>(column: Column): SQL<GetColumnData<Column>> => {
  const cast = sql<GetColumnData<Column>>`${column}::${sql.raw(column.getSQLType())}`
  cast.mapWith(column)
  return cast
}

/** The columns as the text of a `select` or a `returning`. */
export const listed = (columns: Columns): string =>
  new PgDialect().sqlToQuery(sql.join(Object.values(columns), sql`, `)).sql

/** Names the values of a row, which come in the order of the columns. */
export const rowsOf = (columns: Columns): ((values: readonly unknown[]) => Row) => {
  const names = Object.keys(columns)
  return values => {
    const row: Record<string, unknown> = {}
    let index = 0
    for (const name of names) row[name] = values[index++]
    return row
  }
}

/** How one statement takes many rows at once: a list of values for each column. */
export interface ManyRows {
  /** The names of the columns in the database. */
  readonly names: string
  /** The rows as a table `asked` with columns of these names. */
  readonly from: string
  /** The values of the statement. The rows have the keys of the columns. */
  lists(rows: readonly Row[]): readonly Value[]
}

export const manyRows = (columns: Readonly<Record<string, PgColumn>>): ManyRows => {
  const all = Object.values(columns)
  const names = all.map(({ name }) => name).join()
  const lists = all.map((column, index) => `$${index + 1}::${column.getSQLType()}[]`).join()
  return {
    names,
    from: `unnest(${lists}) as asked (${names})`,
    lists: rows => Object.keys(columns).map(key => textOrNullList(rows.map(row => row[key])))
  }
}
