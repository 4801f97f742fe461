import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { settingsHelp } from '../app/settings.js'
import { ask, startProcess } from './support/process.js'

const root = join(import.meta.dirname, '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')

/** The shell blocks of one section, in their order. */
const shellBlocks = (section: string): string[] => {
  const text = readme.split(/^## /m).find(part => part.startsWith(section)) ?? ''
  return Array.from(text.matchAll(/^```sh\n(.*?)^```$/gms), ([, block = '']) => block)
}

t.test('the first session of the README works word for word, but for the port', async t => {
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

  const session = shellBlocks('A first session').join('\n').replaceAll('http://localhost:3000', String(url))
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
})

t.test('the README lists every setting as the help does', async t => {
  t.ok(readme.includes(`\`\`\`text\n${settingsHelp()}\n\`\`\``), settingsHelp())
})

t.test('the host in the README is the one that a test runs', async t => {
  const host = readFileSync(join(root, 'test/hosts/node-http.mjs'), 'utf8')
  t.ok(readme.includes(`\`\`\`js\n${host}\`\`\``))
})

t.test('that host serves in the checkout; test/long/package.test.ts has it beside argon2 alone', async t => {
  const host = startProcess(t, [], {}, join(root, 'test/hosts/node-http.mjs'))
  const [, port] = await host.until(/listening on (\d+)/)
  const url = `http://127.0.0.1:${port}`
  t.match(await ask(`${url}/register`, { body: { username: 'ada', password: 'correct horse' } }), { status: 200 })
  t.match(await ask(`${url}/heroes`), { status: 401 })
})

t.test('every test that the README names is in the file it links', async t => {
  const links = Array.from(readme.matchAll(/(?<!!)\[([^[\]]+)\]\((test\/[^)]+)\)/g))
  t.ok(links.length > 15)
  for (const [, title = '', file = ''] of links) t.ok(readFileSync(join(root, file), 'utf8').includes(title), title)
})
