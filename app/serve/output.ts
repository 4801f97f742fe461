// By hand: sonic-boom 4, which pino brings, at the exit loses what it is about to write again, or waits for ever for a
// reader that has left. Version 5 mends both, and would be a second one beside pino's.

import { constants, fstatSync, openSync, writeSync } from 'node:fs'
import { isatty } from 'node:tty'

/** How long a line waits, so that others are written with it. */
const BATCH_MILLISECONDS = 20
/** What a pipe takes in one piece, whoever else writes to it (PIPE_BUF of Linux). */
const BATCH_BYTES = 4096
const WAITING_BYTES = 8 * 1024 * 1024
/** How soon a reader that is behind is tried again. */
const BEHIND_MILLISECONDS = 10
/** How soon a write is tried again that failed otherwise, for a full disk for example. */
const FAILED_MILLISECONDS = 1000
const PATIENCE_MILLISECONDS = 1000
const END_MILLISECONDS = 5000

/**
 * Writes lines in batches to a pipe, a terminal or a file, and never waits for whoever reads it. Up to 8 MB wait for a
 * reader that is behind. When there are more, lines are dropped until the reader has taken half of those that wait. The
 * next line is then the one that `describeDropped` makes of the number of lines that were dropped. Where several
 * processes write to one pipe, no line comes into another, unless it is longer than 4 kB.
 */
export const createOutput = (descriptor: number, describeDropped: (lines: number) => string) => {
  const fd = openedWithoutWaiting(descriptor)
  let lines: string[] = []
  /** The lines that are being written. A reader may have taken a part of the first. */
  let rest = Buffer.alloc(0)
  let waitingBytes = 0
  /** Those of which no line has told yet. */
  let dropped = 0
  let droppedBefore = 0
  let timer: NodeJS.Timeout | undefined

  const add = (line: string): void => {
    lines.push(line)
    waitingBytes += Buffer.byteLength(line)
  }

  const addDropped = (): void => {
    if (dropped > 0) add(describeDropped(dropped))
    droppedBefore += dropped
    dropped = 0
  }

  /** Writes what waits. Returns the code of the error that stopped it, which is `EAGAIN` when the reader is behind. */
  const writeWaiting = (): string | undefined => {
    try {
      while (waitingBytes > 0) {
        if (rest.length === 0) {
          rest = Buffer.from(lines.join(''))
          lines = []
        }
        const written = writeSync(fd, rest, 0, batchOf(rest))
        waitingBytes -= written
        rest = rest.subarray(written)
        if (waitingBytes === 0) addDropped()
      }
      return undefined
    } catch (error) {
      return String(Object(error).code)
    }
  }

  const flushIn = (milliseconds: number): void => {
    if (timer === undefined) timer = setTimeout(flush, milliseconds).unref()
  }

  const flush = (): void => {
    timer = undefined
    const code = writeWaiting()
    if (code !== undefined) flushIn(code === 'EAGAIN' ? BEHIND_MILLISECONDS : FAILED_MILLISECONDS)
  }

  return {
    /** Takes a whole line, with its line feed. Never waits. */
    write(line: string): void {
      if (waitingBytes > (dropped === 0 ? WAITING_BYTES : WAITING_BYTES / 2)) {
        dropped += 1
        return
      }
      addDropped()
      add(line)
      flushIn(BATCH_MILLISECONDS)
    },
    /** How many lines have been dropped. */
    dropped: () => droppedBefore + dropped,
    /**
     * Writes what is left, at the exit of the process. Gives up when the reader has left, when it takes nothing for a
     * second, and after five seconds.
     */
    end(): void {
      const startedAt = performance.now()
      let takenAt = startedAt
      for (;;) {
        const before = waitingBytes
        const code = writeWaiting()
        const now = performance.now()
        if (waitingBytes < before) takenAt = now
        if (code !== 'EAGAIN' || now - takenAt > PATIENCE_MILLISECONDS || now - startedAt > END_MILLISECONDS) return
        pause()
      }
    }
  }
}

/** How much of the lines is written in one piece: as many as fit, or one that is longer. */
const batchOf = (lines: Buffer): number => lines.lastIndexOf('\n', BATCH_BYTES - 1) + 1 || lines.indexOf('\n') + 1

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
