/**
 * What steers a terminal or cannot be seen: control and formatting characters (ESC, C1, line breaks, the direction of
 * text, zero width), separators of lines, lone halves of surrogate pairs, and what fonts draw as nothing.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/**
 * The text with every unsafe character as `\u{…}`, so that a name that a caller chose is seen as it is and does nothing
 * to the terminal. For people alone: a backslash stays as it is, so the escapes of a text and those made here look alike.
 */
export const printable = (text: string): string =>
  text.replaceAll(UNSAFE, character => `\\u{${character.codePointAt(0)?.toString(16)}}`)

/** The value as one line of JSON in which every unsafe character is an escape. It reads as the same value. */
export const toPrintableJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(UNSAFE, character =>
    character
      .split('')
      .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('')
  )
