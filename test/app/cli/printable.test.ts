import t from 'tap'
import { printable, toPrintableJson } from '../../../app/cli/printable.js'
import { heroes, ONE_LINE, openCommandLine } from '../../support/command.js'

const { env } = await openCommandLine(t)

/** What can steer a terminal or cannot be seen: the control and formatting characters, one of each kind. */
const HOSTILE = [
  '\u001b[2J\u001b]52;c;aGVybw==\u0007',
  'a\r\nb\tc\u007f',
  '\u0085\u009b31m',
  '\u202e\u2066\u2069\u200e\u200f\u061c',
  '\u200b\u200d\u2060\ufeff\u00ad',
  '\u2028\u2029',
  '\u{e0041}\u3164'
].join(' ')
const VISIBLE = [
  '\\u{1b}[2J\\u{1b}]52;c;aGVybw==\\u{7}',
  'a\\u{d}\\u{a}b\\u{9}c\\u{7f}',
  '\\u{85}\\u{9b}31m',
  '\\u{202e}\\u{2066}\\u{2069}\\u{200e}\\u{200f}\\u{61c}',
  '\\u{200b}\\u{200d}\\u{2060}\\u{feff}\\u{ad}',
  '\\u{2028}\\u{2029}',
  '\\u{e0041}\\u{3164}'
].join(' ')
const UNSEEN = /[^\P{C}\n]|[\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u

t.test('text that a person can read is printed as it stands', async t => {
  for (const text of ['ada', 'Ærø 北京 עברית हिन्दी', 'é e\u0301', '🦸🏽', '\\u{1b}', 'C:\\heroes', '  ']) {
    t.equal(printable(text), text)
  }
})

t.test('every control and formatting character, separator of lines and lone half of a pair is escaped', async t => {
  let unseen = 0
  const wrong: string[] = []
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code)
    if (!/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(character)) continue
    unseen += 1
    const escaped = `\\u{${code.toString(16)}}`
    // Gathered, as one assertion for each of several thousand would take seconds.
    if (printable(`a${character}b`) !== `a${escaped}b`) wrong.push(escaped)
    const json = toPrintableJson([character])
    if (!/^\["[ -~]+"\]$/.test(json) || JSON.parse(json)[0] !== character) wrong.push(json)
  }
  t.ok(unseen > 2000)
  t.strictSame(wrong.slice(0, 10), [])
  t.equal(printable('\ud800\ud83e\uddb8\udc00'), '\\u{d800}🦸\\u{dc00}')
})

t.test('JSON that holds nothing to escape is what JSON.stringify makes', async t => {
  for (const value of [null, [], { id: 1, name: 'Ærø 🦸 "\\"' }, 'a']) {
    t.equal(toPrintableJson(value), JSON.stringify(value))
  }
})

const CLIENT = [
  'ID   KIND    REDIRECT URIS  SCOPES  GRANT TYPES                                PKCE      NAME',
  `app  public  -              -       password authorization_code refresh_token  required  ${VISIBLE}\n`
].join('\n')

t.test('what a caller chose is printed with control and formatting characters escaped', async t => {
  const commands: [argv: readonly string[], stdout: string][] = [
    [['user', 'add', HOSTILE], `The user ${VISIBLE} is registered.\n`],
    [['user', 'list'], `ID  USERNAME\n1   ${VISIBLE}\n`],
    [['user', 'revoke', HOSTILE], `The user ${VISIBLE} has no code and no token any more.\n`],
    [['client', 'add', 'app', '--public', '--name', HOSTILE], 'The client app is registered.\n'],
    [['client', 'list'], CLIENT],
    [['client', 'show', 'app'], CLIENT],
    [['user', 'remove', HOSTILE], `The user ${VISIBLE} is removed.\n`]
  ]
  for (const [argv, stdout] of commands) {
    const { stderr, ...ran } = await heroes(argv, env, 'correct horse')
    t.strictSame(ran, { code: 0, stdout }, argv.slice(0, 2).join(' '))
    t.notOk(UNSEEN.test(stderr), 'nor on stderr')
  }
})

t.test('JSON has those characters as its own escapes, and reads as the very text', async t => {
  const argv = ['user', 'add', HOSTILE, '--json']
  const { code, stdout, stderr } = await heroes(argv, env, 'correct horse')
  t.equal(code, 0)
  t.notMatch(stdout + stderr, UNSEEN)
  t.match(stdout, ONE_LINE)
  t.strictSame(JSON.parse(stdout).username, HOSTILE)
  await heroes(['user', 'remove', HOSTILE], env)
})

t.test('a refusal repeats nothing that steers a terminal', async t => {
  const refused: [title: string, argv: readonly string[]][] = [
    ['an id', ['client', 'show', HOSTILE]],
    ['a command', [`serve${HOSTILE}`]],
    ['an option', ['client', 'list', `--${HOSTILE}`]],
    ['the value of an option', ['client', 'rotate-secret', 'app', `--keep-old=${HOSTILE}`]]
  ]
  for (const [title, argv] of refused) {
    const { stdout, stderr } = await heroes(argv, env)
    t.equal(stdout, '')
    t.ok(ONE_LINE.test(stderr), `${title}: one line`)
    t.notOk(UNSEEN.test(stderr), `${title}: escaped`)
  }
  const { stderr } = await heroes(['client', 'list'], { ...env, PORT: HOSTILE })
  t.ok(ONE_LINE.test(stderr), 'the value of a setting: one line')
  t.notOk(UNSEEN.test(stderr), 'the value of a setting: escaped')
})
