/** A select that finds one row or none by the key $1. The first of its columns is never null. */
export interface Find {
  /** No other's. */
  readonly name: string
  readonly text: string
  /** The key's. */
  readonly type: 'bigint' | 'bytea' | 'text' | 'uuid'
  /** The number of columns. */
  readonly width: number
}

/** How a statement takes its keys, of each kind a list. */
export interface Form {
  readonly name: string
  /** The table `asked`, with the position of each key and what `keyOf` names. */
  from(lists: readonly string[]): string
  keyOf(list: string, index: number): string
}

/** `unnest` fills the shorter lists up with nulls, which find nothing. */
export const MANY: Form = {
  name: 'many ',
  from: lists =>
    `unnest(${lists.join()}) with ordinality as asked (${lists.map((_, index) => `key_${index}`).join()}, position)`,
  keyOf: (_, index) => `asked.key_${index}`
}

/** For a single key of each kind, for which PostgreSQL needs a tenth less time. */
export const ONE: Form = {
  name: 'one ',
  from: () => '(select 1) as asked (position)',
  keyOf: list => `(${list})[1]`
}

/** A row for each position, with what its keys find side by side. */
export const compose = (finds: readonly Find[], form: Form): string => {
  const parts = finds.map(({ type, text }, index) => {
    const list = `$${index + 1}::${type}[]`
    const found = `found_${index}`
    const select = text.replaceAll('$1', form.keyOf(list, index))
    return { list, columns: `${found}.*`, join: `left join lateral (${select}) as ${found} on true` }
  })
  return `select position::int4, ${parts.map(({ columns }) => columns).join()}
from ${form.from(parts.map(({ list }) => list))}
${parts.map(({ join }) => join).join('\n')}`
}
