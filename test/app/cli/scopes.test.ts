import t from 'tap'
import { heroes, ONE_LINE, openCommandLine, typing } from '../../support/command.js'

const { env, run, json } = await openCommandLine(t)

const set = (name: string, text: string, ...options: string[]) => heroes(['scope', 'set', name, text, ...options], env)

t.test('a scope gets words, gets others in their place, is listed and loses them', async t => {
  t.strictSame(await json('scope list'), [])
  t.strictSame(await run('scope list'), { code: 0, stdout: 'No scope has words.\n', stderr: '' })
  t.strictSame(await set('heroes:read', 'See the heroes'), {
    code: 0,
    stdout: 'The scope heroes:read is shown as: See the heroes\n',
    stderr: ''
  })
  t.strictSame(JSON.parse((await set('heroes:read', '  See the list of heroes ', '--json')).stdout), {
    name: 'heroes:read',
    text: 'See the list of heroes'
  })
  await set('heroes', 'Helden “sehen” 🦸')
  t.strictSame(await json('scope list'), [
    { name: 'heroes', text: 'Helden “sehen” 🦸' },
    { name: 'heroes:read', text: 'See the list of heroes' }
  ])
  t.strictSame(await run('scope list'), {
    code: 0,
    stdout: 'SCOPE        TEXT\nheroes       Helden “sehen” 🦸\nheroes:read  See the list of heroes\n',
    stderr: ''
  })
  t.strictSame(await json('scope remove heroes'), { name: 'heroes' })
  t.match(await run('scope remove heroes:read'), { code: 0, stdout: /^The scope heroes:read .*\.\n$/, stderr: '' })
  t.strictSame(await json('scope list'), [])
})

t.test('remove asks on a terminal, unless --yes is given', async t => {
  await set('asked', 'x')
  const question = 'Remove the words of the scope asked? [y/N] '
  t.match(await run('scope remove asked', typing('n')), { code: 1, stdout: '', stderr: question })
  t.strictSame(await json('scope list'), [{ name: 'asked', text: 'x' }])
  t.match(await run('scope remove asked', typing('y')), { code: 0, stderr: question })
  await set('asked', 'x')
  t.match(await run('scope remove asked --yes', typing('n')), { code: 0, stderr: '' })
})

t.test('a scope is one of RFC 6749 and words are 1 to 255 characters, or exit code 1 and one line', async t => {
  const longest = '🦸'.repeat(255)
  t.match(await set('x'.repeat(255), longest), { code: 0 })
  t.strictSame(await json('scope list'), [{ name: 'x'.repeat(255), text: longest }])
  const refused: [name: string, text: string, why: RegExp][] = [
    ['x'.repeat(256), 'x', /a scope is 1 to 255 characters of printable ASCII/],
    ['', 'x', /a scope is/],
    ['a b', 'x', /a scope is/],
    ['a"', 'x', /a scope is/],
    ['é', 'x', /a scope is/],
    ['a', '', /text must have 1 to 255 characters/],
    ['a', ' \u00a0\n', /text must have 1 to 255 characters/],
    ['a', `${longest}x`, /text must have 1 to 255 characters/],
    ['a', 'a\0b', /text holds a NUL/]
  ]
  for (const [name, text, why] of refused) {
    const ran = await set(name, text)
    t.match(ran, { code: 1, stdout: '', stderr: why }, JSON.stringify([name, text]))
    t.match(ran.stderr, ONE_LINE)
  }
  await run(`scope remove ${'x'.repeat(255)}`)
  for (const name of ['x', 'x'.repeat(256), 'é']) {
    t.strictSame(await run(`scope remove ${name}`), {
      code: 1,
      stdout: '',
      stderr: 'heroes: no words are stored for this scope\n'
    })
  }
  t.strictSame(await json('scope list'), [])
})

t.test('characters of a text that steer a terminal are printed escaped', async t => {
  const hostile = 'a\u001b[2J\nb\u202e'
  t.match(await set('hostile', hostile), { code: 0, stdout: 'shown as: a\\u{1b}[2J\\u{a}b\\u{202e}\n' })
  t.equal((await run('scope list')).stdout, 'SCOPE    TEXT\nhostile  a\\u{1b}[2J\\u{a}b\\u{202e}\n')
  t.strictSame(await json('scope list'), [{ name: 'hostile', text: hostile }])
})

t.test('a scope command with too few or too many arguments ends with exit code 2 and one line', async t => {
  for (const line of ['scope', 'scope set', 'scope set a', 'scope set a b c', 'scope remove', 'scope show a']) {
    t.match(await run(line), { code: 2, stdout: '', stderr: /^heroes: [^\n]+\n$/ }, line)
  }
})
