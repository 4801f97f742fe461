import { PASSWORD_MAX } from '../../core/index.js'

/** A password that people may try the service with. It has so many characters at least. */
export const examplePassword = (length: number): string => {
  let phrase = 'correct horse'
  while (phrase.length < length) phrase += ' battery staple'
  return phrase.slice(0, PASSWORD_MAX)
}
