import { pipeline } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import { Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'
import { DomainError, type Hero, type HeroQuery, refusals, type UseCases } from '../../../core/index.js'
import { formPairs, queryString } from '../bodies/forms.js'
import { acceptsGzip, GZIP } from '../compression.js'
import type { Http } from '../http.js'
import { optionalText } from '../openapi/operation.js'
import { queryRefusals, storeRefusals, tooLate } from '../refusals.js'
import { createSemaphore } from '../semaphore.js'
import { type HeroAccess, type HeroOperation, HeroOutput, integer, noInteger, SHOWN_KEYS } from './hero.js'

const MAX_LIMIT = 1000
/** The advice to those whose list is too long. */
const ADVICE = `ask for a part of the list, with a limit of up to ${MAX_LIMIT}`
/** How many long lists are made or sent at a time. 100,000 long names take 100 MB, and each list a connection. */
const LONG_LISTS = 2
const WAITING_LISTS = 8

const limitOutside = (): DomainError => new DomainError('invalid_input', `limit must be from 1 to ${MAX_LIMIT}`)
const tooManyLists = refusals.tryLater('overloaded', `too many long lists are being sent: ${ADVICE}`)
const tooManySearches = refusals.tryLater(
  'overloaded',
  'too many names are being searched one by one: search for three letters or digits in a row'
)

/** Long and many parameters are in order: the length of the head bounds them. */
const { parameterTooLong: _tooLong, tooManyParameters: _tooMany, ...QUERY_REFUSALS } = queryRefusals

const operation: HeroOperation = {
  operationId: 'listHeroes',
  summary: 'List heroes',
  description:
    'Every hero, by ascending id, or those that the query asks for. With `limit`, `Link` leads from page to page: ' +
    'follow it until it is absent. A list of more than 1,000 heroes, and a search for less than three letters or digits in ' +
    'a row, may have to wait for others. Unknown parameters are ignored.',
  query: Type.Object({
    name: optionalText(
      'Only heroes whose name contains this text, whatever the case. `%`, `_` and `\\` are plain characters.',
      'star'
    ),
    limit: Type.Optional(
      Type.Integer({
        description: 'At most so many heroes. While there are more, `Link` names the next page.',
        minimum: 1,
        maximum: MAX_LIMIT,
        examples: [100]
      })
    ),
    after: Type.Optional(
      Type.Integer({ description: 'Only heroes with a greater id. `Link` sets it for the next page.', examples: [100] })
    )
  }),
  answers: {
    200: {
      description: 'The heroes. The list is empty when there are none.',
      schema: Type.Array(HeroOutput),
      headers: ['Link'],
      examples: {
        'Two heroes': [
          { id: 1, name: 'Starling' },
          { id: 2, name: 'Night Starling' }
        ],
        'No hero': []
      }
    }
  },
  refusals: {
    limitNoInteger: () => noInteger('limit'),
    limitOutside,
    afterNoInteger: () => noInteger('after'),
    ...QUERY_REFUSALS,
    ...storeRefusals,
    tooLate: () => tooLate(ADVICE),
    tooManyLists,
    tooManySearches
  }
}

export interface HeroListOptions {
  readonly publicUrl: () => string
  /** Whether a search for this text reads every name in the database. */
  readonly isSlowSearch: (text: string) => boolean
}

export const heroListRoute = (
  http: Http,
  useCases: Pick<UseCases, 'heroPage' | 'allHeroes'>,
  { check, config }: HeroAccess,
  { publicUrl, isSlowSearch }: HeroListOptions
): void => {
  const semaphore = createSemaphore(LONG_LISTS, WAITING_LISTS)

  http.get(
    '/heroes',
    { onRequest: check, config: { ...config(operation), whenLate: ADVICE } },
    async (request, reply) => {
      const { limit, ...query } = heroQuery(request.url)
      const isSlow = query.nameContains !== undefined && isSlowSearch(query.nameContains)
      const list = async (): Promise<string | Buffer> => {
        const { heroes, nextAfter } = await useCases.heroPage({ ...query, limit: limit ?? MAX_LIMIT })
        // What is not an object bypasses Fastify's serializer, which takes three times as long as JSON.stringify.
        reply.type('application/json; charset=utf-8')
        if (nextAfter !== undefined && limit === undefined) {
          const others = useCases.allHeroes({ ...query, after: nextAfter })
          const longList = () => sendLongList(reply, piecesOf(reply, heroes, others))
          return isSlow ? longList() : semaphore(reply, longList, tooManyLists)
        }
        if (nextAfter !== undefined) reply.header('link', nextLink(publicUrl(), { ...query, limit }, nextAfter))
        return `[${jsonItems(heroes)}]`
      }
      return isSlow ? semaphore(reply, list, tooManySearches) : list()
    }
  )
}

const QUERY_KEYS: ReadonlySet<string> = new Set(['name', 'limit', 'after'])

/** Ignores unknown keys. Throws `invalid_input` and `invalid_request`. */
const heroQuery = (url: string): HeroQuery => {
  const known = formPairs(queryString(url), QUERY_KEYS)
  const values = new Map(known)
  if (values.size < known.length) throw queryRefusals.parameterRepeated()
  const integerAt = (key: string): number | undefined => {
    const text = values.get(key)
    return text === undefined ? undefined : integer(text, key)
  }
  const after = integerAt('after')
  const limit = integerAt('limit')
  if (limit !== undefined && (limit < 1 || limit > MAX_LIMIT)) throw limitOutside()
  return { nameContains: values.get('name'), after, limit }
}

/** The `Link` header to the next page (RFC 8288). */
const nextLink = (publicUrl: string, { nameContains, limit }: HeroQuery, nextAfter: number): string => {
  const query = new URLSearchParams({
    ...(nameContains !== undefined && { name: nameContains }),
    limit: String(limit),
    after: String(nextAfter)
  })
  return `<${publicUrl}/heroes?${query}>; rel="next"`
}

/** The heroes as JSON, without the brackets of the list. They show the same keys as a single hero. */
const jsonItems = (heroes: readonly Hero[]): string => JSON.stringify(heroes, [...SHOWN_KEYS]).slice(1, -1)

/** One JSON list of the first heroes and the others. Other requests get a turn of the event loop between two pieces. */
async function* piecesOf(reply: FastifyReply, first: readonly Hero[], others: AsyncIterable<readonly Hero[]>) {
  yield Buffer.from(`[${jsonItems(first)}`)
  for await (const heroes of others) {
    await setImmediate()
    // Nobody waits for this list any more, and until it ends another waits for its permit.
    if (reply.raw.closed) break
    if (heroes.length > 0) yield Buffer.from(`,${jsonItems(heroes)}`)
  }
  yield Buffer.from(']')
}

/** Compresses the list while it is made. */
const sendLongList = async (reply: FastifyReply, pieces: AsyncIterable<Buffer>): Promise<Buffer> => {
  if (!acceptsGzip(reply.request.headers['accept-encoding'])) return collected(pieces)
  const list = await pipeline(pieces, createGzip(GZIP), collected)
  reply.header('content-encoding', 'gzip')
  return list
}

/** As bytes, which are not on the heap that V8 bounds. */
const collected = async (pieces: AsyncIterable<Buffer>): Promise<Buffer> => {
  const bytes: Buffer[] = []
  for await (const piece of pieces) bytes.push(piece)
  return Buffer.concat(bytes)
}
