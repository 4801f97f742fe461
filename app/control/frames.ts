import type { Socket } from 'node:net'
import { deserialize, serialize } from 'node:v8'

/** In bytes. A batch of an import is the longest message by far, and has less. */
const LONGEST = 134_217_728
const HEADER = 4

/** Sends a message: its length in four bytes, and the message as V8 serializes it, with dates and `undefined`. */
export const sendFrame = (socket: Socket, message: unknown): void => {
  const body = serialize(message)
  const header = Buffer.alloc(HEADER)
  header.writeUInt32BE(body.length)
  socket.write(header)
  socket.write(body)
}

/** The messages that arrive. Rejects when the other side breaks the form. What is left when it leaves is dropped. */
export async function* readFrames(socket: AsyncIterable<Buffer>): AsyncGenerator<unknown> {
  let parts: Buffer[] = []
  let length = 0
  let wanted = HEADER
  for await (const chunk of socket) {
    parts.push(chunk)
    length += chunk.length
    if (length < wanted) continue
    let bytes = Buffer.concat(parts)
    for (;;) {
      wanted = bytes.length < HEADER ? HEADER : HEADER + bytes.readUInt32BE()
      if (wanted > LONGEST) throw new Error('a message is too long')
      if (bytes.length < wanted) break
      yield deserialize(bytes.subarray(HEADER, wanted))
      bytes = bytes.subarray(wanted)
    }
    parts = [bytes]
    length = bytes.length
  }
}
