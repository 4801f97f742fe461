import type { Hero, NewHero } from '../../core/model.js'
import { heroes } from './schema.js'
import { type Row, rowReader, typed } from './sql/columns.js'

export const columns = { id: typed(heroes.id), name: typed(heroes.name) }

/**
 * Reads a row of the driver, or one of a page, whose values have come as JSON. What JSON lacks differs between the two: an
 * instant would be a Date in the one and a text in the other.
 */
export const toHero = ({ id, name }: Row): Hero => ({ id: Number(id), name: String(name) })

export const toRow = ({ name }: NewHero) => ({ name, nameLower: name.toLowerCase() })

const readRow = rowReader(columns)

/** Reads the values of {@link columns}. */
export const readHero = (values: readonly unknown[]): Hero => toHero(readRow(values))
