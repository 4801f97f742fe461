// Finds secrets in a long text, however they are encoded.

import { formEncoded, percentEncoded } from './service.js'

/** Shorter secrets, and those with fewer different characters, would be found by chance. */
const SHORTEST = 8
const FEWEST_DIFFERENT = 4
/** Tests send these as tokens and passwords, and the log has them as the reasons of events. */
const WORDS_OF_THE_LOG: ReadonlySet<string> = new Set(['authorization_code', 'password', 'refresh_token'])

/** Whether a secret can be told from what a log has anyway. */
export const isTelling = (secret: string): boolean =>
  secret.length >= SHORTEST && new Set(secret).size >= FEWEST_DIFFERENT && !WORDS_OF_THE_LOG.has(secret)

/** The encodings of a secret: of JSON, of forms and URLs, of Basic with any id before it, and of bytes. */
const encodings = (secret: string): readonly string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  formEncoded(secret),
  percentEncoded(secret),
  percentEncoded(secret).toUpperCase(),
  Buffer.from(secret).toString('hex'),
  ...[0, 1, 2].flatMap(before => {
    const bytes = Buffer.from(secret)
    // Behind other bytes base64 has other characters. Those that the bytes before and behind it have a part in are left out.
    const whole = Buffer.concat([Buffer.alloc(before), bytes])
    const base64 = whole.toString('base64').replace(/=+$/, '')
    const inner = base64.slice(Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6))
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')]
  })
]

/** The secrets that are in the text in any of their encodings. Only those are looked for that {@link isTelling}. */
export const secretsIn = (text: string, secrets: Iterable<string>): readonly string[] => {
  // By their first characters: a search for each of some 10,000 encodings would take minutes.
  const byStart = new Map<string, Map<string, string>>()
  for (const secret of secrets) {
    if (!isTelling(secret)) continue
    for (const encoded of encodings(secret)) {
      const start = encoded.slice(0, SHORTEST)
      const same = byStart.get(start)
      if (same === undefined) byStart.set(start, new Map([[encoded, secret]]))
      else same.set(encoded, secret)
    }
  }
  const found = new Set<string>()
  for (let at = 0; at + SHORTEST <= text.length; at++) {
    for (const [encoded, secret] of byStart.get(text.slice(at, at + SHORTEST)) ?? []) {
      if (text.startsWith(encoded, at)) found.add(secret)
    }
  }
  return [...found]
}
