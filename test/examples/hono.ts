// Heroes in a Hono application, served by Node. Hono's other runtimes serve it as well.
import { createAdaptorServer, type ServerType } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'
import { readJson } from './bodies.js'
import { type Answer, type Asked, refusalOf } from './endpoints.js'

export const createHost = (answer: (asked: Asked) => Promise<Answer>): ServerType => {
  const application = new Hono()
  application.all('*', async context => {
    const { method, path, raw } = context.req
    const { status, body } = await answer({
      endpoint: `${method} ${path}`,
      authorization: context.req.header('authorization'),
      address: getConnInfo(context).remote.address ?? '',
      body: method === 'POST' ? await readJson(raw.body ?? []) : undefined
    })
    return Response.json(body, { status })
  })
  application.onError(error => {
    const { status, body } = refusalOf(error)
    return Response.json(body, { status })
  })
  return createAdaptorServer(application)
}
