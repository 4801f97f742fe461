import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { settingsHelp } from '../app/settings/settings.js'
import { ask } from './support/process.js'

const root = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const readme = read('README.md')

/** The blocks of one language in a text. */
const blocks = (text: string, language: string): string[] =>
  text
    .split(`\`\`\`${language}\n`)
    .slice(1)
    .map(rest => rest.slice(0, rest.indexOf('```')))

const hasShell = spawnSync('bash', ['-c', 'command -v curl']).status === 0
const ifThereIsOne = hasShell ? {} : { skip: 'there is no bash or no curl' }

t.test('the first session of the README works word for word, but for the port', ifThereIsOne, async t => {
  // In memory, as it starts ten times faster; test/long/process.test.ts has the embedded database.
  const env = { ...process.env, DATABASE_URL: 'memory:', PORT: '0' }
  const service = spawn(process.execPath, ['dist/app/main.js', 'serve'], { cwd: root, env })
  t.teardown(async () => {
    service.kill()
    if (service.exitCode === null) await once(service, 'exit')
  })
  let printed = ''
  for await (const chunk of service.stdout) {
    printed += chunk
    if (printed.includes('/heroes -H')) break
  }
  const secret = /client_secret +(\S+)/.exec(printed)?.[1]
  const url = /curl (http:\/\/localhost:\d+)\/register/.exec(printed)?.[1]
  t.ok(secret && url, 'the first start prints a client and where it is to be used')

  const section = readme.split(/^## /m).find(part => part.startsWith('A first session')) ?? ''
  const session = blocks(section, 'sh').join('\n').replaceAll('http://localhost:3000', String(url))
  const shell = spawn('bash', ['-e', '-u', '-o', 'pipefail', '-c', session], { stdio: ['pipe', 'pipe', 'pipe'] })
  shell.stdin.end(`${secret}\n`)
  const [output, complaints, [code]] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'exit')])
  t.equal(code, 0, complaints)
  const answers = output.match(/\{[^{}]*\}|\[[^\]]*\]/g)
  t.match(answers, [
    /"username":"ada"/,
    /^\[\{"id":\d+,"name":"Starling"\}\]$/,
    /^\[\{"id":\d+,"name":"Starling"\}\]$/,
    /^\{"id":\d+,"name":"Starling"\}$/,
    /^\{"id":\d+,"name":"Night Starling"\}$/,
    /"active":true/
  ])

  const login = /<(http:\/\/localhost:3000\/auth\/code\S+)>/.exec(readme)?.[1]
  const page = await ask(String(login).replace('http://localhost:3000', String(url)))
  t.match([page.status, page.body], [200, '<form method="post"'], 'the address of the login page shows the form')
})

t.test('the README lists every setting as the help does', async t => {
  t.ok(readme.includes(`\`\`\`text\n${settingsHelp()}\n\`\`\``), settingsHelp())
})

t.test('the README is short enough for a front door', async t => {
  t.ok(readme.trim().split(/\s+/).length < 2000)
})

t.test("the operator's guide can be read in one sitting", async t => {
  t.ok(read('app/OPERATING.md').trim().split(/\s+/).length < 1800)
})

t.test('the JavaScript example of each README runs', async t => {
  for (const file of ['README.md', 'core/README.md', 'test/README.md']) {
    const [example = 'fail()'] = blocks(read(file), 'js')
    const ran = spawnSync(process.execPath, ['--input-type=module', '--eval', example], {
      cwd: root,
      encoding: 'utf8',
      // The coverage would have the suites for stores, which the package has beside the service.
      env: { ...process.env, NODE_V8_COVERAGE: '' }
    })
    t.has(ran, { status: 0, stderr: '' }, file)
  }
})

const FOLDERS = ['core', 'adapters', 'app', 'test', 'drizzle']
const files = FOLDERS.flatMap(folder =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(file => `${folder}/${file}`)
).map(file => file.replaceAll('\\', '/'))
const readmes = ['README.md', 'app/OPERATING.md', ...files.filter(file => file.endsWith('/README.md'))]

/** The anchor of a heading, as those who draw Markdown make it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
const anchorsOf = (text: string): string[] =>
  Array.from(text.matchAll(/^#+ (.+)$/gm), ([, heading = '']) => anchorOf(heading))

for (const file of readmes) {
  const text = read(file)

  t.test(`${file} begins with its name and one sentence that says what is there`, async t => {
    t.ok(/^# [^\n]+\n\n[A-Z](?:[^\n.]|\.(?=\S))*\.\n\n/.test(text))
  })

  t.test(`every link in ${file} leads somewhere, and every test that it names is in the file it links`, async t => {
    const prose = text.replaceAll(/^```.*?^```$/gms, '')
    for (const [link, words = '', target = ''] of prose.matchAll(/\[((?:[^[\]]|\[[^[\]]*\])+)\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue
      const [path = '', anchor] = target.split('#')
      const there = path === '' ? join(root, file) : resolve(root, dirname(file), path)
      t.ok(existsSync(there), link)
      if (anchor !== undefined) t.ok(anchorsOf(readFileSync(there, 'utf8')).includes(anchor), link)
      // A title is several words, the name of a file is one.
      const isTitle = target.endsWith('.ts') && /\S \S+ \S/.test(words)
      if (isTitle) t.ok(readFileSync(there, 'utf8').includes(words), link)
    }
  })
}

t.test('the comparison names a test for every line', async t => {
  const rows = read('test/README.md').match(/^\| .* \|$/gm) ?? []
  const compared = rows.filter(row => row.split(' | ').length === 7).slice(1)
  t.ok(compared.length > 15)
  for (const row of compared) t.match(row, /\.ts\) \|$/)
})

t.test('every rule of the wire is named by a test, and every rule that a test names is there', async t => {
  const rules = Array.from(read('app/http/README.md').matchAll(/^\*\*(\d+\.\d+) /gm), ([, rule]) => rule)
  t.strictSame(rules, [...new Set(rules)])
  const named = files
    .filter(file => /^test\/.*\.ts$/.test(file) && !file.includes('/dist/'))
    .flatMap(file =>
      Array.from(read(file).matchAll(/['"`]wire ([\d.]+)(?: and ([\d.]+))?: /g), ([, ...both]) => both).flat()
    )
  const known = new Set(named.filter(rule => rule !== undefined))
  t.strictSame([...known].sort(), [...rules].sort())
})
