import { DomainError } from './errors.js'

/** Length in code points: what a person counts as characters, and what PostgreSQL counts. */
export const lengthOf = (text: string): number => {
  let length = 0
  for (const _ of text) length += 1
  return length
}

/** True for what every store can keep and give back unchanged: PostgreSQL refuses NUL (22021), UTF-8 has no lone surrogates. */
export const isStorable = (text: string): boolean => !/[\0\p{Surrogate}]/u.test(text)

/** Refuses, with `invalid_input` and the field's name, text that is not storable or not of the given length. */
export const requireText = (field: string, text: string, min: number, max: number): string => {
  if (!isStorable(text)) throw new DomainError('invalid_input', `${field} holds a NUL or a lone surrogate`)
  // A code point is at most two code units: the cheap check goes first, so that nine megabytes are not counted.
  const length = text.length > 2 * max ? Number.POSITIVE_INFINITY : lengthOf(text)
  if (length < min || length > max) {
    throw new DomainError('invalid_input', `${field} must have ${min} to ${max} characters`)
  }
  return text
}
