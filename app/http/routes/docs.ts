import { readFile } from 'node:fs/promises'
import type { FastifyRequest } from 'fastify'
import { noSuchPath } from '../errors.js'
import { vary } from '../headers.js'
import type { Http } from '../http.js'
import { DOCS_CALLBACK_HEADERS, DOCS_HEADERS, docsCallbackPage, docsPage } from '../pages/docs-page.js'
import { CALLBACK_SCRIPT, DOCS_SCRIPT } from '../pages/docs-scripts.js'
import { DOCS_STYLE } from '../pages/docs-style.js'
import { sendStaticFile, staticFile, versioned } from '../static-file.js'

const STYLE = 'text/css; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'

/** A file of the package. It is found by its name when it is read, so that a start does not look for it. */
const swaggerUi = (name: string) => (): Promise<Buffer> =>
  readFile(new URL(import.meta.resolve(`swagger-ui-dist/${name}`)))
const own = (text: string) => async (): Promise<Buffer> => Buffer.from(text)

/** The interactive page, every file that it is made of, and the way to it from `/`. */
export const docsRoutes = (http: Http, publicUrl: () => string): void => {
  const files = {
    'swagger-ui.css': staticFile(STYLE, swaggerUi('swagger-ui.css')),
    'swagger-ui-bundle.js': staticFile(SCRIPT, swaggerUi('swagger-ui-bundle.js')),
    'docs.css': staticFile(STYLE, own(DOCS_STYLE)),
    'docs.js': staticFile(SCRIPT, own(DOCS_SCRIPT)),
    'callback.js': staticFile(SCRIPT, own(CALLBACK_SCRIPT))
  }
  for (const [name, file] of Object.entries(files)) {
    http.get(`/docs/${name}`, (request, reply) => sendStaticFile(request, reply, file))
  }

  http.get('/docs', async (_request, reply) => {
    const [style, ownStyle, script, bundle] = await Promise.all([
      versioned('docs/swagger-ui.css', files['swagger-ui.css']),
      versioned('docs/docs.css', files['docs.css']),
      versioned('docs/docs.js', files['docs.js']),
      versioned('docs/swagger-ui-bundle.js', files['swagger-ui-bundle.js'])
    ])
    return reply.headers(DOCS_HEADERS).send(docsPage(publicUrl(), { style, ownStyle, script, bundle }))
  })

  http.get('/docs/callback', async (_request, reply) => {
    const [ownStyle, script] = await Promise.all([
      versioned('docs.css', files['docs.css']),
      versioned('callback.js', files['callback.js'])
    ])
    return reply.headers(DOCS_CALLBACK_HEADERS).send(docsCallbackPage({ ownStyle, script }))
  })

  http.get('/', async (request, reply) => {
    vary(reply, 'accept')
    if (!namesHtml(request)) throw noSuchPath()
    return reply.redirect(`${publicUrl()}/docs`)
  })
}

/** Whether the client is a browser: every other one takes anything, or JSON. */
const namesHtml = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  /(?:^|,)\s*text\/html\s*(?:;|,|$)/i.test(accept)
