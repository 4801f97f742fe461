import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { vary } from '../headers.js'
import type { Http } from '../http.js'

/** The OpenAPI document, which `createDocument` makes as JSON at the first request. It is kept from then on. */
export const openApiRoutes = (http: Http, createDocument: () => Promise<string>): void => {
  const make = async () => {
    const document = await createDocument()
    return { document, tag: `"${createHash('sha256').update(document).digest('base64url')}"` }
  }
  let making: ReturnType<typeof make> | undefined

  http.get('/openapi.json', async (request, reply) => {
    making ??= make().catch(error => {
      making = undefined
      throw error
    })
    const { document, tag } = await making
    // Weak, because the same document may be compressed or not.
    reply.headers({ etag: `W/${tag}`, 'cache-control': 'no-cache' })
    if (!names(request.headers['if-none-match'], tag)) {
      return reply.type('application/json; charset=utf-8').send(document)
    }
    vary(reply, 'accept-encoding')
    // Fastify gives an answer to HEAD that has no body the length 0, which is not GET's. It gives a stream none.
    return reply.code(304).send(request.method === 'HEAD' ? Readable.from([]) : undefined)
  })
}

/** Whether `If-None-Match` names the tag by the weak comparison (RFC 9110 section 13.1.2). */
const names = (ifNoneMatch: string | undefined, tag: string): boolean =>
  ifNoneMatch === '*' || (ifNoneMatch ?? '').split(',').some(each => each.trim().replace(/^W\//, '') === tag)
