/** Writes lines and, on a terminal, a status below them that changes in its place. */
export interface StatusLine {
  write(text: string): void
  /** Shows the status in place of the last one, ten times a second at most. Does nothing where there is no terminal. */
  show(status: () => string): void
  /** Removes the status. */
  clear(): void
}

const PAUSE_MILLISECONDS = 100
/** ECMA-48: to the beginning of the line, and erase it. */
const ERASE = '\r\u001b[K'

export const createStatusLine = (output: NodeJS.WritableStream & { readonly isTTY?: boolean }): StatusLine => {
  let isShown = false
  let shownAt = Number.NEGATIVE_INFINITY
  const clear = (): void => {
    if (isShown) output.write(ERASE)
    isShown = false
  }
  return {
    write(text) {
      clear()
      output.write(text)
    },
    show(status) {
      const now = performance.now()
      if (output.isTTY !== true || now - shownAt < PAUSE_MILLISECONDS) return
      shownAt = now
      isShown = true
      output.write(ERASE + status())
    },
    clear
  }
}
