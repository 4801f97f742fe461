import { isIPv6 } from 'node:net'

export interface ServerAddress {
  /** A name, an address (of IPv6 without brackets), or the folder of a socket. */
  readonly host: string
  readonly port: number
}

export interface ServerUrl {
  /** As given, with the parameters alone that have an effect. */
  readonly url: string
  /** In their order. */
  readonly hosts: readonly ServerAddress[]
}

/** The message goes behind the setting's name. It holds nothing of the value, which may have a password anywhere. */
export class DatabaseUrlError extends Error {
  override readonly name = 'DatabaseUrlError'
}

const DEFAULT_PORT = '5432'

/** What may stand behind a parameter's name. */
const UNDERSTOOD: Readonly<Record<string, RegExp>> = {
  sslmode: /^(?:disable|allow|prefer|require|verify-ca|verify-full)$/,
  sslrootcert: /^system$/,
  target_session_attrs: /^(?:any|read-write|primary)$/,
  options: /./,
  host: /./,
  port: /^[0-9,]+$/
}

/** libpq knows them, and here they change nothing: what they set is this service's, or is done without them. */
const WITHOUT_EFFECT = new Set([
  'application_name',
  'client_encoding',
  'connect_timeout',
  'fallback_application_name',
  'gssdelegation',
  'gssencmode',
  'gsslib',
  'keepalives',
  'keepalives_count',
  'keepalives_idle',
  'keepalives_interval',
  'krbsrvname',
  'sslcompression',
  'sslsni',
  'tcp_user_timeout'
])

/** Reads the URL of a PostgreSQL server, or of several, as libpq does. Throws a {@link DatabaseUrlError}. */
export const readServerUrl = (value: string): ServerUrl => {
  const [, scheme, before, authority = '', path = '', query = ''] =
    /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/.exec(value) ?? []
  // A password's own character ended it, and what follows would be taken for a host, a database or a parameter.
  if (scheme === undefined || path.includes('@') || query.includes('@')) {
    throw new DatabaseUrlError(
      "is no URL: in a user name or password '/', '?', '#' and '@' are written %2F, %3F, %23 and %40"
    )
  }
  const userInfo = before === undefined ? '' : `${before}@`
  for (const part of [userInfo, authority, path, query]) requireEscapes(part)
  const parameters = [...new URLSearchParams(query)]
  for (const [name, text] of parameters) requireParameter(name, text)
  const given = Object.fromEntries(parameters)
  const places = authority.split(',').map(readPlace)
  const hosts = pair(
    given.host?.split(',') ?? places.map(({ host }) => host),
    given.port?.split(',') ?? places.map(({ port }) => port)
  )
  if (hosts.length > 1 && before?.includes('@')) {
    throw new DatabaseUrlError("is no URL: in a user name or password '@' is written %40")
  }
  const kept = new URLSearchParams(parameters.filter(([name, text]) => hasEffect(name, text)))
  return { url: `${scheme}${userInfo}${hosts.map(written).join()}${path}${kept.size > 0 ? `?${kept}` : ''}`, hosts }
}

/** Of those that are understood. `any` is what holds without the parameter, and postgres.js does not know it. */
const hasEffect = (name: string, text: string): boolean =>
  !WITHOUT_EFFECT.has(name) &&
  name !== 'host' &&
  name !== 'port' &&
  !(name === 'target_session_attrs' && text === 'any')

const requireEscapes = (part: string): void => {
  try {
    decodeURIComponent(part)
  } catch {
    throw new DatabaseUrlError("has a '%' that begins no character: in a user name or password '%' is written %25")
  }
}

const requireParameter = (name: string, text: string): void => {
  if (WITHOUT_EFFECT.has(name)) return
  const allowed = Object.hasOwn(UNDERSTOOD, name) ? UNDERSTOOD[name] : undefined
  if (allowed === undefined) {
    const shown = /^[a-z_]{1,40}$/.test(name) ? ` '${name}'` : ''
    throw new DatabaseUrlError(
      `has the parameter${shown}, which is not understood; those that are: ${Object.keys(UNDERSTOOD).join(', ')}`
    )
  }
  if (!allowed.test(text)) throw new DatabaseUrlError(`has a value of the parameter '${name}' that is not understood`)
}

const readPlace = (place: string): { readonly host: string; readonly port: string } => {
  const [, bracketed, plain, port = ''] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(.*))?$/.exec(place) ?? []
  if (plain !== undefined) return { host: decodeURIComponent(plain), port }
  if (!isIPv6(String(bracketed))) throw new DatabaseUrlError('has no address of IPv6 between its brackets')
  return { host: String(bracketed), port }
}

/** One port stands for all, and none for PostgreSQL's own; no host at all is this machine. */
const pair = (hosts: readonly string[], ports: readonly string[]): readonly ServerAddress[] => {
  if (ports.length !== 1 && ports.length !== hosts.length) {
    throw new DatabaseUrlError('has not as many ports as hosts')
  }
  return hosts.map((host, index) => {
    const port = ports[ports.length === 1 ? 0 : index] || DEFAULT_PORT
    if (!/^[0-9]{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535) {
      throw new DatabaseUrlError('has a port that is no number from 1 to 65535')
    }
    const named = host === '' && hosts.length === 1 ? 'localhost' : host
    if (!/^(?:\/.*|[A-Za-z0-9._:-]+)$/.test(named))
      throw new DatabaseUrlError('has a host that is neither a name nor an address')
    return { host: named, port: Number(port) }
  })
}

const written = ({ host, port }: ServerAddress): string =>
  // A socket's folder has no place in the URL's own form.
  host.startsWith('/') ? `localhost:${port}` : `${isIPv6(host) ? `[${host}]` : host}:${port}`
