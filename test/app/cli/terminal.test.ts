import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import t from 'tap'
import { heroes, ONE_LINE, openCommandLine, told, typing } from '../../support/command.js'
import { PROGRAM } from '../../support/process.js'

const { env, run } = await openCommandLine(t)

t.test('at a terminal a password is typed twice, and stdout has nothing of it', async t => {
  const added = await run('user add typist --json', typing('correct horse', 'correct horse'))
  t.match(added, {
    code: 0,
    stdout: '{"id":1,"username":"typist"}\n',
    stderr: told('user.added', { user: 1 }, 'Password: \nPassword again: \n')
  })
  const differing = await run('user set-password typist', typing('correct horse', 'battery staple'))
  t.strictSame(differing.code, 2)
  t.match(differing, { stdout: '', stderr: /\nheroes: the two entries differ\n$/ })
  t.notMatch(differing.stderr, /horse|staple/)
  const left = await run('client rotate-secret app --secret-stdin', typing('half of what was asked for'))
  t.match(left, { code: 2, stdout: '', stderr: /^Secret: \nSecret again: \nheroes: nothing was entered\n$/ })
})

t.test('Ctrl-C at a question is exit code 130, without a word', async t => {
  for (const entries of [['\u0003'], ['correct horse\r', '\u0003']]) {
    const stdin = Object.assign(new PassThrough().end(entries.join('')), { isTTY: true, setRawMode: () => {} })
    const { code, stdout, stderr } = await run('user add interrupted', stdin)
    t.strictSame({ code, stdout }, { code: 130, stdout: '' })
    t.notMatch(stderr, 'heroes:')
  }
})

t.test('Ctrl-C ends a command that is at work with exit code 130', async t => {
  const child = spawn(process.execPath, [PROGRAM, 'import', '-'], { env: { ...process.env, ...env } })
  child.stdin.write('x\n'.repeat(1000))
  await once(child.stderr, 'data')
  child.kill('SIGINT')
  t.strictSame(await once(child, 'exit'), [130, null])
})

t.test('at a terminal remove asks first, and takes nothing but y or yes for one', async t => {
  const nouns = [
    ['client', 'kept', 'Remove the client kept with every code and token of it? [y/N] '],
    ['user', 'kept', 'Remove the user kept with every code and token? [y/N] ']
  ] as const
  await run('client add kept --public')
  await run('user add kept', 'password')
  for (const [noun, name, question] of nouns) {
    for (const answers of [['n'], [''], ['yesterday'], []]) {
      const { code, stdout, stderr } = await run(`${noun} remove ${name}`, typing(...answers))
      t.strictSame({ code, stdout }, { code: 1, stdout: '' })
      t.ok(stderr.startsWith(question), stderr)
      t.match(stderr, new RegExp(`heroes: the ${noun} ${name} is not removed\n$`))
    }
    const all = (await run(`${noun} list`)).stdout
    t.match(all, /\bkept\b/, 'it is still there')
  }
  t.match(await run('client remove kept', typing('y')), {
    code: 0,
    stdout: 'The client kept is removed.\n',
    stderr: told('client.removed', { client: 'kept' }, nouns[0][2])
  })
  t.match(await run('user remove kept --json', typing(' YES ')), {
    code: 0,
    stdout: '{"username":"kept"}\n',
    stderr: told('user.removed', { user: 2 }, nouns[1][2])
  })
})

t.test('remove does not ask with --yes, nor without a terminal', async t => {
  for (const [option, stdin] of [
    [' --yes', typing()],
    ['', '']
  ] as const) {
    await run('client add gone --public')
    await run('user add gone', 'password')
    for (const noun of ['client', 'user']) {
      const { code, stdout, stderr } = await run(`${noun} remove gone${option}`, stdin)
      t.strictSame({ code, stdout }, { code: 0, stdout: `The ${noun} gone is removed.\n` })
      t.match(stderr, /^\{[^\n]+\}\n$/, 'no question is asked')
    }
  }
})

t.test('the question and the refusal show a name with its unsafe characters escaped', async t => {
  const { stderr } = await heroes(['user', 'remove', 'a\u001b[2J\n\u202eb'], env, typing('n'))
  const shown = 'a\\u{1b}[2J\\u{a}\\u{202e}b'
  t.equal(
    stderr,
    `Remove the user ${shown} with every code and token? [y/N] heroes: the user ${shown} is not removed\n`
  )
})

t.test('a password on stdin that is not UTF-8 is refused', async t => {
  t.match(await run('user add latin', Buffer.from([0x70, 0xe9, 0x0a])), { code: 2, stdout: '', stderr: ONE_LINE })
})

t.test(
  'a password on stdin ends with its line, whatever comes behind it, and whether or not anything does',
  async t => {
    for (const [name, end] of [
      ['unix', '\n'],
      ['dos', '\r\n'],
      ['mac', '\r'],
      ['spare', '\nsecond line\n\xff']
    ] as const) {
      const stdin = new PassThrough()
      stdin.write('correct ')
      stdin.write(Buffer.from(`horse${end}`, 'latin1'))
      t.match(await run(`user add ${name}`, stdin), { code: 0 }, name)
      t.ok(stdin.destroyed, 'nothing of it keeps the process from ending')
    }
    t.match(await run('user add whole', 'correct horse'), { code: 0 })
    t.match(await run('user add nobody', ''), { code: 1, stderr: ONE_LINE })
  }
)

t.test('a command ends although the writer of its stdin does not', async t => {
  const child = spawn(process.execPath, [PROGRAM, 'user', 'add', 'patient'], { env: { ...process.env, ...env } })
  t.teardown(() => child.stdin.end())
  child.stdin.write('correct horse\n')
  t.strictSame(await once(child, 'exit'), [0, null])
})

t.test('a line on stdin of more than 64 kB is refused before it ends', async t => {
  const stdin = new PassThrough({ highWaterMark: 1_000_000 })
  for (let part = 0; part < 9; part++) stdin.write('x'.repeat(8192))
  t.match(await run('user add endless', stdin), {
    code: 2,
    stdout: '',
    stderr: 'heroes: the first line of stdin is longer than 65536 bytes\n'
  })
  t.ok(stdin.destroyed)
})

const { stdout: version } = spawnSync('script', ['--version'], { encoding: 'utf8' })
const script = /util-linux/.test(version) ? {} : { skip: 'there is no script(1) of util-linux that makes a terminal' }

/** One command on a terminal of its own: types each entry at its prompt, and resolves to all that the terminal shows. */
const onTerminal = async (command: string, entries: readonly (readonly [prompt: string, entry: string])[]) => {
  const child = spawn('script', ['-qec', `"${process.execPath}" "${PROGRAM}" ${command}`, '/dev/null'], {
    env: { ...process.env, ...env }
  })
  let seen = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen += text
  })
  const ended = once(child, 'close')
  for (const [prompt, entry] of entries) {
    while (!seen.endsWith(prompt)) await once(child.stdout, 'data')
    child.stdin.write(entry)
  }
  const [code] = await ended
  return { code, seen: seen.replaceAll('\r', '') }
}

t.test(
  'a real terminal shows nothing of a password that is typed, and echoes the answer to a question',
  script,
  async t => {
    const password = 'not to be seen\r'
    t.match(
      await onTerminal('user add pty', [
        ['Password: ', password],
        ['Password again: ', password]
      ]),
      { code: 0, seen: /^Password: \nPassword again: \n\{[^\n]+\}\nThe user pty is registered\.\n$/ }
    )
    const question = 'Remove the user pty with every code and token? [y/N] '
    t.strictSame(await onTerminal('user remove pty', [[question, '\u0004']]), {
      code: 1,
      seen: `${question}\nheroes: the user pty is not removed\n`
    })
    const { code, seen } = await onTerminal('user remove pty', [[question, 'yes\r']])
    t.equal(code, 0)
    t.equal(seen.replace(/\{.*\}\n/, ''), `${question}yes\nThe user pty is removed.\n`)
  }
)
