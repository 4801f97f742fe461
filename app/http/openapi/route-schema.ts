import type { FastifySchema, RouteOptions } from 'fastify'
import { DOCUMENTED } from '../documented.js'
import { createAnswerFor, type ErrorForm } from '../errors.js'
import { createErrorPage, hasDeveloperLine } from '../pages/error-page.js'
import { ALWAYS, type HeaderName, named, OF_LOGIN_PAGES, WITH_BODY } from './headers.js'
import type { Answer, Operation } from './operation.js'
import { type RefusalFigures, type RefusalName, refusalsOf } from './refusals.js'
import { ErrorBody, OAuthErrorBody } from './schemas.js'

/** What @fastify/swagger makes an operation of. */
export const routeSchema = (operation: Operation, route: RouteOptions, figures: RefusalFigures): FastifySchema => {
  const { operationId, tag, summary, description, security, path, query, headers, form, bodyExamples } = operation
  const body = form ?? route.schema?.body
  return {
    operationId,
    tags: [tag],
    summary,
    description,
    security,
    ...(path && { params: shown(path) }),
    ...(query && { querystring: shown(query) }),
    ...(headers && { headers: shown(headers) }),
    ...(body !== undefined && {
      consumes: [form === undefined ? 'application/json' : 'application/x-www-form-urlencoded'],
      body: { ...shown(body), 'x-examples': bodyExamples }
    }),
    response: responses(operation, route, figures)
  }
}

/** The schema with what it shows in the document alone, and without what only TypeBox reads. */
const shown = (schema: unknown): object =>
  JSON.parse(
    JSON.stringify(schema, (_key, value: unknown) => {
      const { [DOCUMENTED]: documented, ...validated } = Object(value)
      return documented === undefined ? value : { ...validated, ...documented }
    })
  )

const responses = (
  { answers, refusals: names }: Operation,
  { config, schema }: RouteOptions,
  figures: RefusalFigures
): Record<string, object> => {
  const form = config?.errorForm ?? 'json'
  const whitelists = Object(schema?.response)
  const successes = Object.entries(answers).map(([status, answer]) => [
    status,
    answered({ ...answer, schema: answer.schema ?? whitelists[status] })
  ])
  const refused = names.map(name => refuse(name, form, figures))
  const failures = [...new Set(refused.map(({ status }) => status))].map(status => {
    const all = refused.filter(each => each.status === status)
    return [status, form === 'page' ? refusalPage(status, all) : refusal(status, all, form)]
  })
  return Object.fromEntries([...failures, ...successes])
}

/** The headers of the answers, and those that every answer with a body has. */
const withConstant = (names: readonly HeaderName[]) => listed([...ALWAYS, ...WITH_BODY, ...names])

/** document.ts makes references of these. */
const listed = (names: readonly HeaderName[]) =>
  Object.fromEntries([...new Set(names)].map(name => [name, { header: name }]))

const answered = ({ description, schema, type = 'application/json', headers = [], examples }: Answer): object => {
  if (schema === undefined) return { type: 'null', description, headers: listed([...ALWAYS, ...headers]) }
  return {
    description,
    headers: withConstant(headers),
    content: { [type]: { schema: shown(schema), ...(examples && { examples }) } }
  }
}

interface Refused {
  readonly name: RefusalName
  readonly status: number
  readonly headers: readonly HeaderName[]
  /** The body in JSON. A page says the text of the body of OAuth's form. */
  readonly body: { readonly error: string; readonly error_description?: string }
}

/** What errors.ts answers for a refusal. */
const refuse = (name: RefusalName, form: ErrorForm, figures: RefusalFigures): Refused => {
  const answerFor = createAnswerFor(createErrorPage(''), figures.bodyLimit)
  const error = refusalsOf(figures)[name]
  const { status, headers, body } = answerFor(error, form === 'page' ? 'oauth' : form, { id: '', headers: {} })
  return { name, status, headers: named(Object.keys(headers)), body: JSON.parse(body) }
}

const refusal = (status: number, refused: readonly Refused[], form: ErrorForm): object => ({
  description: MEANINGS[status],
  headers: withConstant(refused.flatMap(({ headers }) => headers)),
  content: {
    'application/json': {
      schema: shown(form === 'json' ? ErrorBody : OAuthErrorBody),
      examples: Object.fromEntries(refused.map(({ name, body }) => [name, { value: body }]))
    }
  }
})

/**
 * The texts of a page, which it has for developers beside those for its reader, stand in the description, because an
 * example of a page would be the page.
 */
const refusalPage = (status: number, refused: readonly Refused[]): object => ({
  description: hasDeveloperLine(status)
    ? [
        `${MEANINGS[status]} For developers the page says one of these:`,
        '',
        ...refused.map(({ body }) => `- ${body.error_description}`)
      ].join('\n')
    : MEANINGS[status],
  headers: withConstant([
    ...OF_LOGIN_PAGES,
    'Content-Language',
    ...refused.flatMap(({ headers }) => headers.filter(name => name === 'Retry-After'))
  ]),
  content: { 'text/html': { schema: { type: 'string' } } }
})

const MEANINGS: Readonly<Record<number, string>> = {
  400: 'Something in the request is wrong.',
  401: 'The request lacks what authenticates it.',
  403: 'The request is refused.',
  404: 'What the path names is not here.',
  408: 'The request took too long to arrive. The connection ends.',
  409: 'The name is taken.',
  413: 'The body is too large.',
  415: 'The body is of a kind that is not read here.',
  429: 'There were too many attempts. `Retry-After` says when the next one is served.',
  500: 'The service failed. Its log says why.',
  503: 'The service cannot answer right now. `Retry-After` says when to try again.'
}
