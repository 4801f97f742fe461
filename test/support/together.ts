// Suites that share a process. Starting a process for a suite takes longer than most suites last.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'

/** Suites that last long, start processes or measure their own: each has a process of its own. */
const ALONE = [
  'test/adapters/postgres/embedded/embedded.test.ts',
  'test/adapters/postgres/contract-postgres.test.ts',
  'test/adapters/postgres/contract-embedded.test.ts',
  'test/app/serve/output.test.ts',
  'test/adapters/postgres/postgres.test.ts'
]

/** At most so many suites share a process, so that the processes end at about the same time. */
const MOST = 24

/** The files of TypeScript below a folder, as paths, without declarations. */
export const filesIn = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .map(file => `${root}/${file.replaceAll('\\', '/')}`)
    .sort()

/**
 * Writes files into an emptied folder of the checkout that import the suites of a room one after the other. Returns what
 * is to run instead of the suites.
 */
export const together = (suites: readonly string[], folder: string): string[] => {
  rmSync(folder, { recursive: true, force: true })
  const rooms = new Map<string, string[]>()
  for (const suite of suites) {
    if (isAlone(suite)) continue
    const [, room = '', inside] = suite.split('/')
    const name = inside === undefined ? 'others' : room
    rooms.set(name, [...(rooms.get(name) ?? []), suite])
  }
  return [
    ...suites.filter(isAlone),
    ...[...rooms].flatMap(([room, files]) => share(room, files, Math.ceil(files.length / MOST), folder))
  ]
}

/** Writes so many files into a folder that import the given ones, each its part. Returns what it wrote. */
export const share = (room: string, files: readonly string[], parts: number, folder: string): string[] => {
  mkdirSync(folder, { recursive: true })
  return Array.from({ length: parts }, (_, part) => {
    // Neighbours in the alphabet are alike and last alike, so each process takes every so many-th.
    const mine = files.filter((_, index) => index % parts === part)
    const file = `${folder}/${room}${parts > 1 ? `-${part + 1}` : ''}.js`
    const inOrder = [...mine.filter(suite => !replacesGlobals(suite)), ...mine.filter(replacesGlobals)]
    writeFileSync(file, inOrder.map(suite => `import '${relative(folder, suite)}'\n`).join(''))
    return file
  })
}

/** A suite that runs its tests side by side would do so with those of the others in its process, which count on their order. */
const isAlone = (suite: string): boolean => ALONE.includes(suite) || readFileSync(suite, 'utf8').includes('\nt.jobs = ')

/**
 * The tests of a suite run while the suites behind it are imported. Where they have replaced a timer, a suite that opens a
 * database as it is imported would wait for ever.
 */
const replacesGlobals = (suite: string): boolean => readFileSync(suite, 'utf8').includes('intercept(globalThis')
