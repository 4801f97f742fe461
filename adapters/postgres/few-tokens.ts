/**
 * How many tokens one transaction removes. PostgreSQL takes some 10 ms for them. Where it must read each of them from a
 * slow disk, it still does so within the time limit of a statement.
 */
export const MOST_TOKENS = 1000

/**
 * The statement that runs `pick`, which selects and locks grants by `id`, and counts their tokens, one grant after the
 * other, until there are more than {@link MOST_TOKENS}. {@link readPicked} reads its rows. `offset 0` keeps PostgreSQL
 * from joining all tokens there are.
 */
export const countingTokens = (pick: string): string => `
with picked as (
  ${pick}
), placed as (
  select id, row_number() over () as place from picked
)
select id, count(*) from (
  select id, place
  from placed left join lateral (select from token where grant_id = placed.id offset 0) as tokens on true
  limit ${MOST_TOKENS + 1}
) as counted
group by id, place
order by place`

/** The grants that were picked. */
export interface Picked {
  /** Those that one transaction can remove. */
  readonly few: readonly string[]
  /** The first of the others, if there are others. Where `few` is empty, it alone has more tokens than the limit. */
  readonly next: string | undefined
}

export const readPicked = (rows: readonly unknown[][]): Picked => {
  const ids = rows.map(([id]) => String(id))
  const tokens = rows.reduce((sum, [, count]) => sum + Number(count), 0)
  return tokens > MOST_TOKENS ? { few: ids.slice(0, -1), next: ids.at(-1) } : { few: ids, next: undefined }
}
