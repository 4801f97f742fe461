import { Type } from '@sinclair/typebox'
import { vary } from '../headers.js'
import type { Http } from '../http.js'
import { type Operation, optionalText } from '../openapi/operation.js'
import { inCoding, staticFile } from '../static-file.js'

const operation: Operation = {
  operationId: 'getOpenApi',
  tag: 'Service',
  summary: 'Fetch this document',
  description: 'OpenAPI 3.1, made from the schemas of the routes.',
  headers: Type.Object({
    'If-None-Match': optionalText('The `ETag` of each document that the client has kept, or `*`.', 'W/"Nsd0HqPo"')
  }),
  answers: {
    200: {
      description: 'The document.',
      schema: Type.Object({ openapi: Type.String({ pattern: '^3\\.1\\.' }) }, { title: 'OpenApi' }),
      headers: ['ETag', 'Cache-Control']
    },
    304: {
      description: 'The document that the client has kept is this one.',
      headers: ['ETag', 'Cache-Control', 'Vary']
    }
  }
}

/** The OpenAPI document, which `createDocument` makes as JSON at the first request. It is kept from then on. */
export const openApiRoutes = (http: Http, createDocument: () => Promise<string>): void => {
  const document = staticFile('application/json; charset=utf-8', async () => Buffer.from(await createDocument()))

  http.get('/openapi.json', { config: { cors: true, operation } }, async (request, reply) => {
    const content = await document.content()
    const tag = `"${content.version}"`
    // Weak, because the same document may be compressed or not.
    reply.headers({ etag: `W/${tag}`, 'cache-control': 'no-cache' })
    if (!names(request.headers['if-none-match'], tag))
      return reply.type(document.type).send(inCoding(content, request, reply))
    vary(reply, 'accept-encoding')
    return reply.code(304).send()
  })
}

/** Whether `If-None-Match` names the tag by the weak comparison (RFC 9110 section 13.1.2). */
const names = (ifNoneMatch: string | undefined, tag: string): boolean =>
  ifNoneMatch === '*' || (ifNoneMatch ?? '').split(',').some(each => each.trim().replace(/^W\//, '') === tag)
