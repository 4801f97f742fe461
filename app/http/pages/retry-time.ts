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

/** The formats of a locale, with dates and without. To make them takes longer than all the rest of the page. */
const createFormats = (locale: string) => {
  const clock = {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: 'UTC',
    timeZoneName: 'short'
  } as const
  return {
    wait: new Intl.RelativeTimeFormat(locale),
    time: new Intl.DateTimeFormat(locale, clock),
    dateAndTime: new Intl.DateTimeFormat(locale, { ...clock, day: 'numeric', month: 'long', year: 'numeric' })
  }
}

const formatsByLocale = new Map<string, ReturnType<typeof createFormats>>()

const formatsOf = (locale: string): ReturnType<typeof createFormats> => {
  const formats = formatsByLocale.get(locale) ?? createFormats(locale)
  formatsByLocale.set(locale, formats)
  return formats
}

/**
 * Says in how much time something is possible and from what time on, both rounded up to a whole minute, hour or day. The
 * server does not know in which time zone the person is, so the time is UTC's and says so.
 */
export const retryTime = (seconds: number, now: Date, { locale }: Texts): { wait: string; time: Html } => {
  const [unit, length] = unitOf(seconds)
  const formats = formatsOf(locale)
  const wait = formats.wait.format(Math.ceil(seconds / length), unit)
  const at = new Date(Math.ceil((now.getTime() / 1000 + seconds) / MINUTE) * MINUTE * 1000)
  const format = unit === 'minute' ? formats.time : formats.dateAndTime
  return { wait, time: html`<time datetime="${at.toISOString()}">${format.format(at)}</time>` }
}
