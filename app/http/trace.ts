import type { IncomingMessage } from 'node:http'

// W3C Trace Context section 3.2.2. A later version may have more behind a further hyphen.
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/

/** The id of the trace that the caller's `traceparent` names. Undefined without the header, or when it is malformed. */
export const traceIdOf = ({ headers: { traceparent } }: Pick<IncomingMessage, 'headers'>): string | undefined => {
  if (typeof traceparent !== 'string') return undefined
  const [, version, traceId, rest] = TRACEPARENT.exec(traceparent) ?? []
  return version === '00' && rest !== undefined ? undefined : traceId
}
