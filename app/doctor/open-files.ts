import type { Settings } from '../settings/settings.js'
import { type Finding, risky } from './advice.js'

const MOST = 10_000
/** However low the limit is, the service can be reached. */
const LEAST = 16
/** Too few for a service that many use. */
const FEW = 1000

/** Files that a process has open beside its connections: its own, and those of the embedded engine, which closes some in need. */
const OWN = 50
const ENGINE = 200

/** As POSIX systems have it; NaN where there is no limit. The report takes some ten milliseconds to make. */
const readLimit = (): number => Number(Object(Object(process.report?.getReport()).userLimits?.open_files).soft)

/** How many connections of clients a process takes at a time: what its limit on open files leaves. */
export const connectionsFor = ({ database }: Pick<Settings, 'database'>, limit = readLimit()): number => {
  if (Number.isNaN(limit)) return MOST
  const ofDatabase = database.kind === 'server' ? database.pool : database.kind === 'embedded' ? ENGINE : 0
  return Math.max(LEAST, Math.min(MOST, limit - OWN - ofDatabase))
}

/** What is said of so many connections, if they are too few. */
export const fewConnections = (connections: number): readonly Finding[] => {
  if (connections >= FEW) return []
  const message = `the limit on open files leaves ${connections} connections, and others are closed at once`
  return [{ check: 'open files', ...risky(message, RAISE) }]
}

/** What to do about a low limit. */
export const RAISE = 'raise the limit, with ulimit -n or LimitNOFILE of systemd'
