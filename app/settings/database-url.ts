import { createPrivateKey, X509Certificate } from 'node:crypto'
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
    /** What this side shows to a server that asks for it: the files of `sslcert` and `sslkey`, as PEM. */
    readonly own?: { readonly certificate: string; readonly key: string }
  }
  /** Which servers are good enough. */
  readonly target: Target
  /** How long a host may take to answer. */
  readonly connectTimeoutSeconds: number
}

// The adapter for PostgreSQL has these words too. In app/ compose.ts alone imports adapters, and it does not compile where a
// word here is none of the adapter's.
const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
type SslMode = (typeof SSL_MODES)[number]

const TARGETS = ['any', 'read-write', 'primary'] as const
type Target = (typeof TARGETS)[number]

const DEFAULT_PORT = '5432'
// As in the adapter's hosts.ts.
const DEFAULT_CONNECT_SECONDS = 2

/**
 * The parameters that are understood, each with the values that it may have, and what to write instead of another one. Those
 * behind `options` have no effect with these values: with others they ask for what is not here.
 */
const PARAMETERS: Readonly<Record<string, readonly [values: RegExp, instead: string]>> = {
  sslmode: [new RegExp(`^(?:${SSL_MODES.join('|')})$`), `one of ${SSL_MODES.join(', ')}`],
  sslrootcert: [/./, 'the path of a file, or system'],
  sslcert: [/./, 'the path of a file'],
  sslkey: [/./, 'the path of a file'],
  target_session_attrs: [new RegExp(`^(?:${TARGETS.join('|')})$`), 'any, read-write or primary, as the service writes'],
  connect_timeout: [/^[0-9]{1,4}$/, 'a number of seconds'],
  host: [/./, 'a host'],
  port: [/^[0-9,]+$/, 'a number'],
  options: [/./, '-c search_path=NAME, for example'],
  channel_binding: [/^(?:disable|prefer)$/, 'prefer, and sslmode=verify-full to keep out whoever stands in between'],
  gssencmode: [/^(?:disable|prefer)$/, 'prefer, and sslmode=verify-full to have the connection encrypted'],
  load_balance_hosts: [/^disable$/, 'disable: the first host that is good enough is taken'],
  sslnegotiation: [/^postgres$/, 'postgres'],
  ssl_min_protocol_version: [/^TLSv1(?:\.[12])?$/, 'TLSv1.2']
}

/** Parameters of libpq that are accepted and left out: this service sets what they set, or does without it. */
const WITHOUT_EFFECT =
  /^(?:(?:fallback_)?application_name|client_encoding|gssdelegation|gsslib|keepalives(?:_count|_idle|_interval)?|krbsrvname|sslcompression|sslsni|tcp_user_timeout)$/

/** What to write instead of parameters that other programs understand, or libpq alone. */
const INSTEAD: Readonly<Record<string, string>> = {
  connection_limit: 'DATABASE_POOL',
  dbname: 'the database behind the host, as in postgres://user@host/database',
  password: 'the password before the host, as in postgres://user:password@host/database',
  pgbouncer: 'DATABASE_PREPARE=false',
  schema: 'options=-c search_path=NAME',
  ssl: 'sslmode=verify-full',
  sslpassword: 'a file in sslkey whose key has no passphrase',
  user: 'the user before the host, as in postgres://user@host/database'
}

/**
 * Reads the URL of a PostgreSQL server, or of several, as libpq does, or `memory:`. The message of a refusal repeats
 * nothing of the URL but the name of a parameter, since any other part may be a password.
 *
 * By hand: postgres.js takes the rest of a password with a `/` or `?` in it for a host or a parameter, ignores parameters
 * that it does not know, and repeats the URL in its errors.
 */
export const databaseUrl = (text: string): ServerUrl | 'memory:' => {
  const value = text.trim()
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
  for (const [name, given] of parameters) requireParameter(name, given)
  if (givenUserInfo?.includes('@') && (hosts.length > 1 || /[,$]/.test(givenUserInfo))) {
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

/** {@link databaseUrl}, of the text in a file. */
export const databaseUrlInFile = (file: string): ServerUrl | 'memory:' =>
  inFile(`is '${file}', whose content`, file, databaseUrl)

/** What `read` makes of the text of a file. Of an error, the message follows the words in `of`. */
const inFile = <T>(of: string, file: string, read: (text: string) => T): T => {
  try {
    return read(readFileSync(file, 'utf8'))
  } catch (error) {
    const { code, message } = Object(error)
    throw new Error(`${of} ${code === undefined ? message : `cannot be read (${code})`}`)
  }
}

/** {@link inFile}, of the file that a parameter of the URL names. */
const inFileOf = <T>(parameter: string, file: string, read: (text: string) => T): T =>
  inFile(`has the parameter '${parameter}', whose file`, file, read)

/** As in libpq, the authorities of the system are for `verify-full` alone: they sign certificates for everybody. */
const readTls = ({ sslmode, sslrootcert, sslcert, sslkey }: Given): ServerUrl['tls'] => {
  const mode = SSL_MODES.find(word => word === sslmode)
  const own = readOwn(sslcert, sslkey)
  if (sslrootcert === 'system') {
    if (mode !== undefined && mode !== 'verify-full') {
      throw new Error("has 'sslrootcert=system', which needs 'sslmode=verify-full'")
    }
    return { mode: 'verify-full', authorities: undefined, ...own }
  }
  const authorities = sslrootcert === undefined ? undefined : readCertificates('sslrootcert', sslrootcert)
  return { mode: mode ?? 'prefer', authorities, ...own }
}

const readCertificates = (parameter: string, file: string): string =>
  inFileOf(parameter, file, text => {
    const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)
    if (certificates === null) throw new Error('has no certificate as PEM')
    orThrow('has a certificate that cannot be read', () => certificates.map(each => new X509Certificate(each)))
    return text
  })

const readOwn = (sslcert: string | undefined, sslkey: string | undefined): Pick<ServerUrl['tls'], 'own'> => {
  if (sslcert === undefined && sslkey === undefined) return {}
  if (sslcert === undefined || sslkey === undefined)
    throw new Error("has only one of 'sslcert' and 'sslkey': name both")
  const certificate = readCertificates('sslcert', sslcert)
  const key = inFileOf('sslkey', sslkey, text => {
    const key = orThrow('has no key as PEM, or one with a passphrase', () => createPrivateKey(text))
    if (new X509Certificate(certificate).checkPrivateKey(key)) return text
    throw new Error("has another key than that of the certificate in 'sslcert'")
  })
  return { own: { certificate, key } }
}

const readTarget = ({ target_session_attrs: given }: Given, hosts: number): Target =>
  TARGETS.find(word => word === given) ?? (hosts > 1 ? 'read-write' : 'any')

const requireEscapes = (part: string): void => {
  orThrow("has a '%' that begins no character: in a user name or password '%' is written %25", () =>
    decodeURIComponent(part)
  )
}

/** Throws an error with this message where `read` throws. */
const orThrow = <T>(message: string, read: () => T): T => {
  try {
    return read()
  } catch {
    throw new Error(message)
  }
}

const requireParameter = (name: string, given: string): void => {
  if (WITHOUT_EFFECT.test(name)) return
  const parameter = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined
  if (parameter === undefined) {
    const shown = /^[a-z_]{1,40}$/.test(name) ? ` '${name}'` : ''
    const those = `; those that are: ${Object.keys(PARAMETERS).join(', ')}; leave it out`
    const advice = Object.hasOwn(INSTEAD, name) ? `; write instead: ${INSTEAD[name]}` : those
    throw new Error(`has the parameter${shown}, which is not understood${advice}`)
  }
  const [values, instead] = parameter
  if (!values.test(given)) {
    throw new Error(`has a value of the parameter '${name}' that is not understood; write instead: ${instead}`)
  }
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
