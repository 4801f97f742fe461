// What a PostgreSQL server sends (PostgreSQL's manual, section 55.7), as far as servers of tests need it.

export const message = (type: string, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

export const int16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff])
export const int32 = (value: number): Buffer => Buffer.concat([int16(value >>> 16), int16(value & 0xffff)])
export const text = (value: string): Buffer => Buffer.from(`${value}\0`)

export const READY = message('Z', Buffer.from('I'))

/** The numbers of types. */
export const BOOLEAN = 16
export const INTEGER = 23

/** `routine`: the place in PostgreSQL's source that reports the error. */
export const error = (code: string, routine = 'test'): Buffer =>
  message('E', ...[`SFATAL`, `C${code}`, `Mrefused with ${code}`, `R${routine}`].map(text), Buffer.from([0]))

const column = (type: number): Buffer =>
  Buffer.concat([text('c'), int32(0), int16(0), int32(type), int16(4), int32(-1), int16(0)])

const field = (value: string): Buffer => Buffer.concat([int32(value.length), Buffer.from(value)])

export const rowDescription = (types: readonly number[]): Buffer =>
  message('T', int16(types.length), ...types.map(column))

export const dataRow = (values: readonly string[]): Buffer =>
  Buffer.concat([message('D', int16(values.length), ...values.map(field)), message('C', text('SELECT 1'))])

/** The whole answer to a simple query. */
export const row = (types: readonly number[], values: readonly string[]): Buffer =>
  Buffer.concat([rowDescription(types), dataRow(values), READY])
