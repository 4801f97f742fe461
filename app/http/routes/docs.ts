import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { noSuchPath } from '../errors.js'
import { vary } from '../headers.js'
import type { Http } from '../http.js'
import { ErrorBody } from '../openapi/answers.js'
import { OF_PAGES } from '../openapi/headers.js'
import { authorizationAnswer, pageAnswer } from '../openapi/oauth.js'
import { type Operation, optionalText } from '../openapi/operation.js'
import { DOCS_CALLBACK_HEADERS, DOCS_HEADERS, docsCallbackPage, docsPage } from '../pages/docs-page.js'
import { CALLBACK_SCRIPT, DOCS_SCRIPT } from '../pages/docs-scripts.js'
import { DOCS_STYLE } from '../pages/docs-style.js'
import { sendStaticFile, staticFile, versioned } from '../static-file.js'

const STYLE = 'text/css; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'

/**
 * A file of the package. It is found by its name when it is read, so that a start does not look for it; and not by
 * `import.meta.resolve`, which jest lacks.
 */
const swaggerUi = (name: string) => (): Promise<Buffer> =>
  readFile(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`))
const own = (text: string) => async (): Promise<Buffer> => Buffer.from(text)

const tag = 'Documentation' as const
const page = pageAnswer('The page.', OF_PAGES)

/** What is said of a file that the interactive page is made of. */
const fileOperation = (operationId: string, name: string, type: string): Operation => ({
  operationId,
  tag,
  summary: `Fetch ${name} of the interactive page`,
  description: 'The page names it with its version, under which it may be kept for good.',
  query: Type.Object({ v: optionalText('The version of the file.', 'k0Yv3nQmZs8TfLr1') }),
  answers: {
    200: {
      description: 'The file.',
      schema: Type.String(),
      type: type.replace(/;.*/, ''),
      headers: ['Cache-Control']
    }
  }
})

const SHOW: Operation = {
  operationId: 'showDocs',
  tag,
  summary: 'Read and try what the service can do',
  description: 'An interactive page for people, which shows this document.',
  answers: { 200: page }
}

const RETURN: Operation = {
  operationId: 'returnToDocs',
  tag,
  summary: 'Return from the login page to the interactive page',
  description: 'The redirect URI of the client `docs`. A script of the page reads the parameters.',
  query: authorizationAnswer,
  answers: { 200: page }
}

const GO: Operation = {
  operationId: 'goToDocs',
  tag,
  summary: 'Go to the interactive page',
  description: 'For browsers, which name `text/html` in `Accept`. For everybody else there is nothing here.',
  answers: {
    302: { description: 'To the interactive page.', headers: ['Location', 'Content-Length', 'Vary'] },
    default: { description: 'Any other failure.', schema: ErrorBody }
  },
  refusals: { noSuchPath }
}

/** The interactive page, every file that it is made of, and the way to it from `/`. */
export const docsRoutes = (http: Http, publicUrl: () => string): void => {
  /** Serves a file. Returns what tells its address below `/docs/`, with its version. */
  const serve = (name: string, operationId: string, type: string, read: () => Promise<Buffer>) => {
    const file = staticFile(type, read)
    http.get(`/docs/${name}`, { config: { operation: fileOperation(operationId, name, type) } }, (request, reply) =>
      sendStaticFile(request, reply, file)
    )
    return () => versioned(name, file)
  }
  const swaggerStyle = serve('swagger-ui.css', 'getSwaggerUiStyle', STYLE, swaggerUi('swagger-ui.css'))
  const swagger = serve('swagger-ui-bundle.js', 'getSwaggerUi', SCRIPT, swaggerUi('swagger-ui-bundle.js'))
  const ownStyle = serve('docs.css', 'getDocsStyle', STYLE, own(DOCS_STYLE))
  const ownScript = serve('docs.js', 'getDocsScript', SCRIPT, own(DOCS_SCRIPT))
  const callbackScript = serve('callback.js', 'getDocsCallbackScript', SCRIPT, own(CALLBACK_SCRIPT))

  http.get('/docs', { config: { operation: SHOW } }, async (_request, reply) => {
    const files = {
      style: `docs/${await swaggerStyle()}`,
      ownStyle: `docs/${await ownStyle()}`,
      script: `docs/${await ownScript()}`,
      bundle: `docs/${await swagger()}`
    }
    return reply.headers(DOCS_HEADERS).send(docsPage(publicUrl(), files))
  })

  // Somebody types the slash, or a proxy adds it.
  http.get('/docs/', async (_request, reply) => reply.redirect(`${publicUrl()}/docs`))

  http.get('/docs/callback', { config: { operation: RETURN } }, async (_request, reply) => {
    const files = { ownStyle: await ownStyle(), script: await callbackScript() }
    return reply.headers(DOCS_CALLBACK_HEADERS).send(docsCallbackPage(files))
  })

  http.get('/', { config: { operation: GO } }, async (request, reply) => {
    vary(reply, 'accept')
    if (!namesHtml(request)) throw noSuchPath()
    return reply.redirect(`${publicUrl()}/docs`)
  })
}

/** Whether the client is a browser: every other one takes anything, or JSON. */
const namesHtml = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  /(?:^|,)\s*text\/html\s*(?:;|,|$)/i.test(accept)
