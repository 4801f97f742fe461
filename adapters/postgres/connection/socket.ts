import { once } from 'node:events'
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { EncryptionError } from './errors.js'

/** Where a server listens. A host that begins with a slash is the folder of the server's socket. */
export interface ServerAddress {
  readonly host: string
  readonly port: number
}

/** The words of libpq (PostgreSQL's manual, section 34.19). */
export const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

/** Whether connections are encrypted, and whom they trust. */
export interface Tls {
  readonly mode: (typeof SSL_MODES)[number]
  /**
   * Certificates of authorities as PEM, one of which the server's certificate is checked against in every mode. By
   * default the modes `verify-ca` and `verify-full` check it against Node's own, and the others do not check it.
   */
  readonly authorities?: string | undefined
  /** What this side shows to a server that asks for a certificate, as PEM. */
  readonly own?: { readonly certificate: string; readonly key: string } | undefined
}

/** `offered`: with TLS if the server offers it. */
export type Encryption = 'none' | 'offered' | 'required'

/** How a connection to the host is tried: first so, and then so. A Unix socket has no TLS, whatever the mode. */
export const encryptionsFor = ({ mode }: Tls, { host }: ServerAddress): readonly Encryption[] => {
  if (isFolder(host) || mode === 'disable') return ['none']
  if (mode === 'allow') return ['none', 'required']
  return mode === 'prefer' ? ['offered', 'none'] : ['required']
}

interface SocketOptions {
  readonly encryption: Encryption
  readonly tls: Tls
  /** Gets each socket when it is made, so that it can be destroyed at any time. */
  readonly made: (socket: Socket) => unknown
}

/** Resolves once the host has taken the connection and TLS is established. Rejects when a socket is destroyed. */
export const openSocket = async (address: ServerAddress, options: SocketOptions): Promise<Socket> => {
  const { host, port } = address
  const plain = isFolder(host) ? connect({ path: `${host}/.s.PGSQL.${port}` }) : connect({ host, port, noDelay: true })
  options.made(plain)
  await established(plain, 'connect')
  if (options.encryption === 'none') return plain
  plain.write(SSL_REQUEST)
  const [answer]: Buffer[] = await established(plain, 'data')
  const offered = String(answer)
  if (offered === 'N' && options.encryption === 'offered') return plain
  // Bytes behind the answer would be taken for encrypted ones (CVE-2021-23222).
  if (offered !== 'S') throw new EncryptionError('the server offers no TLS', 'ERR_TLS_NOT_OFFERED')
  try {
    return await encrypt(plain, host, options)
  } catch (error) {
    const { message, code } = Object(error)
    throw new EncryptionError(message, code)
  }
}

const isFolder = (host: string): boolean => host.startsWith('/')

/** A message without a type: its length and the number of the request (PostgreSQL's manual, section 55.7). */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])

const encrypt = async (plain: Socket, host: string, { tls, made }: SocketOptions): Promise<Socket> => {
  const { mode, authorities, own } = tls
  const socket = connectTls({
    socket: plain,
    // The name that the certificate is checked for. A server name of TLS cannot be an address.
    host,
    ...(isIP(host) === 0 && { servername: host }),
    ...(authorities !== undefined && { ca: authorities }),
    ...(own !== undefined && { cert: own.certificate, key: own.key }),
    rejectUnauthorized: authorities !== undefined || mode.startsWith('verify-'),
    ...(mode !== 'verify-full' && { checkServerIdentity: () => undefined })
  })
  made(socket)
  await established(socket, 'secureConnect')
  return socket
}

/** Rejects as well when the socket ends without an error. */
const established = (socket: Socket, event: string): Promise<Buffer[]> => {
  // Between two waits and at the end an error has no other listener, and would end the process.
  socket.on('error', () => {})
  const ended = new AbortController()
  const abort = (): void => ended.abort()
  socket.once('close', abort)
  return once(socket, event, { signal: ended.signal })
    .catch((error: unknown) => {
      throw ended.signal.aborted ? connectionLost() : error
    })
    .finally(() => socket.off('close', abort))
}

export const connectionLost = (): Error =>
  Object.assign(new Error('the connection was lost'), { code: 'CONNECTION_CLOSED' })
