// Compiles TypeScript for the tests, and keeps what the compiler makes. (tsx joins lines, and the coverage of joined lines is
// always full.)
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../../node_modules/.cache/heroes/', import.meta.url))

/** Returns the JavaScript of a file of TypeScript, which the absolute path names. */
export const compiled = async (fileName, source) => {
  const file = `${folder}${createHash('sha256').update(fileName).update('\0').update(source).digest('hex')}.js`
  if (existsSync(file)) return readFileSync(file, 'utf8')
  const { default: ts } = await import('typescript')
  const { outputText } = ts.transpileModule(source, {
    fileName,
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      inlineSourceMap: true
    }
  })
  // Another process may write the same file: the file gets its name when its content is complete.
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${file}.${process.pid}`, outputText)
  renameSync(`${file}.${process.pid}`, file)
  return outputText
}

// As a program: compiles the files of the arguments, so that no two test processes compile the same one.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const file of process.argv.slice(2)) await compiled(resolve(file), readFileSync(file, 'utf8'))
}
