import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import t from 'tap'
import { readLines } from '../../../app/cli/entries.js'
import { heroes, openCommandLine } from '../../support/command.js'
import { temporaryFolder } from '../../support/process.js'

const { env, run, json } = await openCommandLine(t)
const folder = temporaryFolder(t)

/** The path of a new file with this content. */
const file = (name: string, content: string | Buffer): string => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const lines = (...texts: readonly string[]): string => texts.map(text => `${text}\n`).join('')
const counts = (imported: number, present: number, refused: number): string =>
  `${JSON.stringify({ imported, present, refused })}\n`
/** What stderr says of wrong lines. */
const wrong = (...faults: readonly string[]): string =>
  lines(
    ...faults.map(fault => `heroes: line ${fault}`),
    `heroes: ${faults.length} ${faults.length === 1 ? 'line was' : 'lines were'} refused`
  )
/** The names that `heroes export` prints, in its order. */
const exported = async (): Promise<readonly string[]> => {
  const { stdout } = await run('export')
  return stdout
    .split('\n')
    .slice(0, -1)
    .map(line => JSON.parse(line).name)
}

t.test('without heroes export prints nothing, and with --json an empty list', async t => {
  t.strictSame(await run('export'), { code: 0, stdout: '', stderr: '' })
  t.strictSame(await run('export --json'), { code: 0, stdout: '[]\n', stderr: '' })
})

t.test('JSON lines are imported in their order, and a second run finds every hero present', async t => {
  const content = lines(
    '{"name":"Zorro"}',
    '',
    '{"id":[7],"name":"Ant"}\r',
    '  ',
    '{"name":"Ze\\u0301lie \\u001b[31m"}'
  )
  t.strictSame(await run('import -', content), {
    code: 0,
    stdout: '3 heroes imported, 0 there already, 0 refused\n',
    stderr: ''
  })
  t.strictSame(await run(`import ${file('heroes.jsonl', content)} --json`), {
    code: 0,
    stdout: counts(0, 3, 0),
    stderr: ''
  })
  t.strictSame(await exported(), ['Zorro', 'Ant', 'Ze\u0301lie \u001b[31m'])
  t.match(await run('export'), { stdout: / \\u001b\[31m"\}\n$/ })
  t.strictSame(
    await json('export'),
    (await exported()).map(name => ({ name }))
  )
})

t.test('what is exported can be imported elsewhere, whatever the names', async t => {
  const other = await openCommandLine(t)
  const names = ['\ufeffx', 'a\nb', '"', "it's", '\u{1f9b8}'.repeat(255), '\u2028', '\\']
  await run('import -', lines(...names.map(name => JSON.stringify({ name }))))
  const { stdout } = await run('export')
  t.match(await other.run('import -', stdout), { code: 0, stderr: '' })
  t.strictSame((await other.run('export')).stdout, stdout)
})

t.test('a wrong line is told with its number and stops nothing', async t => {
  const content = Buffer.concat([
    Buffer.from('\ufeff{"name":"After a mark"}\n'),
    Buffer.from('{"name":"\xff"}\n', 'latin1'),
    Buffer.from(
      lines(
        '{"name":"half',
        '[]',
        'null',
        '"Ant"',
        '5',
        '{}',
        '{"name":5}',
        '{"name":"","id":1}',
        '{"name":"known","cape":"x"}',
        '{"name":"known","__proto__":{}}',
        '{"name":"\\u0000"}',
        '{"name":"\\ud800"}',
        `{"name":"${'x'.repeat(256)}"}`,
        '{"name":"Zorro"}',
        `{"name":"${'x'.repeat(70_000)}"}`
      )
    ),
    Buffer.from('{"name":"The last, without a line feed"}')
  ])
  const other = 'it has a key other than name'
  t.strictSame(await run(`import ${file('wrong.jsonl', content)} --json`), {
    code: 1,
    stdout: counts(2, 1, 15),
    stderr: wrong(
      '2: it is not UTF-8',
      '3: it is not JSON',
      ...[4, 5, 6, 7].map(number => `${number}: it must be an object with name`),
      '8: name must be a text',
      '9: name must be a text',
      '10: name must have 1 to 255 characters',
      `11: ${other}`,
      `12: ${other}`,
      '13: name holds a NUL or a lone surrogate: leave it out',
      '14: name holds a NUL or a lone surrogate: leave it out',
      '15: name must have 1 to 255 characters',
      '17: it is longer than 65536 bytes'
    )
  })
  t.strictSame((await exported()).slice(-2), ['After a mark', 'The last, without a line feed'])
})

t.test('a .csv file has a header, quotes, line breaks in quotes and either end of line', async t => {
  const content =
    '\ufeffid,name\r\n1,Comma\r\n\r\n2,"Comma, ""the"" second"\r\n3,"two\r\nlines"\n4,  spaces \n,"\ufeffmark"\n5,Ant\n6,'
  const path = file('heroes.CSV', content)
  t.strictSame(await run(`import ${path}`), {
    code: 1,
    stdout: '5 heroes imported, 1 there already, 1 refused\n',
    stderr: wrong('10: name must have 1 to 255 characters')
  })
  t.strictSame((await exported()).slice(-5), [
    'Comma',
    'Comma, "the" second',
    'two\r\nlines',
    '  spaces ',
    '\ufeffmark'
  ])
  t.match(await run(`import ${path} --json`), { stdout: counts(0, 6, 1) })
})

t.test('a row of a .csv file that is wrong costs its own line alone', async t => {
  const path = (content: string | Buffer) => file('wrong.csv', content)
  const ran = await run(
    `import ${path(
      Buffer.concat([
        Buffer.from('name\n'),
        Buffer.from('5" screen\n"never closed\nrow one\n"row" two\nrow,three\n\xff\n"open\n', 'latin1'),
        Buffer.from('\xff\n', 'latin1'),
        Buffer.from(`row four\n"${'x'.repeat(70_000)}"\n"row ""five"""`)
      ])
    )} --json`
  )
  const quote = 'it is not CSV: a quote is in the wrong place'
  t.strictSame(ran, {
    code: 1,
    stdout: counts(3, 0, 8),
    stderr: wrong(
      `2: ${quote}`,
      `3: ${quote}`,
      `5: ${quote}`,
      '6: it has 2 fields, and the header has 1',
      '7: it is not UTF-8',
      `8: ${quote}`,
      '9: it is not UTF-8',
      '11: it is longer than 65536 bytes'
    )
  })
  t.strictSame((await exported()).slice(-3), ['row one', 'row four', 'row "five"'])
  t.match(await run(`import ${path('id,name\nrow six\n')}`), {
    stderr: wrong('2: it has 1 field, and the header has 2')
  })
  const long = `"${lines(...Array(40).fill('y'.repeat(2000)))}`
  t.match(await run(`import ${path(`name\n${long}`)}`), { code: 1, stderr: /^heroes: line 2: it is not CSV/ })
  const broad = 'y'.repeat(40_000)
  t.match(await run(`import ${path(`name\n"${broad}\n${broad}"`)}`), {
    code: 1,
    stderr: /^heroes: line 2: it is not CSV/
  })
  const many = `"${lines(...Array.from({ length: 300 }, (_, i) => `many ${i}`))}`
  t.match(await run(`import ${path(`name\n${many}`)} --json`), { code: 1, stdout: counts(299, 0, 1) })
})

t.test('a .csv file whose header names no name is refused as a whole', async t => {
  for (const header of ['', 'title\nAnt', 'id\n1', 'name,name\na,b', 'name,alias\na,b', 'name;id\na;1', '"name\nx']) {
    t.strictSame(
      await run(`import ${file('header.csv', header)}`),
      {
        code: 1,
        stdout: '',
        stderr: 'heroes: line 1: the header must name the columns, of which there may be: name, id\n'
      },
      header
    )
  }
})

t.test('a file that cannot be read ends the command with one line that names it', async t => {
  t.match(await run(`import ${join(folder, 'absent')}`), {
    code: 1,
    stdout: '',
    stderr: /^heroes: .*absent cannot be read: ENOENT[^\n]*\n$/
  })
  t.match(await run(`import ${folder}`), { code: 1, stdout: '', stderr: /^heroes: .* cannot be read: EISDIR[^\n]*\n$/ })
  t.match(await run('import'), { code: 2, stdout: '', stderr: /^heroes: missing required argument 'file'\n$/ })
  t.strictSame(await run('import /dev/null --json'), { code: 0, stdout: counts(0, 0, 0), stderr: '' })
})

t.test('lines are counted and decoded the same however the chunks are cut', async t => {
  const content = Buffer.from('\ufeffa\n\n\u{1f9b8}\r\nlast')
  const expected = ['a', '', '\u{1f9b8}\r', 'last'].map((value, index) => ({ number: index + 1, value }))
  for (let size = 1; size <= content.length; size++) {
    const chunks = async function* () {
      for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size)
    }
    const read = []
    for await (const line of readLines(chunks())) read.push(line)
    t.strictSame(read, expected, `chunks of ${size}`)
  }
})

t.test('more than a thousand heroes are imported and exported in pieces', async t => {
  const other = await openCommandLine(t)
  const names = Array.from({ length: 2500 }, (_, i) => ({ name: `Hero ${i}` }))
  const content = lines(...names.map(hero => JSON.stringify(hero)))
  t.match(await other.run('import - --json', content), { stdout: counts(2500, 0, 0) })
  t.equal((await other.run('export')).stdout, content)
  t.strictSame(await other.json('export'), names)
})

t.test('on a terminal the progress stands below what is told, and goes at the end', async t => {
  const content = lines('{"name":"Progress"}', 'x')
  const stderr = Object.assign(new PassThrough(), { isTTY: true })
  const ran = await heroes(`import ${file('progress.jsonl', content)}`, env, '', stderr)
  const erase = '\r\u001b[K'
  t.equal(ran.stderr, `heroes: line 2: it is not JSON\n${erase}1 heroes, 1 refused${erase}heroes: 1 line was refused\n`)
})

t.test('users of the predecessor are imported from JSON lines', async t => {
  const user = (username: string, changes = {}) =>
    JSON.stringify({
      username,
      hashedpassword: 'F5xXjIdc5WmrJ1dyMv/mw/tTifssR8Aev9OMezuqxAQ=',
      salt: 'c2FsdA==',
      ...changes
    })
  await run('user add ada', 'password')
  const content = lines(
    user('grace', { id: 12 }),
    user('ada'),
    user('x', { salt: 5 }),
    user('y', { tokens: [] }),
    user('z', { hashedpassword: 'x' })
  )
  const { code, stdout, stderr } = await run(`user import ${file('users.csv', content)} --json`)
  t.strictSame({ code, stdout }, { code: 1, stdout: counts(1, 1, 3) })
  const [event = '', ...rest] = stderr.split('\n')
  t.match(JSON.parse(event), { event: 'user.imported', users: [(await json('user list'))[1].id] })
  t.equal(
    rest.join('\n'),
    wrong(
      '3: salt must be a text',
      '4: it has a key other than username, hashedpassword, salt',
      '5: hashedpassword must be 32 bytes in base64'
    )
  )
})
