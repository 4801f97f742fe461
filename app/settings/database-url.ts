import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'

interface ServerAddress {
  /** A host name, an address (IPv6 without brackets) or the folder of a Unix socket. */
  readonly host: string
  readonly port: number
}

export interface ServerUrl {
  /** The given URL with its first host alone, and of its parameters with `options` alone. */
  readonly url: string
  /** In the order in which the URL names them. */
  readonly hosts: readonly ServerAddress[]
  readonly tls: {
    readonly mode: SslMode
    /** The certificates in the file of `sslrootcert`, as PEM. Undefined for Node's own. */
    readonly authorities: string | undefined
  }
  /** Which servers are good enough. */
  readonly target: Target
  /** How long a host may take to answer. */
  readonly connectTimeoutSeconds: number
}

// The adapter for PostgreSQL has these words too. This file does not import it, as no file of this folder
// but compose.ts does. Where a word here is none of the adapter's, compose.ts does not compile.
const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
type SslMode = (typeof SSL_MODES)[number]

const TARGETS = ['any', 'read-write', 'primary'] as const
type Target = (typeof TARGETS)[number]

const DEFAULT_PORT = '5432'
// As in the adapter's hosts.ts.
const DEFAULT_CONNECT_SECONDS = 2

/**
 * The parameters that have an effect, each with the values that it may have. `gssencmode` has none with these values; with
 * `require` it asks for encryption by GSSAPI, which is not here.
 */
const ALLOWED_VALUES: Readonly<Record<string, RegExp>> = {
  sslmode: new RegExp(`^(?:${SSL_MODES.join('|')})$`),
  sslrootcert: /./,
  gssencmode: /^(?:disable|prefer)$/,
  target_session_attrs: /^(?:any|read-write|primary|read-only|standby|prefer-standby)$/,
  connect_timeout: /^[0-9]{1,4}$/,
  options: /./,
  host: /./,
  port: /^[0-9,]+$/
}

/** Parameters of libpq that are accepted and left out: this service sets what they set, or does without it. */
const WITHOUT_EFFECT =
  /^(?:(?:fallback_)?application_name|client_encoding|gssdelegation|gsslib|keepalives(?:_count|_idle|_interval)?|krbsrvname|sslcompression|sslsni|tcp_user_timeout)$/

/**
 * Reads the URL of a PostgreSQL server, or of several, as libpq does, or `memory:`. The message of a refusal repeats
 * nothing of the URL but the name of a parameter, since any other part may be a password.
 *
 * By hand: postgres.js takes the rest of a password with a `/` or `?` in it for a host or a parameter, ignores parameters
 * that it does not know, and repeats the URL in its errors.
 */
export const databaseUrl = (value: string): ServerUrl | 'memory:' => {
  if (value === 'memory:') return value
  const [, scheme, givenUserInfo, hostList = '', path = '', query = ''] =
    /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/.exec(value) ?? []
  if (!/^postgres(?:ql)?:\/\//.test(value)) {
    throw new Error('must be memory: or a URL that begins with postgres:// or postgresql://')
  }
  // An unescaped character of the password ended the user info too early. The rest of the password would be read as a
  // host, a database or a parameter.
  if (scheme === undefined || path.includes('@') || query.includes('@')) {
    throw new Error("is no URL: in a user name or password '/', '?', '#' and '@' are written %2F, %3F, %23 and %40")
  }
  const userInfo = givenUserInfo === undefined ? '' : `${givenUserInfo}@`
  for (const part of [userInfo, hostList, path, query]) requireEscapes(part)
  const parameters = [...new URLSearchParams(query)]
  const given: Given = Object.fromEntries(parameters)
  const inHostList = hostList.split(',').map(readHostAndPort)
  const hosts = pairHostsWithPorts(
    given.host?.split(',') ?? inHostList.map(({ host }) => host),
    given.port?.split(',') ?? inHostList.map(({ port }) => port)
  )
  // After the hosts: without a host behind it, a password with a `?` is read as a port and the name of a parameter.
  for (const [name, text] of parameters) requireParameter(name, text)
  if (hosts.length > 1 && givenUserInfo?.includes('@')) {
    throw new Error("is no URL: in a user name or password '@' is written %40")
  }
  const options = parameters.filter(([name]) => name === 'options')
  return {
    url: `${scheme}${userInfo}${hosts.slice(0, 1).map(inUrl)}${path}${options.length > 0 ? `?${new URLSearchParams(options)}` : ''}`,
    hosts,
    tls: readTls(given),
    target: readTarget(given, hosts.length),
    // 0 means the default here. In libpq it means no limit.
    connectTimeoutSeconds: Number(given.connect_timeout ?? 0) || DEFAULT_CONNECT_SECONDS
  }
}

type Given = Readonly<Record<string, string | undefined>>

/** As in libpq, the authorities of the system are for `verify-full` alone: they sign certificates for everybody. */
const readTls = ({ sslmode, sslrootcert }: Given): ServerUrl['tls'] => {
  const mode = SSL_MODES.find(word => word === sslmode)
  if (sslrootcert === 'system') {
    if (mode !== undefined && mode !== 'verify-full') {
      throw new Error("has 'sslrootcert=system', which needs 'sslmode=verify-full'")
    }
    return { mode: 'verify-full', authorities: undefined }
  }
  return { mode: mode ?? 'prefer', authorities: sslrootcert === undefined ? undefined : readAuthorities(sslrootcert) }
}

const readAuthorities = (file: string): string => {
  const refuse = (why: string): never => {
    throw new Error(`has the parameter 'sslrootcert', whose file ${why}`)
  }
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    return refuse(`cannot be read (${Object(error).code})`)
  }
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  try {
    for (const certificate of certificates) new X509Certificate(certificate)
  } catch {
    refuse('has a certificate that cannot be read')
  }
  return certificates.length > 0 ? text : refuse('has no certificate as PEM')
}

const readTarget = ({ target_session_attrs: given }: Given, hosts: number): Target => {
  if (given === undefined) return hosts > 1 ? 'read-write' : 'any'
  const target = TARGETS.find(word => word === given)
  if (target === undefined) {
    throw new Error(
      "has a 'target_session_attrs' that prefers servers without writes, but must be any, read-write or primary"
    )
  }
  return target
}

const requireEscapes = (part: string): void => {
  try {
    decodeURIComponent(part)
  } catch {
    throw new Error("has a '%' that begins no character: in a user name or password '%' is written %25")
  }
}

const requireParameter = (name: string, text: string): void => {
  if (WITHOUT_EFFECT.test(name)) return
  const allowed = Object.hasOwn(ALLOWED_VALUES, name) ? ALLOWED_VALUES[name] : undefined
  if (allowed === undefined) {
    const shown = /^[a-z_]{1,40}$/.test(name) ? ` '${name}'` : ''
    throw new Error(
      `has the parameter${shown}, which is not understood; those that are: ${Object.keys(ALLOWED_VALUES).join(', ')}`
    )
  }
  if (!allowed.test(text)) throw new Error(`has a value of the parameter '${name}' that is not understood`)
}

const readHostAndPort = (text: string): { readonly host: string; readonly port: string } => {
  const [, bracketed, plain, port = ''] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(.*))?$/.exec(text) ?? []
  if (plain !== undefined) return { host: decodeURIComponent(plain), port }
  if (!isIPv6(String(bracketed))) throw new Error('has no address of IPv6 between its brackets')
  return { host: String(bracketed), port }
}

/**
 * As in libpq, a single port is every host's port, an absent port is PostgreSQL's default, and without any host it is
 * this machine.
 */
const pairHostsWithPorts = (hosts: readonly string[], ports: readonly string[]): readonly ServerAddress[] => {
  if (ports.length !== 1 && ports.length !== hosts.length) throw new Error('has not as many ports as hosts')
  return hosts.map((host, index) => {
    const port = ports[ports.length === 1 ? 0 : index] || DEFAULT_PORT
    if (!/^[0-9]{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535) {
      throw new Error('has a port that is no number from 1 to 65535')
    }
    const hostOrDefault = host === '' && hosts.length === 1 ? 'localhost' : host
    if (!/^(?:\/.*|[A-Za-z0-9._:-]+)$/.test(hostOrDefault))
      throw new Error('has a host that is neither a name nor an address')
    return { host: hostOrDefault, port: Number(port) }
  })
}

const inUrl = ({ host, port }: ServerAddress): string =>
  // A URL cannot have a socket's folder as its host, so `localhost` stands for it.
  host.startsWith('/') ? `localhost:${port}` : `${isIPv6(host) ? `[${host}]` : host}:${port}`
