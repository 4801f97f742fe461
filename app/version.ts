import { createRequire } from 'node:module'

/** The version of the package. */
export const { version }: { version: string } = createRequire(import.meta.url)('heroes/package.json')
