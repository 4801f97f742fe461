import { spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { heroes } from '../support/command.js'
import {
  ask,
  firstClient,
  logInAtFirst,
  type RunningService,
  serveProcess,
  startProcess,
  temporaryFolder
} from '../support/process.js'

const heroNames = async ({ url }: RunningService, headers: Readonly<Record<string, string>>): Promise<Set<string>> => {
  const found: { name: string }[] = JSON.parse((await ask(`${url}/heroes`, { headers })).body)
  return new Set(found.map(({ name }) => name))
}

const hasShell = spawnSync('bash', ['-c', 'command -v curl sed']).status === 0

t.test('the service on the embedded database', { buffered: true }, async t => {
  const scopes = { HEROES_READ_SCOPE: 'heroes.read', HEROES_WRITE_SCOPE: "the+hero's" }
  const env = { DATA_DIR: temporaryFolder(t), ...scopes }
  const first = await serveProcess(t, env)
  const clients = /^ID [^\n]*\ndocs +public [^\n]*\nlocal +confidential [^\n]*\n$/

  const skip = hasShell ? {} : { skip: 'there is no bash or no curl' }
  await t.test('prints three command lines that work unchanged', skip, async t => {
    await firstClient(first)
    const lines = [...first.output().matchAll(/^ {2}((?:curl|TOKEN=).*)$/gm)].map(([, line]) => line)
    t.equal(lines.length, 3)
    const { stdout } = spawnSync('bash', ['-c', lines.join('\n')], { encoding: 'utf8' })
    t.match(stdout, /^\{"id":\d+,"username":"ada"\}\{"id":\d+,"name":"Starling"\}$/)
  })

  const headers = await logInAtFirst(first, Object.values(scopes).join(' '))
  const kept = await heroNames(first, headers)

  await t.test('refuses a second process on its folder and goes on serving', async t => {
    const second = startProcess(t, ['serve'], { ...env, PORT: '0' })
    t.equal(await second.ended, 1)
    t.match(
      second.output(),
      /^heroes: DATA_DIR cannot be used: the folder [^\n]+ is in use by another process[^\n]*\n$/
    )
    t.match(await heroes('client list', env), { code: 0, stdout: clients }, 'a command reaches the first one')
    t.equal((await ask(`${first.url}/heroes`, { headers, body: { name: 'Corvid' } })).status, 200)
    kept.add('Corvid')
  })

  t.equal(await first.stop('SIGTERM'), 0, 'ends with exit code 0')
  t.equal(first.output().split('client_secret').length, 2)
  t.match(await heroes('client list', env), { code: 0, stdout: clients, stderr: '' })

  const holdsAll = async (service: RunningService): Promise<boolean> => {
    const stored = await heroNames(service, headers)
    return [...kept].every(name => stored.has(name))
  }
  for (let round = 0; round < 3; round++) {
    const service = await serveProcess(t, env)
    t.ok(
      await holdsAll(service),
      `start ${round + 2}: the token is accepted, and every hero that was acknowledged is there`
    )
    const write = async (writer: number): Promise<void> => {
      for (let count = 0; ; count++) {
        const name = `hero ${round} ${writer} ${count}`
        const { status } = await ask(`${service.url}/heroes`, { headers, body: { name } })
        if (status === 200) kept.add(name)
      }
    }
    const writing = Promise.allSettled([write(0), write(1), write(2), write(3)])
    const before = kept.size
    while (kept.size < before + 40) await sleep(1)
    t.equal(await service.stop('SIGKILL'), 'SIGKILL')
    await writing
  }
  const last = await serveProcess(t, env)
  t.ok(await holdsAll(last), 'after three kills every hero that was acknowledged is there')
  t.notMatch(last.output(), 'client_secret', 'registers no second client')
  t.equal(await last.stop('SIGINT'), 0)
})
