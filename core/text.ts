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

/** Whether the text has `min` to `max` code points, which PostgreSQL counts as well. */
const hasLength = (text: string, min: number, max: number): boolean => {
  // A code point has at most two code units. This comparison comes first, so that no megabytes are searched or counted.
  if (text.length > 2 * max) return false
  let length = 0
  for (const _ of text) length += 1
  return length >= min && length <= max
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
  if (!hasLength(text, min, max)) throw textOfOtherLength(field, min, max)
  if (!isStorable(text)) throw unstorableText(field)
  return text
}

/** Whether {@link requireText} would return the text, with 1 as `min`. */
export const isText = (text: string, max: number): boolean => hasLength(text, 1, max) && isStorable(text)

/**
 * False for a text that cannot be a token or a code, because it lacks the form that the port `secrets` gives them.
 * The use cases then save the digest and the look-up, however long the text is.
 */
export const couldBeIssued = (text: string): boolean => /^[A-Za-z0-9]{32}$/.test(requireString('a token or code', text))
