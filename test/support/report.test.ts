import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t from 'tap'
import { report } from './report.js'

/** What the report writes about a run of tap, and whether the run is green. */
const read = async (tap: string, exitCode = 1, complaints = '') => {
  let text = ''
  const green = await report(Readable.from([tap]), Promise.resolve({ exitCode, complaints }), part => {
    text += part
  })
  return { green, text }
}

const PASSING = `# Subtest: test/a.test.ts
    # Subtest: a title
        ok 1 - should be equal
        ok 2 - should be equal
        1..2
    ok 1 - a title # time=5ms
    1..1
ok 1 - test/a.test.ts # time=1234.5ms
`
const PROCESS = (signal: string, exitCode: string): string => `  ---
  externalID: test/b.test.ts
  exitCode: ${exitCode}
  signal: ${signal}
  ...
`

t.test('a green run is reported in a line for each file and the totals', async t => {
  t.strictSame(await read(`TAP version 14\n1..1\n${PASSING}# { total: 2, pass: 2 }\n# time=1300ms\n`, 0), {
    green: true,
    text: 'ok        1.2 s      2  test/a.test.ts\n\n2 passed, 0 failed in 1 file\n'
  })
})

t.test('a failed assertion is reported at the end with its place, what was expected and what was found', async t => {
  const tap = `TAP version 14
1..2
# Subtest: test/b.test.ts
    # Subtest: outer
        # Subtest: inner
            not ok 1 - as it should
              ---
              compare: ===
              at:
                fileName: test/b.test.ts
                lineNumber: 6
                columnNumber: 7
              stack: |
                Test.<anonymous> (test/b.test.ts:6:7)
              source: |2
                    const left = 'left'
                    t.equal(left, 'right', 'as it should')
                ------^
                    const more = 1
              diff: |
                --- expected
                +++ actual
                @@ -1,1 +1,1 @@
                -right
                +left
              ...
            1..1
        not ok 1 - inner # time=3ms
        1..1
    not ok 1 - outer # time=4ms
    1..1
not ok 1 - test/b.test.ts # time=50ms
${PROCESS('null', '1')}${PASSING.replace('ok 1 - test', 'ok 2 - test')}`
  t.strictSame(await read(tap), {
    green: false,
    text: `FAILED    0.1 s      0  test/b.test.ts
ok        1.2 s      2  test/a.test.ts

FAILED  test/b.test.ts > outer > inner > as it should
at test/b.test.ts:6:7
  t.equal(left, 'right', 'as it should')
  --- expected
  +++ actual
  @@ -1,1 +1,1 @@
  -right
  +left
  compare: ===
  Test.<anonymous> (test/b.test.ts:6:7)

2 passed, 1 failed in 2 files
`
  })
})

t.test('a file that dies is reported with its signal or exit code, and with the end of stderr', async t => {
  const killed = `# Subtest: test/b.test.ts
    ok 1 - should be equal
    # test count(1) != plan(null)
not ok 1 - test/b.test.ts # time=50ms
`
  t.match(await read(`1..1\n${killed}${PROCESS('SIGKILL', 'null')}`), {
    green: false,
    text: /^FAILED {2}test\/b\.test\.ts > ended by SIGKILL\n\n1 passed, 1 failed in 1 file\n$/m
  })
  const unread = '# Subtest: test/b.test.ts\n    1..0 # no tests found\nnot ok 1 - test/b.test.ts # time=50ms\n'
  t.match(await read(`1..1\n${unread}${PROCESS('null', '1')}`, 1, 'Error: Cannot find module\n'), {
    green: false,
    text: /^The end of stderr:\nError: Cannot find module\n\nFAILED {2}test\/b\.test\.ts > ended with exit code 1\n\n0 passed, 1 failed in 1 file\n$/m
  })
})

t.test('npm run test:fast tells of a file that dies how it ended', t => {
  const folder = t.testdir({
    'dies.test.mjs': "console.log('ok 1')\nprocess.exit(3)\n",
    'mute.test.mjs': 'process.exit(4)\n'
  })
  const files = ['dies', 'mute'].map(name => join(folder, `${name}.test.mjs`))
  const { status, stdout } = spawnSync(process.execPath, ['--import', 'tsx', 'test/support/fast.ts', ...files], {
    encoding: 'utf8'
  })
  t.equal(status, 1)
  for (const how of ['dies.test.mjs > ended with exit code 3', 'mute.test.mjs > ended with exit code 4'])
    t.match(stdout, how)
  t.match(stdout, /\n1 passed, 2 failed in 2 files\n$/)
  t.end()
})

t.test('a test that runs out of time is reported with the place where it begins', async t => {
  const tap = `1..1
# Subtest: test/b.test.ts
    # Subtest: never ends
        not ok 1 - timeout!
          ---
          expired: TAP
          ...
        1..1
    not ok 1 - never ends # time=4994ms
      ---
      at:
        fileName: test/b.test.ts
        lineNumber: 2
        columnNumber: 3
      ...
    1..1
not ok 1 - test/b.test.ts # time=5000ms
${PROCESS('SIGALRM', 'null')}`
  t.match((await read(tap)).text, /^FAILED {2}test\/b\.test\.ts > never ends > timeout!\nat test\/b\.test\.ts:2:3\n/m)
})

t.test('tests that are skipped or to do are named', async t => {
  const tap = `1..1
# Subtest: test/b.test.ts
    ok 1 - in a browser # SKIP there is none
    ok 2 - some day # TODO think
    1..2
ok 1 - test/b.test.ts # time=50ms
`
  t.strictSame(await read(tap, 0), {
    green: true,
    text: `ok        0.1 s      0  test/b.test.ts

skipped: test/b.test.ts > in a browser (there is none)
to do: test/b.test.ts > some day (think)

0 passed, 0 failed, 2 skipped or to do in 1 file
`
  })
})

t.test('lines that no test reaches make the run fail and are listed', async t => {
  const table = 'File  | % Lines | Uncovered Line #s\n a.ts |      50 | 4-5\n'
  t.strictSame(await read(`1..1\n${PASSING}${table}# { total: 2, pass: 2 }\n`), {
    green: false,
    text: `ok        1.2 s      2  test/a.test.ts\n\nThe tests do not reach every line:\n${table}\n2 passed, 0 failed in 1 file\n`
  })
})

t.test('a run that ends early, runs no test or fails outside of the tests is not green', async t => {
  for (const exitCode of [0, 1])
    t.match(await read(`1..2\n${PASSING}`, exitCode), {
      green: false,
      text: /^2 passed, \d failed in 1 of 2 files\n$/m
    })
  t.match(await read('', 1), { green: false, text: /ended with exit code 1/ })
  t.match(await read('', 0), { green: false })
  t.match(await read(`1..1\n${PASSING}# error thrown in teardown\n`), { text: /exit code 1\.\n# error thrown/ })
})

t.test('of very many failures fifty are described', async t => {
  const points = Array.from({ length: 60 }, (_, i) => `    not ok ${i + 1} - number ${i + 1}\n`)
  const tap = `1..1\n# Subtest: test/b.test.ts\n${points.join('')}    1..60\nnot ok 1 - test/b.test.ts # time=50ms\n`
  const { text } = await read(tap)
  t.match(text, /number 50\n\n\.\.\. and 10 more\n\n0 passed, 60 failed in 1 file\n$/)
})

t.test('of a very long difference two hundred lines are shown', async t => {
  const diff = Array.from({ length: 200_000 }, (_, i) => `        -line ${i + 1}\n`).join('')
  const point = `    not ok 1 - as it should\n      ---\n      diff: |\n${diff}      ...\n`
  const { text } = await read(
    `1..1\n# Subtest: test/b.test.ts\n${point}    1..1\nnot ok 1 - test/b.test.ts # time=50ms\n`
  )
  t.match(text, /^ {2}-line 200\n {2}\.\.\. and 199800 more lines\n\n0 passed, 1 failed in 1 file\n$/m)
})

t.test('what tests print is passed on at once', async t => {
  const tap = `1..1\n# Subtest: test/b.test.ts\nprinted\n    ok 1 - x\n    1..1\nok 1 - test/b.test.ts # time=50ms\n`
  t.match((await read(tap, 0)).text, /^printed\nok /)
})
