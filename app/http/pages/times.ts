import { type Html, html } from './html.js'
import type { Texts } from './texts.js'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The unit in which a duration is told, with its length in seconds. */
const unitOf = (seconds: number) =>
  seconds < 2 * HOUR
    ? (['minute', MINUTE] as const)
    : seconds < 2 * DAY
      ? (['hour', HOUR] as const)
      : (['day', DAY] as const)

const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'UTC', timeZoneName: 'short' } as const
const CALENDAR = { day: 'numeric', month: 'long', year: 'numeric' } as const

/** Says when something was. The server does not know in which time zone the person is, so the time is UTC's and says so. */
export const timeOf = (at: Date, { locale }: Texts): Html => {
  const time = new Intl.DateTimeFormat(locale, { ...CALENDAR, ...CLOCK }).format(at)
  return html`<time datetime="${at.toISOString()}">${time}</time>`
}

/**
 * Says in how much time something is possible, rounded up to a whole minute, hour or day, and from what time on, rounded up
 * to a whole minute. The time is UTC's, as in {@link timeOf}.
 */
export const retryTime = (seconds: number, now: Date, { locale }: Texts): { wait: string; time: Html } => {
  const [unit, length] = unitOf(seconds)
  const wait = new Intl.RelativeTimeFormat(locale).format(Math.ceil(seconds / length), unit)
  const at = new Date(Math.ceil((now.getTime() / 1000 + seconds) / MINUTE) * MINUTE * 1000)
  const time = new Intl.DateTimeFormat(locale, { ...CLOCK, ...(unit !== 'minute' && CALENDAR) }).format(at)
  return { wait, time: html`<time datetime="${at.toISOString()}">${time}</time>` }
}
