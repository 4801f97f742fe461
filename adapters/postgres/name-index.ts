import type { Driver, Run } from './connection/driver.js'
import { hadNoEffect, StatementError } from './connection/errors.js'
import { ADVISORY_LOCKS } from './long-writes.js'

/**
 * The index by which heroes are found by a part of their name: GIN over the trigrams of `name_lower`. It needs PostgreSQL's
 * extension `pg_trgm`, so it is no part of the migrations.
 */
const NAME_INDEX = 'hero_name_trigrams'

/**
 * Whether the index serves the search for this part of a name: it has three letters or digits in a row. pg_trgm keeps nothing
 * of other characters, and of other parts it would read every name.
 */
export const usesIndex = (part: string): boolean => /[\p{L}\p{N}]{3}/u.test(part)

/** In this many heroes the index is made in a tenth of a second, in which nobody can store one. */
const FEW_HEROES = 10_000

const INDEX_STATE = `
  select
    (select indisvalid from pg_index where indexrelid = to_regclass('${NAME_INDEX}')),
    exists (select from pg_available_extensions where name = 'pg_trgm'),
    (select quote_ident(nspname) from pg_extension join pg_namespace n on n.oid = extnamespace where extname = 'pg_trgm')`

/** That there is no index of names. */
export interface NameIndexLack {
  /** Why. */
  readonly reason: string
  /** What an operator does to have one. It holds nobody up. */
  readonly remedy: string
}

/** `migrate` makes the index at once. */
const EASILY_MADE: NameIndexLack = {
  reason: 'there is no index for parts of names',
  remedy: 'run `npx heroes migrate`'
}

/** `schema` has the extension; null where nothing has it yet. */
const makeByHand = (schema: unknown): string => {
  const extension = schema === null ? '`create extension if not exists pg_trgm`, then ' : ''
  const operators = schema === null ? '' : `${schema}.`
  return `run ${extension}\`create index concurrently ${NAME_INDEX} on hero using gin (name_lower ${operators}gin_trgm_ops)\`, as the owner of the table and without a statement_timeout`
}

/** Looks for the index and changes nothing. Undefined where there is one. */
export const findNameIndex = async (run: Run): Promise<NameIndexLack | undefined> => {
  const [[valid, available, schema] = []] = await run(INDEX_STATE, [])
  if (valid === true) return undefined
  if (valid === false) {
    return {
      reason: `the index ${NAME_INDEX} is being made, or was left half made`,
      remedy: `unless it is being made, run \`drop index concurrently ${NAME_INDEX}\`, and \`npx heroes migrate\``
    }
  }
  if (available !== true) {
    return {
      reason: 'the server does not have the extension pg_trgm',
      remedy: "install it there: it is one of PostgreSQL's own, in a package such as postgresql-contrib"
    }
  }
  const [[count] = []] = await run(`select count(*) from (select from hero limit ${FEW_HEROES + 1}) as hero`, [])
  if (Number(count) <= FEW_HEROES) return EASILY_MADE
  return {
    reason: `more than ${FEW_HEROES} heroes are there, and \`npx heroes migrate\` would hold up whoever stores one`,
    remedy: makeByHand(schema)
  }
}

/** Why there is no index, as far as an error of {@link findNameIndex} tells. Throws that of a lost connection, which tells nothing. */
export const lackAfter = (error: unknown): NameIndexLack => {
  if (!hadNoEffect(error)) throw error
  const { message, cause } = Object(error)
  return { reason: String(cause instanceof StatementError ? cause.message : message), remedy: makeByHand(null) }
}

/**
 * Makes the index, and the extension that it needs, unless there are so many heroes that it would take long. Resolves with
 * what {@link findNameIndex} finds afterwards, or with why the index could not be made. Rejects when the connection is lost.
 */
export const makeNameIndex = async ({ query, transaction }: Driver): Promise<NameIndexLack | undefined> => {
  const lack = await findNameIndex(query).catch(lackAfter)
  return lack === EASILY_MADE ? transaction({ name: 'name index' }, make).catch(lackAfter) : lack
}

const make = async (run: Run): Promise<NameIndexLack | undefined> => {
  await run('select pg_advisory_xact_lock($1)', [ADVISORY_LOCKS.nameIndex])
  // Another instance may have made it meanwhile.
  const lack = await findNameIndex(run)
  if (lack !== EASILY_MADE) return lack
  await run('create extension if not exists pg_trgm', [])
  const [[, , schema] = []] = await run(INDEX_STATE, [])
  await run(`create index ${NAME_INDEX} on hero using gin (name_lower ${schema}.gin_trgm_ops)`, [])
  return undefined
}
