import { isIPv6 } from 'node:net'

export interface ServerAddress {
  /** A host name, an address (IPv6 without brackets) or the folder of a Unix socket. */
  readonly host: string
  readonly port: number
}

export interface ServerUrl {
  /**
   * The given URL with the hosts and ports of its parameters moved to their usual place, and without parameters that
   * have no effect.
   */
  readonly url: string
  /** In the order in which the URL names them. */
  readonly hosts: readonly ServerAddress[]
}

/**
 * A URL that cannot be read. The message continues a sentence that begins with the setting's name. Of the URL it
 * repeats nothing but the name of a parameter, since any other part may be a password.
 */
export class DatabaseUrlError extends Error {
  override readonly name = 'DatabaseUrlError'
}

const DEFAULT_PORT = '5432'

/** The parameters that have an effect, each with the values that it may have. */
const ALLOWED_VALUES: Readonly<Record<string, RegExp>> = {
  sslmode: /^(?:disable|allow|prefer|require|verify-ca|verify-full)$/,
  sslrootcert: /^system$/,
  target_session_attrs: /^(?:any|read-write|primary)$/,
  options: /./,
  host: /./,
  port: /^[0-9,]+$/
}

/** Parameters of libpq that are accepted and left out: this service sets what they set, or does without it. */
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
  const [, scheme, givenUserInfo, hostList = '', path = '', query = ''] =
    /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/.exec(value) ?? []
  // An unescaped character of the password ended the user info too early. The rest of the password would be read as a
  // host, a database or a parameter.
  if (scheme === undefined || path.includes('@') || query.includes('@')) {
    throw new DatabaseUrlError(
      "is no URL: in a user name or password '/', '?', '#' and '@' are written %2F, %3F, %23 and %40"
    )
  }
  const userInfo = givenUserInfo === undefined ? '' : `${givenUserInfo}@`
  for (const part of [userInfo, hostList, path, query]) requireEscapes(part)
  const parameters = [...new URLSearchParams(query)]
  const given = Object.fromEntries(parameters)
  const inHostList = hostList.split(',').map(readHostAndPort)
  const hosts = pairHostsWithPorts(
    given.host?.split(',') ?? inHostList.map(({ host }) => host),
    given.port?.split(',') ?? inHostList.map(({ port }) => port)
  )
  // After the hosts: without a host behind it, a password with a `?` is read as a port and the name of a parameter.
  for (const [name, text] of parameters) requireParameter(name, text)
  if (hosts.length > 1 && givenUserInfo?.includes('@')) {
    throw new DatabaseUrlError("is no URL: in a user name or password '@' is written %40")
  }
  const kept = new URLSearchParams(parameters.filter(([name, text]) => hasEffect(name, text)))
  return { url: `${scheme}${userInfo}${hosts.map(inUrl).join()}${path}${kept.size > 0 ? `?${kept}` : ''}`, hosts }
}

/**
 * Whether an allowed parameter stays among the parameters of the URL. `target_session_attrs=any` is the default, and
 * postgres.js does not know the word.
 */
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
  const allowed = Object.hasOwn(ALLOWED_VALUES, name) ? ALLOWED_VALUES[name] : undefined
  if (allowed === undefined) {
    const shown = /^[a-z_]{1,40}$/.test(name) ? ` '${name}'` : ''
    throw new DatabaseUrlError(
      `has the parameter${shown}, which is not understood; those that are: ${Object.keys(ALLOWED_VALUES).join(', ')}`
    )
  }
  if (!allowed.test(text)) throw new DatabaseUrlError(`has a value of the parameter '${name}' that is not understood`)
}

const readHostAndPort = (text: string): { readonly host: string; readonly port: string } => {
  const [, bracketed, plain, port = ''] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(.*))?$/.exec(text) ?? []
  if (plain !== undefined) return { host: decodeURIComponent(plain), port }
  if (!isIPv6(String(bracketed))) throw new DatabaseUrlError('has no address of IPv6 between its brackets')
  return { host: String(bracketed), port }
}

/**
 * As in libpq, a single port is every host's port, an absent port is PostgreSQL's default, and without any host it is
 * this machine.
 */
const pairHostsWithPorts = (hosts: readonly string[], ports: readonly string[]): readonly ServerAddress[] => {
  if (ports.length !== 1 && ports.length !== hosts.length) {
    throw new DatabaseUrlError('has not as many ports as hosts')
  }
  return hosts.map((host, index) => {
    const port = ports[ports.length === 1 ? 0 : index] || DEFAULT_PORT
    if (!/^[0-9]{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535) {
      throw new DatabaseUrlError('has a port that is no number from 1 to 65535')
    }
    const hostOrDefault = host === '' && hosts.length === 1 ? 'localhost' : host
    if (!/^(?:\/.*|[A-Za-z0-9._:-]+)$/.test(hostOrDefault))
      throw new DatabaseUrlError('has a host that is neither a name nor an address')
    return { host: hostOrDefault, port: Number(port) }
  })
}

const inUrl = ({ host, port }: ServerAddress): string =>
  // A URL cannot have a socket's folder as its host, so `localhost` stands for it.
  host.startsWith('/') ? `localhost:${port}` : `${isIPv6(host) ? `[${host}]` : host}:${port}`
