// The OpenAPI document of the service, and whether answers are what it says.

import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

export interface Media {
  readonly schema: object
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

export interface Response {
  readonly description: string
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>
  readonly content?: Readonly<Record<string, Media>>
}

export interface Operation {
  readonly operationId: string
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: object }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, Response>>
}

/** The parts of the document that tests read. */
export interface Document {
  readonly openapi: string
  readonly info: { readonly version: string }
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>
    readonly headers: Readonly<Record<string, { readonly required?: boolean; readonly schema: object }>>
    readonly securitySchemes: Readonly<Record<string, { readonly flows?: Readonly<Record<string, object>> }>>
  }
}

/** The file that holds the document of a service with {@link WHOLE}. `npm run openapi` writes it. */
export const SNAPSHOT = 'test/app/http/openapi/document.json'

/** The options of a service that has every route and every answer, a closed registration aside. */
export const WHOLE = { readScope: 'heroes:read', writeScope: 'heroes:write', callbackPage: true }

export const readSnapshot = (): Document => JSON.parse(readFileSync(SNAPSHOT, 'utf8'))

export interface Answered {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly payload: string
}

/**
 * Headers that the document does not list: those of HTTP itself, the type of the body, which is a key of `content` there,
 * and those of CORS, which only browsers read.
 */
const UNTOLD = [
  'date',
  'connection',
  'keep-alive',
  'content-type',
  'access-control-allow-origin',
  'access-control-expose-headers'
]

/** What the service lacks of which the document tells. */
export interface Lacking {
  readonly callbackPage?: boolean | undefined
  readonly registrationOpen?: boolean | undefined
}

/** Throws an error that says how an answer differs from what the document of a service with {@link WHOLE} says of it. */
export type Check = (method: string, url: string, answer: Answered, service: Lacking) => void

export const createCheck = (document: Document): Check => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false })
  const validators = new Map<object, ValidateFunction>()

  /** What is wrong with a value by a schema of the document; undefined when nothing is. */
  const fault = (value: unknown, schema: object): string | undefined => {
    // Schemas refer to nothing but the components, so that the validator need not read the whole document.
    const validate = validators.get(schema) ?? ajv.compile({ ...schema, components: document.components })
    validators.set(schema, validate)
    return validate(value) ? undefined : ajv.errorsText(validate.errors)
  }

  // A path without parameters is meant where one with parameters matches too.
  const ordered = Object.keys(document.paths).sort((a, b) => Number(a.includes('{')) - Number(b.includes('{')))
  const paths = ordered.map(path => ({ path, matches: matcher(path) }))
  const headers = Object.entries(document.components.headers)
  const known = new Set([...headers.map(([name]) => name.toLowerCase()), ...UNTOLD])

  return (method, url, { statusCode, headers: sent, payload }, { callbackPage = false, registrationOpen = true }) => {
    const refuse = (why: string): never => {
      throw new Error(
        `the document lacks an answer to ${method} ${url}: ${statusCode}, ${why}: ${payload.slice(0, 300)}`
      )
    }
    // RFC 8414 section 3.1 and RFC 9728 section 3.1: a path of PUBLIC_URL stands behind the address of the metadata.
    const target = url
      .replace(/^https?:\/\/[^/?#]*|[?#].*$/gs, '')
      .replace(/(?<=oauth-(?:authorization-server|protected-resource))\/.*/, statusCode === 200 ? '' : '$&')
    const path = paths.find(({ matches }) => matches.test(target))?.path ?? ''
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
    // A preflight of CORS is no operation, nor is the way from `/docs/` to `/docs`.
    if (method === 'OPTIONS' || target === '/docs/') return
    const operation = document.paths[path]?.[verb]
    if (operation === undefined) {
      if (statusCode !== 404 && statusCode !== 405) refuse('a path or method that it does not have')
      return
    }
    if (!registrationOpen && path === '/register' && statusCode === 403) return
    if (!callbackPage && path === '/callback' && statusCode === 404) return
    const response = operation.responses[statusCode] ?? refuse('a status that it does not have')

    for (const [name, { required, schema }] of headers) {
      const value = sent[name.toLowerCase()]
      if (name in response.headers) {
        if (value === undefined && required) refuse(`without ${name}`)
        const typed = 'type' in schema && schema.type === 'integer' ? Number(value) : value
        const wrong = value === undefined ? undefined : fault(typed, schema)
        if (wrong !== undefined) refuse(`${name} is ${value}, but ${wrong}`)
      } else if (value !== undefined) refuse(`with ${name}`)
    }

    for (const name of Object.keys(sent)) if (!known.has(name)) refuse(`with ${name}, which it does not have`)

    const type = String(sent['content-type'] ?? '').replace(/;.*/, '')
    if (response.content === undefined) {
      if (type !== '' || payload !== '') refuse('with a body')
      return
    }
    const media = response.content[type] ?? refuse(`of the type ${type}`)
    if (method === 'HEAD' || sent['content-encoding'] !== undefined) return
    if (type === 'text/html') {
      const line = lineOf(payload)
      const lines = linesOf(response)
      // A page with a form is for the person alone.
      if (line === undefined ? lines.length > 0 && !payload.includes('<form') : !lines.includes(line))
        refuse(`"${line}" for developers, which its description does not list`)
    }
    if (type !== 'application/json') return
    const body: unknown = JSON.parse(payload)
    const wrong = fault(body, media.schema)
    if (wrong !== undefined) refuse(wrong)
    // A 5xx says nothing that a caller could do better.
    if (statusCode >= 400 && statusCode < 500 && !textsOf(media).includes(textOf(body)))
      refuse('a text that is not among its examples')
  }
}

const matcher = (path: string): RegExp => new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)

const textsOf = ({ examples = {} }: Media): readonly string[] =>
  Object.values(examples).map(({ value }) => textOf(value))

/** The text of an error. */
const textOf = (body: unknown): string => {
  const { error, error_description } = Object(body)
  return withoutFigures(String(error_description ?? error).replace(/ at line \d+, column \d+/, ''))
}

/** What a page says to developers; undefined when it says nothing to them. */
const lineOf = (page: string): string | undefined => {
  const [, line] = /<span lang="en">(.*?)<\/span>/s.exec(page) ?? []
  return line && withoutFigures(line)
}

/** What pages say to developers, by the list in the description of their answer. */
const linesOf = ({ description }: Response): readonly string[] =>
  Array.from(description.matchAll(/^- (.*)$/gm), ([, line = '']) => withoutFigures(line))

/** Figures may depend on settings. */
const withoutFigures = (text: string): string => text.replaceAll(/[0-9]+/g, '0')
