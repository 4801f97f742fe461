import { Type } from '@sinclair/typebox'
import type { Operations } from './operation.js'
import { OF_EVERY_REQUEST } from './refusals.js'

export const service: Operations = {
  'GET /.well-known/oauth-authorization-server': {
    operationId: 'getMetadata',
    tag: 'Service',
    summary: 'Fetch the metadata of the authorization server',
    description: 'RFC 8414: where the endpoints are and what they support, for client libraries.',
    security: [],
    answers: { 200: { description: 'The metadata.' } },
    refusals: [...OF_EVERY_REQUEST]
  },

  'GET /openapi.json': {
    operationId: 'getOpenApi',
    tag: 'Service',
    summary: 'Fetch this document',
    description: 'OpenAPI 3.1, made from the schemas of the routes.',
    security: [],
    headers: Type.Object({
      'If-None-Match': Type.Optional(
        Type.String({
          description: 'The `ETag` of each document that the client has kept, or `*`.',
          examples: ['W/"Nsd0HqPo"']
        })
      )
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
    },
    refusals: [...OF_EVERY_REQUEST]
  },

  'GET /health/live': {
    operationId: 'checkLiveness',
    tag: 'Service',
    summary: 'Ask whether the process runs',
    description: 'For the supervisor of the process.',
    security: [],
    answers: {
      200: { description: 'It runs.', examples: { live: { summary: 'It runs', value: { status: 'live' } } } }
    },
    refusals: [...OF_EVERY_REQUEST]
  },

  'GET /health/ready': {
    operationId: 'checkReadiness',
    tag: 'Service',
    summary: 'Ask whether the service should get requests',
    description:
      'For load balancers. The service is not ready while its database is away, takes no writes or lacks its schema, ' +
      'and while it shuts down. The answer comes within two seconds.',
    security: [],
    answers: {
      200: { description: 'It is ready.', examples: { ready: { summary: 'It is ready', value: { status: 'ready' } } } }
    },
    refusals: [...OF_EVERY_REQUEST, 'failed', 'databaseAway', 'databaseSlow', 'shuttingDown']
  }
}
