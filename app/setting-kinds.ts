import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { isScopeToken } from '../core/index.js'

// What a setting may be: one constant for each kind of value.

export interface Kind<T> {
  /** What the setting may be, in the words of the error message. */
  readonly expected: string
  /** Undefined when the text is not allowed. */
  parse(text: string): T | undefined
}

export const integer = (min: number, max: number): Kind<number> => ({
  expected: `an integer from ${min} to ${max}`,
  parse: text => (/^[0-9]{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined)
})

export const oneOf = (...values: readonly string[]): Kind<string> => ({
  expected: `one of ${values.join(', ')}`,
  parse: text => (values.includes(text) ? text : undefined)
})

export const boolean: Kind<boolean> = {
  expected: 'true or false',
  parse: text => (text === 'true' ? true : text === 'false' ? false : undefined)
}

export const text: Kind<string> = { expected: 'a text', parse: value => value }

export const scope: Kind<string> = {
  expected: 'one scope: printable ASCII without space, quote and backslash',
  parse: value => (isScopeToken(value) ? value : undefined)
}

export const baseUrl: Kind<string> = {
  expected:
    'an http or https URL, scheme and host in lower case, without user info, default port, trailing slash, query and fragment',
  parse: value => {
    const url = URL.canParse(value) ? new URL(value) : undefined
    if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined
    return value === url.origin + url.pathname.replace(/\/$/, '') ? value : undefined
  }
}

export const origins: Kind<readonly string[]> = {
  expected:
    'origins separated by commas, such as https://app.example: http or https and a host, with a port or without, and no path',
  parse: value => {
    const read = value.split(',').map(part => webOrigin(part.trim()))
    return read.includes(undefined) ? undefined : [...new Set(read.filter(origin => origin !== undefined))]
  }
}

/** The origin as browsers send it: the host in lower case, and no port where the scheme has it by default. */
const webOrigin = (text: string): string | undefined =>
  // `URL` would take a host with a `*` for a name, and drop tabs and line breaks.
  /^https?:\/\/[^\s*/?#\\@]+$/i.test(text) && URL.canParse(text) ? new URL(text).origin : undefined

export const shownName: Kind<string> = {
  expected: '1 to 64 characters without control characters, not all of them spaces',
  parse: value => (/^[^\p{Cc}\p{Zl}\p{Zp}]{1,64}$/u.test(value) && value.trim() !== '' ? value : undefined)
}

const MOST_URL_CHARACTERS = 2000

export const pageUrl: Kind<string> = {
  expected: `an http or https URL without user info, of at most ${MOST_URL_CHARACTERS} characters`,
  parse: value => {
    if (!/^https?:\/\//i.test(value) || !URL.canParse(value) || value.length > MOST_URL_CHARACTERS) return undefined
    const { href, username, password } = new URL(value)
    return username === '' && password === '' ? href : undefined
  }
}

const NAMED_PROXIES = ['loopback', 'linklocal', 'uniquelocal']

// A number of hops is not allowed: a client that connects directly could claim as many, so Fastify then trusts nobody.
export const proxies: Kind<boolean | string> = {
  expected: 'true, false, or addresses and networks separated by commas',
  parse: value => {
    const flag = boolean.parse(value)
    if (flag !== undefined) return flag
    return value.split(',').every(part => isAddressOrNetwork(part.trim())) ? value : undefined
  }
}

const isAddressOrNetwork = (text: string): boolean => {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (bits === undefined) return version !== 0 || NAMED_PROXIES.includes(text)
  return version !== 0 && rest.length === 0 && integer(1, version === 4 ? 32 : 128).parse(bits) !== undefined
}

export const seconds = integer(1, 10_000_000_000)

const severalWorkers = integer(1, 256)

export const workerCount: Kind<number> = {
  expected: `auto or ${severalWorkers.expected}`,
  parse: value => (value === 'auto' ? availableParallelism() : severalWorkers.parse(value))
}
