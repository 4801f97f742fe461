import { negotiate } from '@fastify/accept-negotiator'

/** The languages of the pages. The first is for people who understand none of them. */
const LANGUAGES = ['en', 'de', 'fr', 'es'] as const

export type Language = (typeof LANGUAGES)[number]

/**
 * The language for a person whose browser sends this `Accept-Language` (RFC 9110 section 12.5.4). A range such as
 * `de-AT` means every German, because the pages do not tell regions apart.
 */
export const languageFor = (accepted: string | undefined): Language => {
  const ranges = (accepted ?? '').toLowerCase().replaceAll(/-[a-z0-9-]+/g, '')
  return negotiate(ranges, [...LANGUAGES]) ?? 'en'
}
