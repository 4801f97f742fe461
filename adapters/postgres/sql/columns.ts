import { type GetColumnData, type SQL, sql } from 'drizzle-orm'
import { type PgColumn, PgDialect } from 'drizzle-orm/pg-core'
import type { Value } from '../connection/driver.js'
import { driverValueList } from './values.js'

/** The columns that a statement selects, each made by {@link typed}, by their names in a {@link Row}. */
export type Columns = Readonly<Record<string, SQL>>

/** The values of a row as the driver read them, by the names of its {@link Columns}. */
export type Row = Readonly<Record<string, unknown>>

/**
 * The column as a result, cast to the type that the schema gives it. PostgreSQL refuses a prepared statement whose
 * result type has changed (0A000). With the cast the result type stays the same, so a migration may change the type of
 * a column that is read.
 */
export const typed = <Column extends PgColumn>(column: Column): SQL<GetColumnData<Column>> => {
  const cast = sql<GetColumnData<Column>>`${column}::${sql.raw(column.getSQLType())}`
  cast.mapWith(column)
  return cast
}

/** The columns as the list after `select` or `returning`. */
export const listed = (columns: Columns): string =>
  new PgDialect().sqlToQuery(sql.join(Object.values(columns), sql`, `)).sql

/** Returns a function that makes a {@link Row} of values in the order of the columns, of which the first is at `start`. */
export const rowReader = (columns: Columns): ((values: readonly unknown[], start?: number) => Row) => {
  const names = Object.keys(columns)
  return (values, start = 0) => {
    const row: Record<string, unknown> = {}
    let index = start
    for (const name of names) row[name] = values[index++]
    return row
  }
}

/** How one statement takes many rows: as one list of values for each column. */
export interface ManyRows {
  /** The names of the columns in the database. */
  readonly names: string
  /** The lists as the first parameters of the statement, each cast to its type. */
  readonly parameters: string
  /** The rows as a table `requested` with columns of these names. */
  readonly from: string
  /** The values for the statement. Each row has the keys of the columns. */
  lists(rows: readonly Row[]): readonly Value[]
}

/** For columns of every type but arrays. */
export const manyRows = (columns: Readonly<Record<string, PgColumn>>): ManyRows => {
  const all = Object.values(columns)
  const names = all.map(({ name }) => name).join()
  const parameters = all.map((column, index) => `$${index + 1}::${column.getSQLType()}[]`).join()
  return {
    names,
    parameters,
    from: `unnest(${parameters}) as requested (${names})`,
    lists: rows =>
      Object.entries(columns).map(([key, column]) =>
        driverValueList(rows.map(row => (row[key] == null ? undefined : column.mapToDriverValue(row[key]))))
      )
  }
}
