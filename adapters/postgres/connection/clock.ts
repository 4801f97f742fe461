/** The clock of the database's server, read over the network and carried on by this machine's monotonic clock. */
export interface DatabaseClock {
  /** The time by the server. Before the first reading, by this machine. */
  now(): Date
  /** How far the server is ahead of this machine's own clock; negative where it is behind, 0 before the first reading. */
  offsetSeconds(): number
}

/** Runs one statement without values, and resolves with its rows. */
export type Ask = (statement: string) => Promise<unknown[][]>

/** A {@link DatabaseClock} and what keeps it right. */
interface ReadableClock extends DatabaseClock {
  /** Reads the time over `ask`, which sends its statement at once. A server that takes no writes leaves the clock as it is. */
  read(ask: Ask): Promise<void>
  close(): void
}

const READ_EVERY_MILLISECONDS = 60_000
const PARTED_MILLISECONDS = 1000

/**
 * The microseconds as a whole number: a role's `extra_float_digits` can take digits from any other. `transaction_read_only`
 * is on for a standby too.
 */
const TIME = `
  select (extract(epoch from clock_timestamp()) * 1000000)::int8
  where not current_setting('transaction_read_only')::boolean`

/** The clocks of this machine, in milliseconds. */
const MACHINE = { now: () => Date.now(), monotonic: () => performance.now() }

/**
 * A clock that calls `refresh`, which is to call `read`, every minute, and when this machine's own clock has parted from the
 * monotonic one by a second: someone has set it, or the machine was suspended and the monotonic clock stood still. The
 * latest reading counts, so that after a failover the new server's clock holds.
 */
export const createDatabaseClock = (refresh: () => Promise<unknown>, machine = MACHINE): ReadableClock => {
  /** The server's time, less the monotonic clock's. */
  let ahead: number | undefined
  const distance = (): number => machine.now() - machine.monotonic()
  let lastDistance = distance()
  // After a failure the next turn reads again.
  const refreshNow = (): void => void refresh().catch(() => {})
  const timer = setInterval(refreshNow, READ_EVERY_MILLISECONDS).unref()

  const now = (): number => {
    const current = distance()
    if (Math.abs(current - lastDistance) >= PARTED_MILLISECONDS) {
      lastDistance = current
      refreshNow()
    }
    return machine.monotonic() + (ahead ?? current)
  }

  return {
    now: () => new Date(now()),
    offsetSeconds: () => (now() - machine.now()) / 1000,
    async read(ask) {
      const sentAt = machine.monotonic()
      const [row] = await ask(TIME)
      // The server read its clock somewhere on the way. From the middle, the error is half the round trip at most.
      if (row !== undefined) ahead = Number(row[0]) / 1000 - (sentAt + machine.monotonic()) / 2
    },
    close: () => clearInterval(timer)
  }
}
