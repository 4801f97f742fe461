import type { Http } from '../http.js'

/** Figures in the text format of Prometheus. */
export interface Figures {
  readonly contentType: string
  readonly text: string
}

/** `read` is called for each request. */
export const metricsRoutes = (http: Http, read: () => Promise<Figures>): void => {
  http.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await read()
    return reply.type(contentType).send(text)
  })
}
