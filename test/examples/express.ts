// Heroes in an Express 5 application.
import { createServer, type Server } from 'node:http'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { type Answer, type Asked, refusalOf } from './endpoints.js'

export const createHost = (answer: (asked: Asked) => Promise<Answer>): Server => {
  const serve: RequestHandler = async (request, response) => {
    const { status, body } = await answer({
      endpoint: `${request.method} ${request.path}`,
      authorization: request.headers.authorization,
      address: request.ip ?? '',
      body: request.body
    })
    response.status(status).json(body)
  }
  // A body that express.json() refuses has a status of its own.
  const refuse: ErrorRequestHandler = (error, _request, response, _next) => {
    const { status, body } =
      error.status === 400 ? { status: 400, body: { error: 'the body is not valid JSON' } } : refusalOf(error)
    response.status(status).json(body)
  }
  const application = express()
    .use(express.json({ limit: '10kb', type: () => true }))
    .use(serve)
    .use(refuse)
  return createServer(application)
}
