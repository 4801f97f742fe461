import { BlockList, isIPv6 } from 'node:net'
import type { Settings } from '../settings/settings.js'

type Verdict = 'fine' | 'risky' | 'wrong'

/** What a check says of one setting or thing. */
export interface Finding {
  /** The setting or the thing that was checked. */
  readonly check: string
  readonly verdict: Verdict
  readonly message: string
  /** What to do. */
  readonly advice?: string
}

type Judgement = Omit<Finding, 'check'>

export const fine = (message: string): Judgement => ({ verdict: 'fine', message })
export const risky = (message: string, advice: string): Judgement => ({ verdict: 'risky', message, advice })
export const wrong = (message: string, advice: string): Judgement => ({ verdict: 'wrong', message, advice })

/** By how many seconds this machine's clock may differ from the database's before an operator is told. */
export const MOST_OFFSET_SECONDS = 5

/** As in `1 core` and `2 cores`. */
export const count = (number: number, one: string, many: string): string => `${number} ${number === 1 ? one : many}`

type Text<Facts> = string | ((facts: Facts) => string)
/**
 * What may be said of a check. Without advice it is fine, with advice risky, unless the verdict says more. No message:
 * nothing is said.
 */
export type Line<Facts> = readonly [
  check: string,
  isSo: (facts: Facts) => boolean,
  message: Text<Facts>,
  advice?: Text<Facts>,
  verdict?: Verdict
]
export const otherwise = (): boolean => true

/** Says of each check the first line that holds. */
export const firstLines = <Facts>(lines: readonly Line<Facts>[], facts: Facts): readonly Finding[] => {
  const said = new Map<string, Finding>()
  const textOf = (text: Text<Facts>): string => (typeof text === 'string' ? text : text(facts))
  for (const [check, isSo, text, given, verdict = given === undefined ? 'fine' : 'risky'] of lines) {
    if (said.has(check) || !isSo(facts)) continue
    said.set(check, { check, verdict, message: textOf(text), ...(given !== undefined && { advice: textOf(given) }) })
  }
  return [...said.values()].filter(({ message }) => message !== '')
}

/** What is said of a database without an index for parts of the names of heroes. */
export const lacksNameIndex = ({ reason, remedy }: { readonly reason: string; readonly remedy: string }): Finding => ({
  check: 'pg_trgm',
  ...risky(`every hero is read to find a part of a name: ${reason}`, `${remedy}; then restart the service`)
})

type All = Settings & Settings['policy'] & { readonly cores: number }
const PLAIN = 'other machines may reach it, and passwords and tokens travel as plain text'
const TLS = 'put TLS in front and set PUBLIC_URL to its https address'
const PROXY = "set it to the addresses of the proxy, 'loopback' where it is on this machine"
const METRICS = 'set it to an address that Prometheus alone reaches'
const SERVER = 'for production name a PostgreSQL server, with backups'

const LINES: readonly Line<All>[] = [
  ['HOST', s => isThisMachine(s.host), 'it is reached from this machine alone'],
  ['HOST', s => isHttps(s.publicUrl), 'other machines may reach it, by the proxy in front'],
  ['HOST', s => isLocalUrl(s.publicUrl), 'other machines may reach it, but PUBLIC_URL is for this one'],
  // The service speaks HTTP alone.
  ['HOST', otherwise, PLAIN, `${TLS}, or listen on 127.0.0.1`],
  ['PUBLIC_URL', s => isHttps(s.publicUrl), 'it is reached over TLS'],
  ['PUBLIC_URL', s => s.publicUrl === undefined || isLocalUrl(s.publicUrl), 'it is for this machine alone'],
  ['PUBLIC_URL', otherwise, PLAIN, TLS],
  ['TRUST_PROXY', s => s.trustProxy === true, 'whoever connects can pass for any address', PROXY],
  ['TRUST_PROXY', s => s.trustProxy !== false, 'only the named proxies are believed'],
  ['TRUST_PROXY', s => !isHttps(s.publicUrl), 'no forwarded header is believed'],
  ['TRUST_PROXY', otherwise, 'everybody behind the proxy shares one limit on logins', PROXY],
  ['PROTECT_HEROES', s => s.protectHeroes, 'the hero endpoints ask for a token'],
  [
    'PROTECT_HEROES',
    otherwise,
    'whoever can connect may read and change the heroes',
    'leave it unset to ask for a token'
  ],
  ['PASSWORD_MIN_LENGTH', s => s.passwordMinLength >= 12, s => `passwords have ${characters(s)} or more`],
  ['PASSWORD_MIN_LENGTH', otherwise, s => `passwords of ${characters(s)} are allowed`, 'set it to 12 or more'],
  ['LOGIN_ATTEMPTS', s => s.loginAttempts > 0, s => `${s.loginAttempts} per username and address ${perWindow(s)}`],
  ['LOGIN_ATTEMPTS', otherwise, 'passwords may be guessed without a limit', 'leave it unset for 10 in 15 minutes'],
  ['REGISTRATION', s => !s.registrationOpen, 'users come by the command line alone'],
  ['REGISTRATION', s => s.registerAttempts > 0, s => `${s.registerAttempts} users per address ${perWindow(s)}`],
  ['REGISTRATION', otherwise, 'anybody may register any number of users', 'leave REGISTER_ATTEMPTS unset, or close it'],
  ['REFRESH_GRACE', s => s.refreshGraceSeconds === 0, 'the strict form: a lost answer to a refresh costs the login'],
  ['REFRESH_GRACE', otherwise, 'a lost answer to a refresh costs no login; 0 is the strict form'],
  ['ACCESS_TOKEN_TTL', s => s.accessTokenSeconds > 86_400, 'a token that leaks is good for days', 'leave it unset'],
  ['CODE_TTL', s => s.codeSeconds > 600, 'a code that leaks is good for over ten minutes', 'leave it unset'],
  ['REFRESH_TOKEN_TTL', s => s.refreshTokenSeconds < s.accessTokenSeconds, 'it is below ACCESS_TOKEN_TTL', 'raise it'],
  ['GRANT_TTL', s => s.grantSeconds < s.refreshTokenSeconds, 'it is below REFRESH_TOKEN_TTL, and cuts it', 'raise it'],
  ['HASH_CONCURRENCY', s => s.hashConcurrency === undefined, s => `chosen for ${coresOf(s)}`],
  ['HASH_CONCURRENCY', s => isModest(s), s => `${s.hashConcurrency} at once on ${coresOf(s)}`],
  ['HASH_CONCURRENCY', otherwise, s => `during logins none of ${coresOf(s)} is left to requests`, 'leave it unset'],
  ['HASH_QUEUE', s => s.hashQueue > 1000, 'the last in the queue wait over four seconds for a 503', 'leave it unset'],
  ['METRICS_HOST', s => s.metricsPort !== undefined && isOpen(s.metricsHost), 'anybody may read the metrics', METRICS],
  ['LOG_LEVEL', s => /^(?:error|fatal|silent)$/.test(s.logLevel), 'the security log is hidden', 'set it to info'],
  ['WORKERS', s => s.workers === 1 || s.workers <= s.cores, s => `${s.workers} on ${coresOf(s)}`],
  ['WORKERS', otherwise, s => `${s.workers} processes wait for ${coresOf(s)}`, 'auto is as many as cores'],
  ['DATABASE_URL', s => s.database.kind === 'server', 'it names a PostgreSQL server'],
  ['DATABASE_URL', s => s.database.kind === 'memory', 'everything is gone when the process ends', SERVER],
  ['DATABASE_URL', otherwise, 'the embedded database may lose in a power cut what it stored', SERVER]
]

const characters = ({ passwordMinLength: length }: All): string => count(length, 'character', 'characters')
const perWindow = ({ loginWindowSeconds }: All): string => `in ${loginWindowSeconds} seconds`
const coresOf = ({ cores }: All): string => count(cores, 'core', 'cores')
const isModest = ({ hashConcurrency = 1, cores }: All): boolean => hashConcurrency === 1 || hashConcurrency < cores

/** The other settings on which a check depends. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  HOST: ['PUBLIC_URL'],
  TRUST_PROXY: ['PUBLIC_URL'],
  LOGIN_ATTEMPTS: ['LOGIN_WINDOW'],
  REGISTRATION: ['REGISTER_ATTEMPTS', 'LOGIN_WINDOW'],
  WORKERS: ['DATABASE_URL', 'DATABASE_URL_FILE'],
  DATABASE_URL: ['DATABASE_URL_FILE'],
  REFRESH_TOKEN_TTL: ['ACCESS_TOKEN_TTL'],
  GRANT_TTL: ['REFRESH_TOKEN_TTL']
}

/** What the settings are good for. `refused` names those whose value is not known, of which nothing is said. */
export const adviseOnSettings = (
  settings: Settings,
  refused: ReadonlySet<string>,
  cores: number
): readonly Finding[] => {
  const lines = LINES.filter(([check]) => ![check, ...(BESIDE[check] ?? [])].some(name => refused.has(name)))
  const misspelt = settings.misspelt.map(({ name: check, meant }) => ({
    check,
    ...risky('it is no setting, and has no effect', `write ${meant}`)
  }))
  return [...firstLines(lines, { ...settings, ...settings.policy, cores }), ...misspelt]
}

/** What `heroes serve` warns of at its start. */
export const startWarnings = (settings: Settings): readonly Finding[] => {
  const warns = new Set(['HOST'])
  if (isHttps(settings.publicUrl)) warns.add('PASSWORD_MIN_LENGTH')
  if (settings.trustProxy === true) warns.add('TRUST_PROXY')
  // Nothing that it warns of depends on the cores.
  const findings = adviseOnSettings(settings, new Set(), 1)
  for (const { name } of settings.misspelt) warns.add(name)
  return findings.filter(({ check, verdict }) => warns.has(check) && verdict === 'risky')
}

/** What `heroes serve` says after it has printed a first client's secret to what is no terminal. */
export const keptSecret = ({ database }: Pick<Settings, 'database'>): Finding => ({
  check: 'first client',
  ...risky(
    'its secret was printed to standard output, which is no terminal, so a log may keep it',
    database.kind === 'memory'
      ? 'where others read that log, start the service in a terminal: a new start on memory: makes a new secret'
      : 'where others read that log, give the client another secret: npx heroes client rotate-secret local'
  )
})

/** A host that other machines cannot reach, as a name, an address or the folder of a Unix socket. */
export const isThisMachine = (host: string): boolean =>
  /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|::1|\[::1\]|\/.*)$/.test(host)

const PRIVATE = new BlockList()
PRIVATE.addSubnet('10.0.0.0', 8)
PRIVATE.addSubnet('172.16.0.0', 12)
PRIVATE.addSubnet('192.168.0.0', 16)
PRIVATE.addSubnet('100.64.0.0', 10)
PRIVATE.addSubnet('fc00::', 7, 'ipv6')

/** Whether machines outside of a network of one's own may reach what listens there. */
const isOpen = (host: string): boolean => !isThisMachine(host) && !PRIVATE.check(host, isIPv6(host) ? 'ipv6' : 'ipv4')

const isHttps = (publicUrl: string | undefined): boolean => publicUrl?.startsWith('https:') === true

const isLocalUrl = (publicUrl: string | undefined): boolean =>
  publicUrl !== undefined && isThisMachine(new URL(publicUrl).hostname)
