// Runs `npm run check` and the build of `npm test` side by side, since each takes one processor.

import { spawn } from 'node:child_process'
import { once } from 'node:events'

const run = async command => {
  const [code] = await once(spawn(command, { shell: true, stdio: 'inherit' }), 'close')
  return code === 0
}

const succeeded = await Promise.all(['npm run check', 'npm run build -- --noCheck'].map(run))
process.exitCode = succeeded.every(Boolean) ? 0 : 1
