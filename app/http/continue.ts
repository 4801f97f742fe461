import type { IncomingMessage, ServerResponse } from 'node:http'
import { hasBody } from './framing.js'

/** `Expect: 100-continue` (RFC 9110 section 10.1.1): clients that send the body when they are told to. */
export interface Waiting {
  /** Tells the client to go on when its body begins to be read. A refusal that the head alone decides comes before that. */
  begin(request: IncomingMessage, response: ServerResponse): void
  /** Tells the client no more. True when it was never told to go on: then its body may come or not. */
  end(response: ServerResponse): boolean
}

export const createWaiting = (): Waiting => {
  const waiting = new WeakSet<ServerResponse>()
  return {
    begin(request, response) {
      waiting.add(response)
      if (!hasBody(request)) return
      // A body flows from the moment in which somebody listens to it. Node sends the 100 behind all earlier answers.
      request.once('resume', () => {
        if (waiting.delete(response)) response.writeContinue()
      })
    },
    end: response => waiting.delete(response)
  }
}
