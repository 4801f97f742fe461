/** The text as one word of a shell. */
export const shellWord = (text: string): string =>
  /^[\w./:%~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
