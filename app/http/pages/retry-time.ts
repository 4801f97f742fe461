import { type Html, html } from './html.js'
import type { Texts } from './texts.js'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/**
 * Says in how much time something is possible and from what time on, both rounded up to a whole minute, hour or day. The
 * server does not know in which time zone the person is, so the time is UTC's and says so.
 */
export const retryTime = (seconds: number, now: Date, { locale }: Texts): { wait: string; time: Html } => {
  const [unit, length] =
    seconds < 2 * HOUR
      ? (['minute', MINUTE] as const)
      : seconds < 2 * DAY
        ? (['hour', HOUR] as const)
        : (['day', DAY] as const)
  const wait = new Intl.RelativeTimeFormat(locale).format(Math.ceil(seconds / length), unit)
  const at = new Date(Math.ceil((now.getTime() / 1000 + seconds) / MINUTE) * MINUTE * 1000)
  const format = new Intl.DateTimeFormat(locale, {
    ...(unit !== 'minute' && { day: 'numeric', month: 'long', year: 'numeric' }),
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: 'UTC',
    timeZoneName: 'short'
  })
  return { wait, time: html`<time datetime="${at.toISOString()}">${format.format(at)}</time>` }
}
