import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const LOADER = fileURLToPath(new URL('../../support/typescript.mjs', import.meta.url))
const SUITES = ['app/http/fuzz', 'app/http/routes/properties', 'core/walk']

for (const suite of SUITES) {
  t.test(`${suite} holds for twice as many random cases as \`npm test\` tries`, async t => {
    const file = fileURLToPath(new URL(`../../${suite}.test.ts`, import.meta.url))
    const child = spawn(process.execPath, [`--import=${LOADER}`, file], {
      env: { ...process.env, TEST_EFFORT: '2', TAP_TIMEOUT: '300' },
      stdio: ['ignore', 'pipe', 'inherit']
    })
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
    t.equal(code, 0, output.slice(-10_000))
  })
}
