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

export const fine = (message: string): Judgement => ({ verdict: 'fine', message })
export const risky = (message: string, advice: string): Judgement => ({ verdict: 'risky', message, advice })
export const wrong = (message: string, advice: string): Judgement => ({ verdict: 'wrong', message, advice })

/** What is said of a database without an index for parts of the names of heroes. */
export const lacksNameIndex = ({ reason, remedy }: { readonly reason: string; readonly remedy: string }): Finding => ({
  check: 'pg_trgm',
  ...risky(`every hero is read to find a part of a name: ${reason}`, remedy)
})

interface SettingCheck {
  /** The other settings on which the judgement depends. */
  readonly beside?: readonly string[]
  judge(settings: Settings, cores: number): Judgement
  /** Whether `heroes serve` warns of what is risky here. It never does without this function. */
  readonly warns?: (settings: Settings) => boolean
}

// The service speaks HTTP alone: beyond this machine nothing is secret unless something in front of it ends TLS.
const CHECKS: Readonly<Record<string, SettingCheck>> = {
  HOST: {
    beside: ['PUBLIC_URL'],
    judge: ({ host, publicUrl }) => {
      if (isThisMachine(host)) return fine(`${host} is reached from this machine alone`)
      if (isHttps(publicUrl)) return fine(`${host} may be reached from other machines, by the proxy in front`)
      if (publicUrl !== undefined && isThisMachine(hostOf(publicUrl))) {
        return fine(`${host} may be reached from other machines, but PUBLIC_URL is for this one`)
      }
      return risky(
        `${host} may be reached from other machines, and passwords and tokens travel as plain text`,
        'put TLS in front and set PUBLIC_URL to its https address, or listen on 127.0.0.1'
      )
    },
    warns: () => true
  },
  PUBLIC_URL: {
    judge: ({ publicUrl }) => {
      if (isHttps(publicUrl)) return fine(`${publicUrl} is reached over TLS`)
      if (publicUrl === undefined) return fine('unset: the service is for this machine alone')
      if (isThisMachine(hostOf(publicUrl))) return fine(`${publicUrl} is for this machine alone`)
      return risky(
        `${publicUrl} is http: passwords and tokens travel as plain text`,
        'put TLS in front and set PUBLIC_URL to its https address'
      )
    }
  },
  TRUST_PROXY: {
    beside: ['PUBLIC_URL'],
    judge: ({ trustProxy, publicUrl }) => {
      if (trustProxy === true) {
        return risky(
          'true believes the X-Forwarded-For of whoever connects, so anybody can pass for any address',
          "set it to the proxy's addresses, unless nobody but a proxy that replaces the header can connect"
        )
      }
      if (trustProxy === false && isHttps(publicUrl)) {
        return risky(
          'false makes everybody behind the proxy one address, which shares one limit on logins',
          "set it to the addresses of the proxy that ends TLS, 'loopback' where it is on this machine"
        )
      }
      return fine(trustProxy === false ? 'no forwarded header is believed' : 'only the named proxies are believed')
    },
    warns: ({ trustProxy }) => trustProxy === true
  },
  PROTECT_HEROES: {
    judge: ({ protectHeroes }) =>
      protectHeroes
        ? fine('the hero endpoints ask for a token')
        : risky('whoever can connect may read and change the heroes', 'leave it unset to ask for a token')
  },
  PASSWORD_MIN_LENGTH: {
    beside: ['PUBLIC_URL'],
    judge: ({ policy: { passwordMinLength: length } }) =>
      length >= 12
        ? fine(`passwords have at least ${length} characters`)
        : risky(
            `passwords of ${length} ${length === 1 ? 'character' : 'characters'} are allowed`,
            'set it to 12 or more'
          ),
    warns: ({ publicUrl }) => isHttps(publicUrl)
  },
  LOGIN_ATTEMPTS: {
    judge: ({ policy: { loginAttempts, loginWindowSeconds } }) =>
      loginAttempts === 0
        ? risky('passwords may be guessed without a limit', 'leave it unset for 10 attempts in 15 minutes')
        : fine(`${loginAttempts} logins per username and address in ${loginWindowSeconds} seconds`)
  },
  REGISTRATION: {
    beside: ['REGISTER_ATTEMPTS'],
    judge: ({ registrationOpen, policy: { registerAttempts, loginWindowSeconds } }) => {
      if (!registrationOpen) return fine('users come by the command line alone')
      if (registerAttempts === 0) {
        return risky(
          'anybody may register any number of users, and find out which names are taken',
          'leave REGISTER_ATTEMPTS unset for 1000 in 15 minutes from one address, or set REGISTRATION to closed'
        )
      }
      return {
        ...fine(`an address may register ${registerAttempts} users in ${loginWindowSeconds} seconds`),
        advice: 'closed where users are not to register themselves'
      }
    }
  },
  REFRESH_GRACE: {
    judge: ({ policy: { refreshGraceSeconds: seconds } }) =>
      seconds === 0
        ? fine('0 is the strict form: a lost answer to a refresh costs the login')
        : {
            ...fine(`a refresh may be repeated for ${seconds} seconds, so that a lost answer costs no login`),
            advice: '0 is the strict form'
          }
  },
  HASH_CONCURRENCY: {
    judge: ({ hashConcurrency }, cores) => {
      const machine = `${cores} ${cores === 1 ? 'core' : 'cores'}`
      if (hashConcurrency === undefined) return fine(`chosen for this machine of ${machine}`)
      return hashConcurrency < cores || hashConcurrency === 1
        ? fine(`${hashConcurrency} at once on ${machine}`)
        : risky(`${hashConcurrency} at once on ${machine} leave none to requests during logins`, 'leave it unset')
    }
  },
  WORKERS: {
    judge: ({ workers }, cores) => {
      if (workers === 1) return fine('one process serves')
      return workers <= cores
        ? fine(`${workers} processes on ${cores} cores`)
        : risky(`${workers} processes wait for ${cores} ${cores === 1 ? 'core' : 'cores'}`, 'auto is as many as cores')
    }
  },
  DATABASE_URL: {
    judge: ({ database: { kind } }) => {
      const advice = 'for production name a PostgreSQL server, with backups'
      if (kind === 'memory') return risky('everything is gone when the process ends', advice)
      if (kind === 'embedded') {
        return risky('unset is the embedded database, which may lose what it stored in a power cut', advice)
      }
      return fine('it names a PostgreSQL server')
    }
  }
}

/** What the settings are good for. `refused` names those whose value is not known, of which nothing is said. */
export const adviseOnSettings = (settings: Settings, refused: ReadonlySet<string>, cores: number): readonly Finding[] =>
  Object.entries(CHECKS)
    .filter(([check, { beside = [] }]) => ![check, ...beside].some(name => refused.has(name)))
    .map(([check, { judge }]) => ({ check, ...judge(settings, cores) }))

/** What `heroes serve` warns of at its start. */
export const startWarnings = (settings: Settings): readonly Finding[] =>
  Object.entries(CHECKS)
    .filter(([, { warns }]) => warns?.(settings))
    // Nothing that it warns of depends on the cores.
    .map(([check, { judge }]) => ({ check, ...judge(settings, 1) }))
    .filter(({ verdict }) => verdict === 'risky')

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
