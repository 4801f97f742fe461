// What goes over a connection: bytes that a test writes itself, answers that it reads itself, and types of bodies.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export const JSON_TYPE = { 'content-type': 'application/json' }
export const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' }

export interface Connection {
  readonly socket: Socket
  /** What has come so far. */
  received(): string
  /** All that came, once the connection is closed. Rejects when the connection is refused or reset. */
  readonly closed: Promise<string>
}

/** Opens a connection to a server. `allowHalfOpen`: the connection stays open when the server ends its side. */
export const dial = (url: string, { allowHalfOpen = false } = {}): Connection => {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen })
  let received = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text
  })
  const closed = new Promise<string>((resolve, reject) => {
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
  })
  // A test that ends the connection itself need not await its end.
  closed.catch(() => {})
  return { socket, received: () => received, closed }
}

/** A connection that the server's system has accepted. */
export const dialOpen = async (url: string): Promise<Connection> => {
  const connection = dial(url)
  await once(connection.socket, 'connect')
  return connection
}

/** The parts of one answer. The names of the headers are in lower case. */
export interface WireAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Reads an answer behind which no other follows. */
export const readAnswer = (answer: string): WireAnswer => {
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  const [line = '', ...fields] = head.split('\r\n')
  const headers = fields.map(field => {
    const [name = '', value = ''] = field.split(': ')
    return [name.toLowerCase(), value]
  })
  return { status: Number(line.split(' ')[1]), headers: Object.fromEntries(headers), body: rest.join('\r\n\r\n') }
}

/** The statuses of all answers that came over a connection, in their order. */
export const statusesIn = (received: string): number[] =>
  [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

/** The text of a request. */
export const requestText = (
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: string
): string => {
  const lines = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const length = body === undefined ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}${length}\r\n${body ?? ''}`
}

export interface KeptConnection {
  /** Sends the text of a request. Resolves to undefined when the connection ends before the whole answer is there. */
  ask(request: string): Promise<WireAnswer | undefined>
  end(): void
}

/**
 * A connection for one request after the other. It is opened anew once it has ended. It takes less than half of the
 * processor time of an agent of `node:http`, and reads answers with a `content-length` alone.
 */
export const keepConnection = (url: string): KeptConnection => {
  const { hostname: host, port } = new URL(url)
  let open: Socket | undefined
  let received = ''
  let settle: ((answer: WireAnswer | undefined) => void) | undefined

  const connected = (): Socket => {
    const socket = connect({ host, port: Number(port), noDelay: true }).setEncoding('latin1')
    // Its end follows.
    socket.on('error', () => {})
    socket.on('data', (text: string) => {
      received += text
      const length = /\r\ncontent-length: (\d+)\r\n/i.exec(received)?.[1]
      const head = received.indexOf('\r\n\r\n')
      if (length === undefined || head < 0 || received.length < head + 4 + Number(length)) return
      const answer = readAnswer(received)
      finish(answer)
      if (answer.headers.connection === 'close') close(socket)
    })
    socket.on('close', () => close(socket))
    return socket
  }
  const close = (socket: Socket): void => {
    socket.destroy()
    if (socket !== open) return
    open = undefined
    finish(undefined)
  }
  const finish = (answer: WireAnswer | undefined): void => {
    settle?.(answer)
    settle = undefined
  }
  return {
    ask: request =>
      new Promise(resolve => {
        received = ''
        settle = resolve
        open ??= connected()
        open.write(request)
      }),
    end: () => open?.destroy()
  }
}
