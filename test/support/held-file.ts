// A file that lets a test stop a process which is starting: whoever reads it waits until the test gives it the text.

import { spawnSync } from 'node:child_process'
import { closeSync, constants, openSync, renameSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Options of a test that needs such a file. */
export const withHeldFiles =
  spawnSync('mkfifo', ['--version']).error === undefined ? {} : { skip: 'there is no mkfifo(1)' }

export interface HeldFile {
  /** Resolves when a process reads the file and waits. The function gives it the text, and the process goes on. */
  read(): Promise<(text: string) => void>
}

/** Makes the file, in the place of any other. It is for one reader at a time. */
export const holdFile = (path: string): HeldFile => {
  const made = `${path}.made`
  spawnSync('mkfifo', [made])
  renameSync(made, path)
  return {
    async read() {
      for (;;) {
        try {
          const descriptor = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
          return text => {
            writeFileSync(descriptor, text)
            closeSync(descriptor)
          }
        } catch (error) {
          // Nobody reads the file yet.
          if (Object(error).code !== 'ENXIO') throw error
          await sleep(5)
        }
      }
    }
  }
}
