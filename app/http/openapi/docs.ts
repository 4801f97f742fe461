import { Type } from '@sinclair/typebox'
import { OF_PAGES } from './headers.js'
import type { Operation, Operations } from './operation.js'
import { OF_EVERY_REQUEST } from './refusals.js'
import { ErrorBody } from './schemas.js'

const page = {
  tag: 'Documentation',
  security: [],
  refusals: [...OF_EVERY_REQUEST]
} as const

/** A file that the interactive page is made of. */
const file = (operationId: string, type: string): Operation => ({
  ...page,
  operationId,
  summary: 'Fetch a part of the interactive page',
  description: 'The page names it with its version, under which it may be kept for good.',
  query: Type.Object({
    v: Type.Optional(Type.String({ description: 'The version of the file.', examples: ['k0Yv3nQmZs8TfLr1'] }))
  }),
  answers: { 200: { description: 'The file.', schema: Type.String(), type, headers: ['Cache-Control'] } }
})

export const docs: Operations = {
  'GET /': {
    ...page,
    operationId: 'goToDocs',
    summary: 'Go to the interactive page',
    description: 'For browsers, which name `text/html` in `Accept`. For everybody else there is nothing here.',
    answers: {
      302: { description: 'To the interactive page.', headers: ['Location', 'Content-Length', 'Vary'] },
      default: { description: 'Any other failure.', schema: ErrorBody }
    },
    refusals: [...OF_EVERY_REQUEST, 'noSuchPath']
  },
  'GET /docs': {
    ...page,
    operationId: 'showDocs',
    summary: 'Read and try what the service can do',
    description: 'An interactive page for people, which shows this document.',
    answers: { 200: { description: 'The page.', schema: Type.String(), type: 'text/html', headers: OF_PAGES } }
  },
  'GET /docs/callback': {
    ...page,
    operationId: 'returnToDocs',
    summary: 'Return from the login page to the interactive page',
    description: 'The redirect URI of the client `docs`. A script of the page reads the parameters.',
    query: Type.Object({
      code: Type.Optional(Type.String({ description: 'The code.', examples: ['Zk3Vq0pTn8LwYc5RbXs7HdJf2MgKa9Ue'] })),
      error: Type.Optional(Type.String({ description: 'Why there is no code.', examples: ['access_denied'] })),
      error_description: Type.Optional(
        Type.String({ description: 'The same for a person.', examples: ['state is missing'] })
      ),
      state: Type.Optional(Type.String({ description: 'The state of the request.', examples: ['xyz'] })),
      iss: Type.Optional(Type.String({ description: 'The issuer.', examples: ['https://heroes.example'] }))
    }),
    answers: { 200: { description: 'The page.', schema: Type.String(), type: 'text/html', headers: OF_PAGES } }
  },
  'GET /docs/swagger-ui.css': file('getSwaggerUiStyle', 'text/css'),
  'GET /docs/swagger-ui-bundle.js': file('getSwaggerUi', 'text/javascript'),
  'GET /docs/docs.css': file('getDocsStyle', 'text/css'),
  'GET /docs/docs.js': file('getDocsScript', 'text/javascript'),
  'GET /docs/callback.js': file('getDocsCallbackScript', 'text/javascript')
}
