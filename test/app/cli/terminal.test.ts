import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { ONE_LINE, openCommandLine, typing } from '../../support/command.js'
import { PROGRAM } from '../../support/process.js'

const { env, run } = await openCommandLine(t)

t.test('at a terminal a password is typed twice, and stdout has nothing of it', async t => {
  const added = await run('user add typist --json', typing('correct horse', 'correct horse'))
  t.match(added, { code: 0, stdout: /^\{"id":\d+,"username":"typist"\}\n$/, stderr: 'Password: \nPassword again: \n' })
  const differing = await run('user set-password typist', typing('correct horse', 'battery staple'))
  t.strictSame(differing.code, 2)
  t.match(differing, { stdout: '', stderr: /\nheroes: the two entries differ\n$/ })
  t.notMatch(differing.stderr, /horse|staple/)
  const left = await run('client rotate-secret app --secret-stdin', typing('half of what was asked for'))
  t.match(left, { code: 2, stdout: '', stderr: /^Secret: \nSecret again: \nheroes: nothing was entered\n$/ })
})

t.test('a password on stdin that is not UTF-8 is refused', async t => {
  t.match(await run('user add latin', Buffer.from([0x70, 0xe9, 0x0a])), { code: 2, stdout: '', stderr: ONE_LINE })
})

const { stdout: version } = spawnSync('script', ['--version'], { encoding: 'utf8' })
const script = /util-linux/.test(version) ? {} : { skip: 'there is no script(1) of util-linux that makes a terminal' }

t.test('a real terminal shows nothing of what is typed', script, async t => {
  const child = spawn('script', ['-qec', `"${process.execPath}" "${PROGRAM}" user add pty`, '/dev/null'], {
    env: { ...process.env, ...env }
  })
  let seen = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen += text
  })
  const typed = async (prompt: string): Promise<void> => {
    while (!seen.endsWith(prompt)) await once(child.stdout, 'data')
    child.stdin.write('not to be seen\r')
  }
  const ended = once(child, 'close')
  await typed('Password: ')
  await typed('Password again: ')
  const [code] = await ended
  t.equal(code, 0)
  t.equal(seen.replaceAll('\r', ''), 'Password: \nPassword again: \nThe user pty is registered.\n')
})
