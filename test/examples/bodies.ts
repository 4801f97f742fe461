import { DomainError } from 'heroes/core'

const MOST_BYTES = 10_000

/** The JSON value in a body. Throws `invalid_input`. A client that sends more than 10 kB can still read its refusal. */
export const readJson = async (chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<unknown> => {
  const taken: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes <= MOST_BYTES) taken.push(chunk)
  }
  if (bytes > MOST_BYTES) throw new DomainError('invalid_input', 'the body is too large')
  try {
    return JSON.parse(Buffer.concat(taken).toString())
  } catch {
    throw new DomainError('invalid_input', 'the body is not valid JSON')
  }
}
