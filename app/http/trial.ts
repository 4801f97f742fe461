import { PASSWORD_MAX } from '../../core/index.js'

// What is shown to people who try the service, by its first start, its document and its pages.

/** A password that people may try the service with. It has so many characters at least. */
export const examplePassword = (length: number): string => {
  let phrase = 'correct horse'
  while (phrase.length < length) phrase += ' battery staple'
  return phrase.slice(0, PASSWORD_MAX)
}

/** The text as one word of a shell. */
export const shellWord = (text: string): string =>
  /^[\w./:%~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
