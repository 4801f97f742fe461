import { constants, fstatSync, openSync, writeSync } from 'node:fs'
import { isatty } from 'node:tty'

/** Takes lines and writes them in batches. */
export interface Output {
  /** Takes whole lines, each with its line feed. Never waits. */
  write(lines: string): void
  /**
   * Writes what is left, at the exit of the process. Gives up when the reader has left, when it takes nothing for a
   * second, and after five seconds.
   */
  end(): void
}

/** About sixty lines. */
const BATCH_CHARACTERS = 8192
/** For so long a line waits for others. */
const BATCH_MILLISECONDS = 20
const WAITING_BYTES = 8 * 1024 * 1024
/** How soon a reader that is behind is tried again. */
const BEHIND_MILLISECONDS = 10
/** How soon a write is tried again that failed otherwise, for a full disk for example. */
const FAILED_MILLISECONDS = 1000
const PATIENCE_MILLISECONDS = 1000
const END_MILLISECONDS = 5000
/** What a pipe takes in one piece, whoever else writes to it (PIPE_BUF of Linux). */
const ATOMIC_BYTES = 4096

/**
 * Writes to a pipe, a terminal or a file, and never waits for whoever reads it. A batch is written when it is full, and
 * 20 ms after its first line. Up to 8 MB wait for a reader that is behind. When there are more, lines are dropped until
 * the reader has taken half of those that wait. The next line is then the one that `describeDropped` makes of the number
 * of lines that were dropped. `shared`: other processes write to the same place, and no line of theirs comes into a line
 * of this one, unless it is longer than 4 kB.
 */
export const createOutput = (
  descriptor: number,
  describeDropped: (lines: number) => string,
  shared = false
): Output => {
  const fd = openedWithoutWaiting(descriptor)
  const waiting: Buffer[] = []
  let waitingBytes = 0
  let batch = ''
  let dropped = 0
  let due: NodeJS.Timeout | undefined
  let retry: NodeJS.Timeout | undefined

  const enqueue = (bytes: Buffer): void => {
    waiting.push(bytes)
    waitingBytes += bytes.length
  }

  const takeBatch = (): void => {
    const bytes = Buffer.from(batch)
    const room = dropped === 0 ? WAITING_BYTES : WAITING_BYTES / 2
    if (waitingBytes + bytes.length > room) {
      dropped += batch.split('\n').length - 1
    } else {
      if (dropped > 0) enqueue(Buffer.from(describeDropped(dropped)))
      if (bytes.length > 0) enqueue(bytes)
      dropped = 0
    }
    batch = ''
  }

  /** Writes what waits. Returns the code of the error that stopped it, which is `EAGAIN` when the reader is behind. */
  const writeWaiting = (): string | undefined => {
    try {
      for (let [first] = waiting; first !== undefined; [first] = waiting) {
        const written = writeSync(fd, shared ? wholeLines(first) : first)
        waitingBytes -= written
        if (written < first.length) waiting[0] = first.subarray(written)
        else waiting.shift()
      }
      return undefined
    } catch (error) {
      return String(Object(error).code)
    }
  }

  const flush = (): void => {
    takeBatch()
    if (retry !== undefined) return
    const code = writeWaiting()
    // The reader may have taken all after lines were dropped, which the next batch says.
    if (code === undefined && dropped === 0) return
    const soon = code === undefined || code === 'EAGAIN'
    retry = setTimeout(tryAgain, soon ? BEHIND_MILLISECONDS : FAILED_MILLISECONDS).unref()
  }

  const tryAgain = (): void => {
    retry = undefined
    flush()
  }

  const batchIsDue = (): void => {
    due = undefined
    flush()
  }

  return {
    write(lines) {
      batch += lines
      if (batch.length >= BATCH_CHARACTERS) flush()
      else if (due === undefined) due = setTimeout(batchIsDue, BATCH_MILLISECONDS).unref()
    },
    end() {
      const startedAt = performance.now()
      let takenAt = startedAt
      for (;;) {
        takeBatch()
        const before = waitingBytes
        const code = writeWaiting()
        const now = performance.now()
        if (waitingBytes < before) takenAt = now
        const done = code === undefined ? dropped === 0 : code !== 'EAGAIN'
        if (done || now - takenAt > PATIENCE_MILLISECONDS || now - startedAt > END_MILLISECONDS) return
        pause()
      }
    }
  }
}

/** As many lines as a pipe takes in one piece, and at least one. */
const wholeLines = (bytes: Buffer): Buffer => {
  if (bytes.length <= ATOMIC_BYTES) return bytes
  const end = bytes.lastIndexOf('\n', ATOMIC_BYTES - 1)
  return bytes.subarray(0, (end === -1 ? bytes.indexOf('\n') : end) + 1)
}

/**
 * Opens a pipe or a terminal once more, so that a write to it fails with `EAGAIN` where it would have to wait. The
 * setting belongs to the open file, which other processes share and change: Node resets it when it exits, and npm is a
 * Node process. What cannot be opened again, such as a socket or the pipe of another user, stays as it is.
 */
const openedWithoutWaiting = (fd: number): number => {
  if (!fstatSync(fd).isFIFO() && !isatty(fd)) return fd
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    return fd
  }
}

/** Holds the whole thread, since no timer runs while the process exits. */
const pause = (): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BEHIND_MILLISECONDS)
}
