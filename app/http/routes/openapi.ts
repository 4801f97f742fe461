import { createHash } from 'node:crypto'
import type { Http } from '../http.js'

/** The OpenAPI document, which `createDocument` makes as JSON at the first request. It is kept from then on. */
export const openApiRoutes = (http: Http, createDocument: () => Promise<string>): void => {
  let making: Promise<{ readonly document: string; readonly etag: string }> | undefined

  const make = async () => {
    const document = await createDocument()
    // Weak, because the same document may be compressed or not.
    return { document, etag: `W/"${createHash('sha256').update(document).digest('base64url')}"` }
  }

  http.get('/openapi.json', async (request, reply) => {
    making ??= make()
    const { document, etag } = await making
    reply.headers({ etag, 'cache-control': 'no-cache' })
    if (request.headers['if-none-match'] === etag) return reply.code(304).send()
    return reply.type('application/json; charset=utf-8').send(document)
  })
}
