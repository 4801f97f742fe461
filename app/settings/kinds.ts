import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { isScopeToken } from '../../core/index.js'

// What a setting may be: one constant for each kind of value.

/** Reads a value. Throws an error whose message continues a sentence that begins with the setting's name. */
export type Kind<T> = (text: string) => T

/** `expected`: what the value may be, in the words of the error message. `parse` returns undefined for any other. */
const kind =
  <T>(expected: string, parse: (text: string) => T | undefined): Kind<T> =>
  text => {
    const value = parse(text)
    if (value === undefined) throw new Error(`is '${text}', but must be ${expected}`)
    return value
  }

const parseInteger = (text: string, min: number, max: number): number | undefined =>
  /^[0-9]{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined

const parseBoolean = (text: string): boolean | undefined =>
  text === 'true' ? true : text === 'false' ? false : undefined

export const integer = (min: number, max: number): Kind<number> =>
  kind(`an integer from ${min} to ${max}`, text => parseInteger(text, min, max))

/** Kubernetes sets `METRICS_PORT=tcp://10.0.0.1:80` where there is a Service of the name `metrics`. */
export const port: Kind<number> = text => {
  if (/^(?:tcp|udp|sctp):\/\//.test(text)) {
    throw new Error(
      `is '${text}', which Kubernetes sets for a Service of that name: set enableServiceLinks to false, or name the Service otherwise`
    )
  }
  return integer(0, 65_535)(text)
}

export const oneOf = (...values: readonly string[]): Kind<string> =>
  kind(`one of ${values.join(', ')}`, text => (values.includes(text) ? text : undefined))

export const boolean: Kind<boolean> = kind('true or false', parseBoolean)

export const text: Kind<string> = given => given

/** True for `open`. */
export const openOrClosed: Kind<boolean> = text => oneOf('open', 'closed')(text) === 'open'

export const scope: Kind<string> = kind('one scope: printable ASCII without space, quote and backslash', value =>
  isScopeToken(value) ? value : undefined
)

export const baseUrl: Kind<string> = kind(
  'an http or https URL, scheme and host in lower case, without user info, default port, trailing slash, query and fragment',
  value => {
    const url = URL.canParse(value) ? new URL(value) : undefined
    if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined
    return value === url.origin + url.pathname.replace(/\/$/, '') ? value : undefined
  }
)

export const origins: Kind<readonly string[]> = kind(
  'origins separated by commas, such as https://app.example or capacitor://localhost: a scheme and a host, with a port or without, and no path',
  value => {
    const read = value.split(',').map(part => webOrigin(part.trim()))
    return read.includes(undefined) ? undefined : [...new Set(read.filter(origin => origin !== undefined))]
  }
)

/** The origin as browsers send it: scheme and host in lower case, and no port where the scheme has it by default. */
const webOrigin = (text: string): string | undefined => {
  // `URL` would take a host with a `*` for a name, and drop tabs and line breaks.
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s*/?#\\@]+$/i.test(text) || !URL.canParse(text)) return undefined
  const { protocol, origin } = new URL(text)
  // Of schemes that it does not know `URL` tells no origin.
  return /^https?:$/.test(protocol) ? origin : text.toLowerCase()
}

export const shownName: Kind<string> = kind(
  '1 to 64 characters without control characters, not all of them spaces',
  value => (/^[^\p{Cc}\p{Zl}\p{Zp}]{1,64}$/u.test(value) && value.trim() !== '' ? value : undefined)
)

const MOST_URL_CHARACTERS = 2000

export const pageUrl: Kind<string> = kind(
  `an http or https URL without user info, of at most ${MOST_URL_CHARACTERS} characters`,
  value => {
    if (!/^https?:\/\//i.test(value) || !URL.canParse(value) || value.length > MOST_URL_CHARACTERS) return undefined
    const { href, username, password } = new URL(value)
    return username === '' && password === '' ? href : undefined
  }
)

// A number of hops is not allowed: a client that connects directly could claim as many, so Fastify then trusts nobody.
export const proxies: Kind<boolean | string> = kind(
  'true, false, or addresses and networks separated by commas',
  value => parseBoolean(value) ?? (value.split(',').every(part => isAddressOrNetwork(part.trim())) ? value : undefined)
)

// Not by ipaddr.js, which takes `1` for an address and `10.0.0.0/0`, which is everybody, for a network.
const isAddressOrNetwork = (text: string): boolean => {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (bits === undefined) return version !== 0 || ['loopback', 'linklocal', 'uniquelocal'].includes(text)
  return version !== 0 && rest.length === 0 && parseInteger(bits, 1, version === 4 ? 32 : 128) !== undefined
}

export const seconds = integer(1, 10_000_000_000)

const MOST_WORKERS = 256

export const workerCount: Kind<number> = kind(`auto or an integer from 1 to ${MOST_WORKERS}`, value =>
  value === 'auto' ? availableParallelism() : parseInteger(value, 1, MOST_WORKERS)
)
