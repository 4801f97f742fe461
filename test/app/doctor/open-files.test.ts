import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { connectionsFor, fewConnections } from '../../../app/doctor/open-files.js'
import { readSettings } from '../../../app/settings/settings.js'
import { PROGRAM } from '../../support/process.js'

const memory = readSettings({ DATABASE_URL: 'memory:' })
const embedded = readSettings({})
const server = readSettings({ DATABASE_URL: 'postgres://h/heroes', DATABASE_POOL: '30' })

t.test('the limit on open files, less what the service needs for itself, is the number of connections', async t => {
  for (const [settings, limit, connections] of [
    [memory, 256, 206],
    [server, 256, 176],
    [embedded, 1024, 774],
    [embedded, 100, 16],
    [memory, 20_000, 10_000],
    [memory, Number.NaN, 10_000]
  ] as const) {
    t.equal(connectionsFor(settings, limit), connections)
  }
})

t.test('fewer than a thousand connections are warned of', async t => {
  t.strictSame(fewConnections(1000), [])
  t.match(fewConnections(999), [
    { check: 'open files', verdict: 'risky', message: /leaves 999 connections/, advice: /ulimit/ }
  ])
})

const posix = process.platform === 'win32' ? { skip: 'Windows has no such limit' } : {}

t.test('a service that may open 300 files says at its start how many connections that leaves', posix, async t => {
  const child = spawn('sh', ['-c', 'ulimit -n 300 && exec "$0" "$@"', process.execPath, PROGRAM, 'serve'], {
    env: { ...process.env, DATABASE_URL: 'memory:', PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  t.teardown(() => child.kill('SIGKILL'))
  let log = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  while (!log.includes('"check":"open files"')) await once(child.stdout, 'data')
  child.kill('SIGTERM')
  await once(child, 'exit')
  t.match(log, /"level":40,[^\n]*"msg":"open files: the limit on open files leaves 250 connections, /)
})
