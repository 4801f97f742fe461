import t from 'tap'
import { openCommandLine, told } from '../../support/command.js'

const { run, json } = await openCommandLine(t)

t.test('users are registered, listed, given passwords, revoked and removed', async t => {
  t.strictSame(await json('user add ada', 'correct horse\n'), { id: 1, username: 'ada' })
  t.match(await run('user add grace', 'x'), {
    code: 0,
    stdout: /^The user grace is registered\.\n$/,
    stderr: told('user.added', { user: 2 })
  })
  t.strictSame(await json('user list'), [
    { id: 1, username: 'ada' },
    { id: 2, username: 'grace' }
  ])
  t.strictSame(await run('user list'), { code: 0, stdout: 'ID  USERNAME\n1   ada\n2   grace\n', stderr: '' })
  for (const [command, event] of [
    ['set-password', 'user.password_set'],
    ['revoke', 'user.revoked'],
    ['remove', 'user.removed']
  ] as const) {
    t.strictSame(await json(`user ${command} grace`, 'a new one'), { username: 'grace' }, command)
    t.match(
      await run(`user ${command} ada`, 'another'),
      { code: 0, stdout: /^The user ada .*\.\n$/, stderr: told(event, { user: 1 }) },
      command
    )
  }
  t.strictSame(await json('user list'), [])
  t.strictSame(await run('user list'), { code: 0, stdout: 'No users are registered.\n', stderr: '' })
})

t.test('a user command that cannot be carried out ends with exit code 1 and one line on stderr', async t => {
  await run('user add taken', 'password')
  const cases: [line: string, stdin?: string][] = [
    ['user add taken', 'password'],
    ['user add nobody', ''],
    ['user set-password nobody', 'password'],
    ['user set-password taken', '\n'],
    ['user revoke nobody'],
    ['user remove nobody']
  ]
  for (const [line, stdin] of cases) {
    t.match(await run(`${line} --json`, stdin), { code: 1, stdout: '', stderr: /^heroes: [^\n]+\n$/ }, line)
  }
})
