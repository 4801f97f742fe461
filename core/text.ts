import { noText, textOfOtherLength, unstorableText } from './refusals.js'

/**
 * Returns the text. Throws an `invalid_input` that names `what` for anything else, which a host in plain JavaScript may
 * hand in.
 */
export const requireString = (what: string, value: unknown): string => {
  if (typeof value === 'string') return value
  throw noText(what)
}

/** Returns an object of texts, some of which may be undefined. Throws as {@link requireString} does, with the key. */
export const requireStrings = <T extends object>(texts: T): T => {
  for (const [key, value] of Object.entries(texts)) if (value !== undefined) requireString(key, value)
  return texts
}

/** The length in code points, which PostgreSQL counts as well. */
export const lengthOf = (text: string): number => {
  let length = 0
  for (const _ of text) length += 1
  return length
}

/**
 * True for a text that every store returns unchanged: PostgreSQL refuses NUL (22021), and UTF-8 has no lone surrogates.
 */
export const isStorable = (text: string): boolean => !/[\0\p{Surrogate}]/u.test(text)

/**
 * Returns the text. Throws an `invalid_input` that names the field when it is no text, not storable, or not `min` to `max`
 * code points long.
 */
export const requireText = (field: string, given: string, min: number, max: number): string => {
  const text = requireString(field, given)
  // A code point has at most two code units. This comparison comes first, so that no megabytes are searched or counted.
  const isFarTooLong = text.length > 2 * max
  if (!isFarTooLong && !isStorable(text)) throw unstorableText(field)
  const length = isFarTooLong ? Number.POSITIVE_INFINITY : lengthOf(text)
  if (length >= min && length <= max) return text
  throw textOfOtherLength(field, min, max)
}

/**
 * False for a text that cannot be a token or a code, because it lacks the form that the port `secrets` gives them.
 * The use cases then save the digest and the look-up, however long the text is.
 */
export const couldBeIssued = (text: string): boolean => /^[A-Za-z0-9]{32}$/.test(requireString('a token or code', text))
