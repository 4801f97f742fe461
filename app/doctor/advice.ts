import { BlockList, isIPv6 } from 'node:net'
import type { Settings } from '../settings/settings.js'

export type Verdict = 'fine' | 'risky' | 'wrong'

/** What a check says of one setting or thing. */
export interface Finding {
  /** The setting or the thing that was checked. */
  readonly check: string
  readonly verdict: Verdict
  readonly message: string
  /** What to do. */
  readonly advice?: string
}

export type Judgement = Omit<Finding, 'check'>

export const fine = (message: string, advice?: string): Judgement => ({
  verdict: 'fine',
  message,
  ...(advice !== undefined && { advice })
})
export const risky = (message: string, advice: string): Judgement => ({ verdict: 'risky', message, advice })
export const wrong = (message: string, advice: string): Judgement => ({ verdict: 'wrong', message, advice })

/** As in `1 core` and `2 cores`. */
export const count = (number: number, one: string, many: string): string => `${number} ${number === 1 ? one : many}`

/** What is said of a database without an index for parts of the names of heroes. */
export const lacksNameIndex = ({ reason, remedy }: { readonly reason: string; readonly remedy: string }): Finding => ({
  check: 'pg_trgm',
  ...risky(`every hero is read to find a part of a name: ${reason}`, remedy)
})

/** What is judged of the settings, by the one that it is mostly about. */
const CHECKS: Readonly<Record<string, (settings: Settings, cores: number) => Judgement>> = {
  // The service speaks HTTP alone: beyond this machine nothing is secret unless something in front of it ends TLS.
  HOST: ({ host, publicUrl }) => {
    if (isThisMachine(host)) return fine(`${host} is reached from this machine alone`)
    if (isHttps(publicUrl)) return fine(`${host} may be reached from other machines, by the proxy in front`)
    if (publicUrl !== undefined && isThisMachine(hostOf(publicUrl))) {
      return fine(`${host} may be reached from other machines, but PUBLIC_URL is for this one`)
    }
    return risky(`${host} may be reached from other machines, and ${PLAIN}`, `${TLS_IN_FRONT}, or listen on 127.0.0.1`)
  },
  PUBLIC_URL: ({ publicUrl }) => {
    if (isHttps(publicUrl)) return fine(`${publicUrl} is reached over TLS`)
    if (publicUrl === undefined) return fine('unset: the service is for this machine alone')
    if (isThisMachine(hostOf(publicUrl))) return fine(`${publicUrl} is for this machine alone`)
    return risky(`${publicUrl} is http: ${PLAIN}`, TLS_IN_FRONT)
  },
  TRUST_PROXY: ({ trustProxy, publicUrl }) => {
    if (trustProxy === true) {
      return risky(
        'true believes the X-Forwarded-For of whoever connects, so anybody can pass for any address',
        "set it to the proxy's addresses, unless nobody but a proxy that replaces the header can connect"
      )
    }
    if (trustProxy !== false) return fine('only the named proxies are believed')
    if (!isHttps(publicUrl)) return fine('no forwarded header is believed')
    return risky(
      'false makes everybody behind the proxy one address, which shares one limit on logins',
      "set it to the addresses of the proxy that ends TLS, 'loopback' where it is on this machine"
    )
  },
  PROTECT_HEROES: ({ protectHeroes }) =>
    protectHeroes
      ? fine('the hero endpoints ask for a token')
      : risky('whoever can connect may read and change the heroes', 'leave it unset to ask for a token'),
  PASSWORD_MIN_LENGTH: ({ policy: { passwordMinLength: length } }) => {
    const characters = count(length, 'character', 'characters')
    return length >= 12
      ? fine(`passwords have at least ${characters}`)
      : risky(`passwords of ${characters} are allowed`, 'set it to 12 or more')
  },
  LOGIN_ATTEMPTS: ({ policy: { loginAttempts, loginWindowSeconds } }) =>
    loginAttempts === 0
      ? risky('passwords may be guessed without a limit', 'leave it unset for 10 attempts in 15 minutes')
      : fine(`${loginAttempts} logins per username and address in ${loginWindowSeconds} seconds`),
  REGISTRATION: ({ registrationOpen, policy: { registerAttempts: most, loginWindowSeconds } }) => {
    if (!registrationOpen) return fine('users come by the command line alone')
    return most === 0
      ? risky(
          'anybody may register any number of users, and find out which names are taken',
          'leave REGISTER_ATTEMPTS unset for 1000 in 15 minutes from one address, or set REGISTRATION to closed'
        )
      : fine(`${most} users per address in ${loginWindowSeconds} seconds`, 'closed where users are not to register')
  },
  REFRESH_GRACE: ({ policy: { refreshGraceSeconds: seconds } }) =>
    seconds === 0
      ? fine('0 is the strict form: a lost answer to a refresh costs the login')
      : fine(`a lost answer costs no login: a refresh may be repeated for ${seconds} seconds`, '0 is the strict form'),
  HASH_CONCURRENCY: ({ hashConcurrency: most }, cores) => {
    const machine = count(cores, 'core', 'cores')
    if (most === undefined) return fine(`chosen for this machine of ${machine}`)
    return most < cores || most === 1
      ? fine(`${most} at once on ${machine}`)
      : risky(`${most} at once on ${machine} leave none to requests during logins`, 'leave it unset')
  },
  WORKERS: ({ workers }, cores) =>
    workers === 1 || workers <= cores
      ? fine(`${count(workers, 'process serves', 'processes serve')} on ${count(cores, 'core', 'cores')}`)
      : risky(`${workers} processes wait for ${count(cores, 'core', 'cores')}`, 'auto is as many as cores'),
  DATABASE_URL: ({ database: { kind } }) => {
    const advice = 'for production name a PostgreSQL server, with backups'
    if (kind === 'memory') return risky('everything is gone when the process ends', advice)
    return kind === 'server'
      ? fine('it names a PostgreSQL server')
      : risky('unset is the embedded database, which may lose what it stored in a power cut', advice)
  }
}

type All = Settings & Settings['policy']
type Risk = readonly [check: string, isMet: (all: All) => boolean, message: string, advice: string]

const PRIVATE = new BlockList()
for (const [network, bits] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10]
] as const) {
  PRIVATE.addSubnet(network, bits)
}
PRIVATE.addSubnet('fc00::', 7, 'ipv6')
PRIVATE.addSubnet('fe80::', 10, 'ipv6')

/** Whether machines outside of a network of one's own may reach what listens there. */
const isOpen = (host: string): boolean => !isThisMachine(host) && !PRIVATE.check(host, isIPv6(host) ? 'ipv6' : 'ipv4')

/** What is told only where it is met. */
const RISKS: readonly Risk[] = [
  ['ACCESS_TOKEN_TTL', s => s.accessTokenSeconds > 86_400, 'a token that leaks is good for days', 'leave it unset'],
  ['CODE_TTL', s => s.codeSeconds > 600, 'a code that leaks is good for over ten minutes', 'leave it unset'],
  ['REFRESH_TOKEN_TTL', s => s.refreshTokenSeconds < s.accessTokenSeconds, 'it is below ACCESS_TOKEN_TTL', 'raise it'],
  ['GRANT_TTL', s => s.grantSeconds < s.refreshTokenSeconds, 'it is below REFRESH_TOKEN_TTL, and cuts it', 'raise it'],
  ['HASH_QUEUE', s => s.hashQueue > 1000, 'who is at its end waits five seconds for a 503', 'leave it unset'],
  ['LOG_LEVEL', s => /^(?:error|fatal|silent)$/.test(s.logLevel), 'the security log is hidden', 'set it to info'],
  ['METRICS_HOST', s => s.metricsPort !== undefined && isOpen(s.metricsHost), 'anybody may read figures', 'narrow it']
]

const PLAIN = 'passwords and tokens travel as plain text'
const TLS_IN_FRONT = 'put TLS in front and set PUBLIC_URL to its https address'

/** The other settings on which a check depends. */
const BESIDE: Readonly<Record<string, string>> = {
  HOST: 'PUBLIC_URL',
  TRUST_PROXY: 'PUBLIC_URL',
  PASSWORD_MIN_LENGTH: 'PUBLIC_URL',
  REGISTRATION: 'REGISTER_ATTEMPTS',
  REFRESH_TOKEN_TTL: 'ACCESS_TOKEN_TTL',
  GRANT_TTL: 'REFRESH_TOKEN_TTL'
}

/** What the settings are good for. `refused` names those whose value is not known, of which nothing is said. */
export const adviseOnSettings = (settings: Settings, refused: ReadonlySet<string>, cores: number): readonly Finding[] =>
  [
    ...Object.entries(CHECKS).map(([check, judge]) => ({ check, ...judge(settings, cores) })),
    ...RISKS.filter(([, isMet]) => isMet({ ...settings, ...settings.policy })).map(([check, , message, advice]) => ({
      check,
      ...risky(message, advice)
    })),
    ...misspeltSettings(settings)
  ].filter(({ check }) => !refused.has(check) && !refused.has(String(BESIDE[check])))

const misspeltSettings = ({ misspelt }: Pick<Settings, 'misspelt'>): readonly Finding[] =>
  misspelt.map(({ name, meant }) => ({
    check: name,
    ...risky('it is no setting, and has no effect', `write ${meant}`)
  }))

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
      : 'where others read that log, give the client another secret: heroes client rotate-secret local'
  )
})

/** A host that other machines cannot reach, as a name, an address or the folder of a Unix socket. */
export const isThisMachine = (host: string): boolean =>
  /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|::1|\[::1\]|\/.*)$/.test(host)

const isHttps = (publicUrl: string | undefined): boolean => publicUrl?.startsWith('https:') === true

const hostOf = (url: string): string => new URL(url).hostname
