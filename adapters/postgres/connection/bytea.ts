const OID = 17

const ESCAPED = /\\(?:\\|([0-7]{3}))/g

/** Reads the text of a `bytea` in either of PostgreSQL's forms (`bytea_output`). Only the form `hex` begins with `\x`. */
const parse = (text: string): Buffer => {
  if (text.startsWith('\\x')) return Buffer.from(text.slice(2), 'hex')
  const characters = text.replace(ESCAPED, (_, octal) =>
    octal ? String.fromCharCode(Number.parseInt(octal, 8)) : '\\'
  )
  return Buffer.from(characters, 'latin1')
}

/** The type for postgres.js, whose own reads the form `hex` alone. Behind a pooler nobody may set `bytea_output`. */
export const BYTEA = {
  to: OID,
  from: [OID],
  serialize: (bytes: Uint8Array) => `\\x${Buffer.from(bytes).toString('hex')}`,
  parse
}
