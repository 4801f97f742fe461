// Embedded databases for tests that open one and do not care how it is made, which takes seconds.

import { cpSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { openEmbedded } from '../../adapters/postgres/database.js'
import { temporaryFolder } from './process.js'

const cache = fileURLToPath(new URL('../../node_modules/.cache/heroes/', import.meta.url))

/** A temporary folder with an embedded database as it is made: without tables. It is a copy of one that runs share. */
export const madeFolder = async (t: Pick<Test, 'teardown'>): Promise<string> => {
  const manifest = join(createRequire(import.meta.url).resolve('@electric-sql/pglite'), '../../package.json')
  const { version }: { readonly version: string } = JSON.parse(readFileSync(manifest, 'utf8'))
  const made = join(cache, `embedded-${version}`)
  if (!existsSync(made)) {
    const making = `${made}.${process.pid}`
    await (await openEmbedded(making)).close()
    try {
      renameSync(making, made)
    } catch (error) {
      // Another process may have made one meanwhile.
      rmSync(making, { recursive: true })
      if (!existsSync(made)) throw error
    }
  }
  const folder = temporaryFolder(t)
  cpSync(join(made, 'postgres'), join(folder, 'postgres'), { recursive: true })
  return folder
}
