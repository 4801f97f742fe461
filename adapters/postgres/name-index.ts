import type { Driver, Run } from './connection/driver.js'
import { StatementError } from './connection/errors.js'

/**
 * The index by which heroes are found by a part of their name: GIN over the trigrams of `name_lower`. It needs PostgreSQL's
 * extension `pg_trgm`, so it is no part of the migrations. Parts of fewer than three characters have no trigram.
 */
const NAME_INDEX = 'hero_name_trigrams'

/** The key of an advisory lock: an arbitrary number, the same in every instance. */
const LOCK = 4_372_061_960

/** In this many heroes the index is made in a tenth of a second, in which nobody can store one. */
const FEW_HEROES = 10_000

/**
 * In KiB. New names wait in a list until they are put into the index together. Whoever stores the name with which the list
 * exceeds this size puts them all in, which takes a third of a second, so it is done before (see {@link createTidying}).
 */
const PENDING_LIST_LIMIT = 8192

const STATE = `
  select
    (select indisvalid from pg_index where indexrelid = to_regclass('${NAME_INDEX}')),
    exists (select from pg_available_extensions where name = 'pg_trgm'),
    (select quote_ident(nspname) from pg_extension join pg_namespace n on n.oid = extnamespace where extname = 'pg_trgm')`

/** That there is no index of names. */
export interface NameIndexLack {
  /** Why. */
  readonly reason: string
  /** What the owner of the database does to have one. It holds nobody up. */
  readonly remedy: string
}

const REMEDY =
  'run `create extension if not exists pg_trgm`, then ' +
  `\`create index concurrently ${NAME_INDEX} on hero using gin (name_lower gin_trgm_ops) with (gin_pending_list_limit = ${PENDING_LIST_LIMIT})\`, ` +
  'as the owner of the database'

/**
 * Makes the index, and the extension that it needs, unless there are so many heroes that it would take long. Resolves with
 * why there is none; with undefined when there is one, or when another instance makes it. A failure is such a reason too,
 * because the service does without.
 */
export const makeNameIndex = async ({ write, transaction }: Driver): Promise<NameIndexLack | undefined> => {
  try {
    const [[valid] = []] = await write(STATE, [])
    const reason = valid === true ? undefined : await transaction('name index', make)
    return reason === undefined ? undefined : { reason, remedy: REMEDY }
  } catch (error) {
    const { message, cause } = Object(error)
    return { reason: String(cause instanceof StatementError ? cause.message : message), remedy: REMEDY }
  }
}

/** Looks for the index and changes nothing. */
export const findNameIndex = async (run: Run): Promise<NameIndexLack | undefined> => {
  const [[valid] = []] = await run(STATE, [])
  return valid === true ? undefined : { reason: 'there is no index for parts of names', remedy: REMEDY }
}

const make = async (run: Run): Promise<string | undefined> => {
  const [[mayMake] = []] = await run('select pg_try_advisory_xact_lock($1)', [LOCK])
  if (mayMake !== true) return undefined
  const [[valid, available, schema] = []] = await run(STATE, [])
  if (valid === true) return undefined
  if (valid === false) return `the index ${NAME_INDEX} is being made, or was left half made and is to be dropped`
  if (available !== true) return 'the server does not have the extension pg_trgm'
  const [[count] = []] = await run(`select count(*) from (select from hero limit ${FEW_HEROES + 1}) as hero`, [])
  if (Number(count) > FEW_HEROES)
    return `more than ${FEW_HEROES} heroes are there, and to make an index now would hold others up`
  if (schema === null) await run('create extension if not exists pg_trgm', [])
  const [[, , operators] = []] = await run(STATE, [])
  await run(
    `create index ${NAME_INDEX} on hero using gin (name_lower ${operators}.gin_trgm_ops)
     with (gin_pending_list_limit = ${PENDING_LIST_LIMIT})`,
    []
  )
  return undefined
}

/** In milliseconds. Ten thousand names that wait make a search twice as slow. */
const TIDY_AFTER = 250

/** The owner of an index alone may do this. */
const TIDY = `
  select gin_clean_pending_list(oid)
  from pg_class
  where oid = to_regclass('${NAME_INDEX}') and pg_has_role(relowner, 'usage')`

/**
 * Returns what is called after names were stored or searched. A moment later it has the names that wait put into the
 * index, once for all calls until then.
 */
export const createTidying = ({ connections, write }: Pick<Driver, 'connections' | 'write'>): (() => void) => {
  if (connections === undefined) return () => {}
  let underWay = false
  const tidy = async (): Promise<void> => {
    // The next call tries again.
    await write(TIDY, []).catch(() => {})
    underWay = false
  }
  return () => {
    if (underWay) return
    underWay = true
    setTimeout(tidy, TIDY_AFTER).unref()
  }
}
