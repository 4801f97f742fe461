// Heroes in a plain node:http server.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { readJson } from './bodies.js'
import { type Answer, type Asked, refusalOf } from './endpoints.js'

export const createHost = (answer: (asked: Asked) => Promise<Answer>): Server => {
  const answerTo = async (request: IncomingMessage): Promise<Answer> => {
    try {
      const body = request.method === 'POST' ? await readJson(request) : undefined
      return await answer({
        endpoint: `${request.method} ${request.url}`,
        authorization: request.headers.authorization,
        address: request.socket.remoteAddress ?? '',
        body
      })
    } catch (error) {
      return refusalOf(error)
    }
  }

  return createServer(async (request, response) => {
    const { status, body } = await answerTo(request)
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body))
  })
}
