/** A select that finds one row or none by the key $1. The first of its columns is never null. */
export interface Find {
  readonly text: string
  /** The type of the key. */
  readonly type: 'bigint' | 'bytea' | 'text' | 'uuid'
  /** The number of columns. */
  readonly width: number
}

/** How a statement reads its keys. It has one parameter for each select. */
export interface Form {
  /** Whether each row begins with the position of its keys. */
  readonly hasPosition: boolean
  /** The table `requested`: the position of each key, and the columns that `keyExpression` names. */
  from(parameters: readonly Parameter[]): string
  /** What stands in the select in place of $1. */
  keyExpression(parameter: Parameter): string
  /** Whether a select of one column becomes a value in the list after `select`, and is not joined. */
  readonly hasValues: boolean
}

interface Parameter {
  readonly number: number
  readonly type: Find['type']
}

/** For any number of keys. Each parameter is a list. `unnest` fills the shorter lists with nulls, which find nothing. */
export const MANY: Form = {
  hasPosition: true,
  from: parameters => {
    const lists = parameters.map(({ number, type }) => `$${number}::${type}[]`)
    const keys = parameters.map(({ number }) => `key_${number}`)
    return `unnest(${lists.join()}) with ordinality as requested (${keys.join()}, position)`
  },
  keyExpression: ({ number }) => `requested.key_${number}`,
  hasValues: false
}

/**
 * For one key of each select. PostgreSQL needs less time for it than for {@link MANY}: it reads no lists and writes no
 * position, and where each select has one column it joins nothing. The last two take a hundredth of the time of a read each.
 */
export const ONE: Form = {
  hasPosition: false,
  from: () => '(select) as requested',
  keyExpression: ({ number, type }) => `$${number}::${type}`,
  hasValues: true
}

/**
 * The text of a statement for several selects. It returns one row for each position of a key: the position, if the form
 * has it, and then for each select the columns of the row that its key at this position finds, or nulls. Its last
 * parameter is a text of any length, which it does not need.
 */
export const composeStatement = (finds: readonly Find[], form: Form): string => {
  const parts = finds.map(({ type, text, width }, index) => {
    const parameter = { number: index + 1, type }
    const found = `found_${parameter.number}`
    const select = text.replaceAll('$1', form.keyExpression(parameter))
    return form.hasValues && width === 1
      ? { parameter, columns: `(${select})`, join: '' }
      : { parameter, columns: `${found}.*`, join: `left join lateral (${select}) as ${found} on true` }
  })
  return `select ${form.hasPosition ? 'position::int4, ' : ''}${parts.map(({ columns }) => columns).join()}
from ${form.from(parts.map(({ parameter }) => parameter))}
${parts.map(({ join }) => join).join('\n')}
where $${parts.length + 1}::text is not null`
}
