import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { FastifySchema, RouteOptions } from 'fastify'
import { refusals } from '../../../core/index.js'
import { createAnswerFor, describeInvalid, type ErrorPage } from '../errors.js'
import { hasDeveloperLine } from '../pages/error-page.js'
import { type ErrorForm, isPage } from '../paths.js'
import { headRefusals, type Refusals } from '../refusals.js'
import { ALWAYS, type HeaderName, named, OF_PERSONAL_PAGES, WITH_BODY } from './headers.js'
import { type Answer, DOCUMENTED, type Examples, type Operation } from './operation.js'

/** The body of an error, by the form of errors: see errors.ts. */
export const ErrorBody = Type.Object(
  { error: Type.String({ description: 'What is wrong and what to send instead, for a person.' }) },
  { title: 'Error' }
)

/** RFC 6749 section 5.2. */
const OAuthErrorBody = Type.Object(
  {
    error: Type.String({
      description: 'The code of RFC 6749, for a program.',
      enum: [
        'invalid_request',
        'invalid_client',
        'invalid_grant',
        'invalid_scope',
        'unauthorized_client',
        'unsupported_grant_type',
        'temporarily_unavailable',
        'server_error'
      ]
    }),
    error_description: Type.String({
      description: 'What is wrong and what to send instead, for a person.',
      pattern: '^[\\x20-\\x21\\x23-\\x5b\\x5d-\\x7e]+$'
    })
  },
  { title: 'OAuthError' }
)

/** What @fastify/swagger makes an operation of. `bodyLimit` is in bytes: a refusal tells it. */
export const routeSchema = (operation: Operation, route: RouteOptions, bodyLimit: number): FastifySchema => {
  const { operationId, tag, summary, description, security = [], path, query, headers, form, bodyExamples } = operation
  const body = form ?? route.schema?.body
  return {
    operationId,
    tags: [tag],
    // For generators of clients, many of which leave out what is marked so.
    ...(tag === 'Documentation' && { 'x-internal': true }),
    summary,
    description,
    security,
    ...(path && { params: shown(path) }),
    ...(query && { querystring: shown(query) }),
    ...(headers && { headers: shown(headers) }),
    ...(body !== undefined && {
      consumes: [form === undefined ? 'application/json' : 'application/x-www-form-urlencoded'],
      body: { ...shown(body), ...(bodyExamples && { 'x-examples': valuesOf(bodyExamples) }) }
    }),
    response: responses(operation, route, bodyLimit)
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
  { answers, refusals: own = {} }: Operation,
  { config, schema }: RouteOptions,
  bodyLimit: number
): Record<string, object> => {
  const form = config?.errorForm ?? 'json'
  const kept: readonly HeaderName[] = config?.cacheControl === undefined ? [] : ['Cache-Control']
  const whitelists = Object(schema?.response)
  const successes = Object.entries(answers).map(([status, answer]) => [
    status,
    answered({ ...answer, schema: answer.schema ?? whitelists[status], headers: [...kept, ...(answer.headers ?? [])] })
  ])
  const refused = answersTo({ ...headRefusals, ...own }, form, bodyLimit)
  const failures = [...new Set(refused.map(({ status }) => status))].map(status => {
    const all = refused.filter(each => each.status === status)
    return [status, isPage(form) ? pageAnswerOf(status, all) : jsonAnswerOf(status, all, form, kept)]
  })
  return Object.fromEntries([...failures, ...successes])
}

/** What is refused of a JSON body that does not match the schema. */
export const schemaRefusals = (schema: TObject): Refusals => {
  const invalid = (keyword: string, params: Record<string, string>, instancePath = '') => {
    const error = { keyword, instancePath, schemaPath: '', params, message: '', parentSchema: schema }
    return () => describeInvalid([error])
  }
  const ofProperty = ([name, { type, ...property }]: [string, TSchema]): Refusals => {
    const required: readonly string[] = Object(schema).required
    // The core judges what stands under this key, with texts of its own.
    const judged = Object(property)[DOCUMENTED]
    return {
      ...(required.includes(name) && { [`${name}Missing`]: invalid('required', { missingProperty: name }) }),
      [`${name}OfOtherType`]: invalid('type', { type }, `/${name}`),
      ...(judged && {
        [`${name}OfOtherLength`]: () => refusals.textOfOtherLength(name, judged.minLength, judged.maxLength)
      })
    }
  }
  const properties = Object.entries(schema.properties).filter(([, { type }]) => type !== undefined)
  return {
    noObject: invalid('type', { type: 'object' }),
    withMore: invalid('additionalProperties', {}),
    ...Object.assign({}, ...properties.map(ofProperty))
  }
}

/** The headers of an answer, which document.ts makes references of. */
const listed = (...names: readonly HeaderName[]) =>
  Object.fromEntries([...new Set([...ALWAYS, ...names])].map(name => [name, { header: name }]))

const valuesOf = (examples: Examples) =>
  Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]))

const answered = ({ description, schema, type = 'application/json', headers = [], examples }: Answer): object => {
  if (schema === undefined) return { type: 'null', description, headers: listed(...headers) }
  return {
    description,
    headers: listed(...WITH_BODY, ...headers),
    content: { [type]: { schema: shown(schema), ...(examples && { examples: valuesOf(examples) }) } }
  }
}

interface Refused {
  readonly name: string
  readonly status: number
  readonly headers: readonly HeaderName[]
  /** The body in JSON, or what a page tells developers. */
  readonly body: { readonly error: string }
}

const forDevelopers: ErrorPage = ({ message }) => ({ headers: {}, body: JSON.stringify({ error: message }) })

/** What errors.ts answers for each refusal. */
const answersTo = (refused: Refusals, form: ErrorForm, bodyLimit: number): readonly Refused[] => {
  const answerFor = createAnswerFor(forDevelopers, bodyLimit, () => 'https://heroes.example')
  return Object.entries(refused).map(([name, refusal]) => {
    const { status, headers, body } = answerFor(refusal(), form, { id: '', headers: {} })
    return { name, status, headers: named(Object.keys(headers)), body: JSON.parse(body) }
  })
}

const jsonAnswerOf = (
  status: number,
  refused: readonly Refused[],
  form: ErrorForm,
  headers: readonly HeaderName[]
): object => ({
  description: MEANINGS[status],
  headers: listed(...WITH_BODY, ...headers, ...refused.flatMap(({ headers }) => headers)),
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
const pageAnswerOf = (status: number, refused: readonly Refused[]): object => ({
  description: hasDeveloperLine(status)
    ? [
        `${MEANINGS[status]} For developers the page says one of these:`,
        '',
        ...refused.map(({ body }) => `- ${body.error}`)
      ].join('\n')
    : MEANINGS[status],
  headers: listed(
    ...WITH_BODY,
    ...OF_PERSONAL_PAGES,
    ...refused.flatMap(({ headers }) => headers.filter(name => name === 'Retry-After'))
  ),
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
