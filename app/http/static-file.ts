import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptsGzip } from './compression.js'

const compressed = promisify(gzip)

interface Content {
  /** A digest of the file. Another content has another version. */
  readonly version: string
  readonly plain: Buffer
  readonly zipped: Buffer
}

/** A text that never changes while the process runs, such as a script. */
interface StaticFile {
  /** Its media type, which is one that is compressed. */
  readonly type: string
  /** Reads and compresses the file at the first call. A call that follows a failed one tries again. */
  content(): Promise<Content>
}

export const staticFile = (type: string, read: () => Promise<Buffer>): StaticFile => {
  const prepare = async (): Promise<Content> => {
    const plain = await read()
    return { version: hash('sha256', plain, 'base64url').slice(0, 16), plain, zipped: await compressed(plain) }
  }
  let prepared: Promise<Content> | undefined
  return {
    type,
    content() {
      prepared ??= prepare().catch(error => {
        prepared = undefined
        throw error
      })
      return prepared
    }
  }
}

/**
 * The file's address: caches may keep what it answers for good, since it changes when the file does. `path` is where
 * {@link sendStaticFile} answers.
 */
export const versioned = async (path: string, file: StaticFile): Promise<string> =>
  `${path}?v=${(await file.content()).version}`

/** Sends the file, as it is or compressed. */
export const sendStaticFile = async (
  request: FastifyRequest,
  reply: FastifyReply,
  file: StaticFile
): Promise<Buffer> => {
  const content = await file.content()
  // An address of another version may come from another instance, which has other files.
  const isVersion = request.url.endsWith(`?v=${content.version}`)
  reply.type(file.type).header('cache-control', isVersion ? 'public, max-age=31536000, immutable' : 'no-store')
  return inCoding(content, request, reply)
}

/** The content as the client takes it, compressed or not. Sets the headers that say so. */
export const inCoding = ({ plain, zipped }: Content, request: FastifyRequest, reply: FastifyReply): Buffer => {
  if (!acceptsGzip(request.headers['accept-encoding'])) return plain
  reply.header('content-encoding', 'gzip')
  return zipped
}
