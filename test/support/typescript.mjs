// Lets Node import the TypeScript of the tests. tap's own loader starts the compiler in every test file, which takes longer
// than most of the tests.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire, register } from 'node:module'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { isMainThread, parentPort } from 'node:worker_threads'
import { compiled } from './compile.mjs'

// Node runs the hooks in a thread of their own, which imports this file too and has no port.
if (isMainThread || parentPort !== null) {
  // Optimizing the embedded PostgreSQL takes longer than a suite gains by it.
  setFlagsFromString('--liftoff-only')
  register(import.meta.url)
}

// tap has a hook in every process that a suite starts, which triples the time of a start. It adds the hook as a listener of
// process-on-spawn (1.1), and to NODE_OPTIONS. Node itself takes the coverage of those processes for less, where tap wants it.
const HOOK = /"--import=(file:[^"]*\/processinfo\/[^"]*)"/
const { NODE_OPTIONS = '', _TAPJS_PROCESSINFO_COVERAGE_: coverage } = process.env
const [, hook] = HOOK.exec(NODE_OPTIONS) ?? []
if (isMainThread && hook !== undefined) {
  process.env.NODE_OPTIONS = NODE_OPTIONS.replace(HOOK, '')
  if (coverage === '1') process.env.NODE_V8_COVERAGE = fileURLToPath(new URL('../../.tap/coverage', import.meta.url))
  createRequire(hook)('process-on-spawn').removeAllListeners()
}

const { exports: entries } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** An import of `./file.js` means `./file.ts` where there is such a file, and an entry of the package means its source. */
export const resolve = (specifier, context, next) => {
  const entry = entries[specifier.replace(/^heroes/, '.')]?.default
  if (entry !== undefined) {
    return next(new URL(entry.replace(/^.\/dist/, '../..').replace(/js$/, 'ts'), import.meta.url).href, context)
  }
  if (context.parentURL?.endsWith('.ts') && /^\.{1,2}\/.*\.js$/.test(specifier)) {
    const source = new URL(specifier.replace(/js$/, 'ts'), context.parentURL)
    if (existsSync(source)) return next(source.href, context)
  }
  return next(specifier, context)
}

export const load = async (url, context, next) => {
  if (!url.endsWith('.ts')) return next(url, context)
  const { source } = await next(url, { ...context, format: 'module' })
  return { format: 'module', source: await compiled(fileURLToPath(url), String(source)), shortCircuit: true }
}
