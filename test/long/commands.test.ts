import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { madeFolder } from '../support/embedded.js'
import {
  ask,
  firstClient,
  GRACE,
  logInAtFirst,
  serveProcess,
  startProcess,
  temporaryFolder
} from '../support/process.js'
import { basic } from '../support/service.js'

/** Runs a command in a process of its own. Resolves to its exit code and its output. */
const run = async (t: Test, DATA_DIR: string, line: string) => {
  const { ended, output } = startProcess(t, line.split(' '), { DATA_DIR })
  return { code: await ended, output: output() }
}

t.test(
  'commands on the embedded database take effect in the running service at once, also after one was killed',
  async t => {
    const DATA_DIR = await madeFolder(t)
    const service = await serveProcess(t, { DATA_DIR })
    const { id, secret } = await firstClient(service)
    const headers = await logInAtFirst(service)
    t.equal((await ask(`${service.url}/heroes`, { headers })).status, 200)

    const rotated = await run(t, DATA_DIR, 'client rotate-secret local --json')
    t.equal(rotated.code, 0, rotated.output)
    const line = rotated.output.split('\n').find(line => line.startsWith('{"id"')) ?? ''
    const body = new URLSearchParams({ grant_type: 'password', ...GRACE })
    const logIn = (secret: string) => ask(`${service.url}/auth/token`, { headers: { ...basic(id, secret) }, body })
    t.equal((await logIn(secret)).status, 401, 'the old secret is refused at once')
    t.equal((await logIn(JSON.parse(line).secret)).status, 200)
    t.match(rotated.output, '"event":"client.secret_rotated","client":"local"')
    await service.until(/"event":"client\.secret_rotated","client":"local"/)

    t.match(await run(t, DATA_DIR, 'user revoke grace'), { code: 0 })
    t.equal((await ask(`${service.url}/heroes`, { headers })).status, 401, 'the token is dead at once')

    const path = join(temporaryFolder(t), 'heroes.jsonl')
    writeFileSync(path, Array.from({ length: 5000 }, (_, i) => `{"name":"Hero ${i}"}\n`).join(''))
    t.match(await run(t, DATA_DIR, `import ${path} --json`), {
      code: 0,
      output: '{"imported":5000,"present":0,"refused":0}\n'
    })

    t.equal(await service.stop('SIGKILL'), 'SIGKILL')
    t.ok(existsSync(join(DATA_DIR, 'socket')), 'a killed service leaves its socket')
    t.match(
      await run(t, DATA_DIR, 'user list'),
      { code: 0, output: /^1 {3}grace$/m },
      'without a service a command does it by itself'
    )
    const again = await serveProcess(t, { DATA_DIR })
    t.equal(statSync(join(DATA_DIR, 'socket')).mode & 0o777, 0o600)
    t.match(await run(t, DATA_DIR, 'user list'), { code: 0, output: /^1 {3}grace$/m })
    t.match(await run(t, DATA_DIR, 'doctor'), { code: 0 })
    t.equal(await again.stop(), 0)
    t.notOk(existsSync(join(DATA_DIR, 'socket')))
  }
)

t.test(
  'nobody but the owner reaches the service, whatever the mode of the folder',
  { skip: process.getuid?.() !== 0 },
  async t => {
    const DATA_DIR = join(temporaryFolder(t), 'data')
    mkdirSync(DATA_DIR)
    spawnSync('chmod', ['-R', '777', join(DATA_DIR, '..')])
    await serveProcess(t, { DATA_DIR })
    const script = `require('net').connect(${JSON.stringify(join(DATA_DIR, 'socket'))}).on('connect', () => console.log('open')).on('error', e => console.log(e.code))`
    const { stdout } = spawnSync(process.execPath, ['-e', script], {
      uid: 65534,
      gid: 65534,
      encoding: 'utf8',
      cwd: '/'
    })
    t.equal(stdout, 'EACCES\n')
  }
)

t.test('a service without a socket says so and serves, and commands need it stopped', async t => {
  const DATA_DIR = await madeFolder(t)
  mkdirSync(join(DATA_DIR, 'socket'))
  const service = await serveProcess(t, { DATA_DIR })
  t.match(service.output(), /"level":40[^\n]*commands need this service stopped/)
  t.equal((await ask(`${service.url}/health/ready`)).status, 200)
  t.match(await run(t, DATA_DIR, 'client list'), {
    code: 1,
    output: /^heroes: .*stop the service, or wait for the command, that uses it\n$/
  })
  t.equal(await service.stop(), 0)
  t.match(await run(t, DATA_DIR, 'client list'), { code: 0, output: /^local /m })
})
