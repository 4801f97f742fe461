// Builds dist/ once npm has installed what a checkout needs.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

// The first `npx heroes` in a checkout prepares it too. A service may run from what is built there.
const isBuilt = process.env.npm_command === 'exec' && existsSync('dist/app/main.js')
const build = 'npm run build -- --noCheck'
const { typescript } = JSON.parse(readFileSync('package.json', 'utf8')).devDependencies
// With NODE_ENV=production npm leaves out the compiler, which npx fetches for this once, and the types of Node.
const command = existsSync('node_modules/typescript')
  ? build
  : `npx --yes -p typescript@${typescript} -- ${build} --types null`
if (!isBuilt) process.exitCode = spawnSync(command, { shell: true, stdio: 'inherit' }).status ?? 1
