import { once } from 'node:events'
import { existsSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, request } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { deserialize, serialize } from 'node:v8'
import t, { type Test } from 'tap'
import { lockFolder } from '../../../adapters/postgres/embedded/folder.js'
import { callService } from '../../../app/control/client.js'
import { ADMINISTRATION, openSocketPath } from '../../../app/control/protocol.js'
import { listenForCommands, type Reached } from '../../../app/control/service.js'
import { takeCommands } from '../../../app/serve/serve.js'
import type { DatabaseSettings } from '../../../app/settings/settings.js'
import { type Client, createUseCases, DomainError, type SecurityEvent, type UseCases } from '../../../core/index.js'
import { told as eventLine, heroes } from '../../support/command.js'
import { temporaryFolder } from '../../support/process.js'
import { signal } from '../../support/waiting.js'
import { createWorld } from '../../support/world.js'

const NOWHERE = { emit: () => {} }

/** A service that takes calls in a new folder, and what its log is told. `changes` replace use cases. */
const open = async (
  t: Test,
  changes: Partial<UseCases> = {},
  folder = temporaryFolder(t),
  { backup, ...options }: Partial<Pick<Reached, 'backup'>> & Parameters<typeof listenForCommands>[3] = {}
) => {
  const { ports, policy } = createWorld()
  const told: SecurityEvent[] = []
  const close = await listenForCommands(
    folder,
    { createUseCases: events => ({ ...createUseCases({ ...ports, events }, policy), ...changes }), backup },
    { emit: event => told.push(event) },
    options
  )
  t.teardown(close)
  return { folder, told, close, path: join(folder, 'socket') }
}

const call = async (t: Test, folder: string, emit: (event: SecurityEvent) => void = () => {}) => {
  const service = await callService(folder, { emit })
  if (service === undefined) throw new Error('nobody answers')
  t.teardown(service.close)
  return service
}

t.test('every use case of an operator reaches the service, and its events are told on both sides', async t => {
  const { folder, told } = await open(t)
  const heard: SecurityEvent[] = []
  const { useCases } = await call(t, folder, event => heard.push(event))
  t.strictSame(Object.keys(useCases).sort(), [...ADMINISTRATION].sort())

  const { client, secret } = await useCases.addClient({
    id: 'app',
    secret: { generate: true },
    allowedScopes: ['a'],
    name: 'App',
    requirePkce: false
  })
  t.equal(secret?.length, 32)
  t.strictSame(await useCases.findClient('app'), client)
  t.match(await useCases.changeClient('app', { name: undefined }), { name: undefined })
  await useCases.rotateSecret('app', undefined, 60)
  const [rotated] = await useCases.listClients()
  t.ok(rotated?.previousSecret?.until instanceof Date)
  await useCases.removeClient('app')
  const ada = await useCases.registerUser({ username: 'ada', password: 'x' })
  t.strictSame(await useCases.userPage({ after: undefined, limit: 1 }), { users: [ada], nextAfter: undefined })
  await useCases.setPassword({ username: 'ada', password: 'y' })
  await useCases.revokeUser('ada')
  await useCases.removeUser('ada')
  const hashedPassword = Buffer.alloc(32).toString('base64')
  t.strictSame(await useCases.importUsers([{ username: 'grace', hashedPassword, salt: 'x' }]), ['imported'])
  await useCases.setScopeText({ name: 'a', text: 'A' })
  t.strictSame(await useCases.listScopeTexts(), [{ name: 'a', text: 'A' }])
  await useCases.removeScopeText('a')
  t.strictSame(await useCases.importHeroes([{ name: 'Ant' }, { name: '' }]), [
    'imported',
    { refused: 'name must have 1 to 255 characters' }
  ])
  const { heroes } = await useCases.heroPage({ nameContains: undefined, after: undefined, limit: 10 })
  t.strictSame(
    heroes.map(({ name }) => name),
    ['Ant']
  )

  t.strictSame(heard, told)
  t.strictSame(
    told.map(({ event }) => event),
    ['client.added', 'client.changed', 'client.secret_rotated', 'client.removed'].concat([
      'user.added',
      'user.password_set',
      'user.revoked',
      'user.removed',
      'user.imported'
    ])
  )
})

t.test('a refusal comes over with its code and its cause, and a bug with its message', async t => {
  const { folder } = await open(t, {
    listScopeTexts: () =>
      Promise.reject(new DomainError('unavailable', 'the database is away', { cause: new Error('EIO') })),
    listClients: () => Promise.reject(new Error('broken'))
  })
  const { useCases } = await call(t, folder)
  await t.rejects(useCases.findClient('nobody'), {
    name: 'DomainError',
    code: 'not_found',
    message: 'no client has this id'
  })
  await t.rejects(useCases.listScopeTexts(), { code: 'unavailable', message: 'the database is away: EIO' })
  await t.rejects(useCases.listClients(), { name: 'Error', message: 'broken' })
  t.strictSame((await useCases.userPage({ limit: 1 })).users, [], 'the connection goes on')
})

/** Sends a request to the socket and resolves to the answer. */
const send = async (socketPath: string, method: string, path: string, body?: Buffer) => {
  const sent = request({ socketPath, method, path }).end(body)
  const [answer] = await once(sent, 'response')
  return { status: answer.statusCode, body: await buffer(answer) }
}

t.test('no password hash leaves the service', async t => {
  const { path } = await open(t)
  const hashedPassword = Buffer.alloc(32).toString('base64')
  const calls: [name: string, ...args: unknown[]][] = [
    ['registerUser', { username: 'ada', password: 'x' }],
    ['importUsers', [{ username: 'grace', hashedPassword, salt: 'x' }]],
    ['setPassword', { username: 'ada', password: 'y' }],
    ['userPage', { after: undefined, limit: 10 }]
  ]
  for (const [name, ...args] of calls) {
    const { status, body } = await send(path, 'POST', `/${name}`, serialize(args))
    t.equal(status, 200)
    const { outcome } = deserialize(body)
    t.notMatch(JSON.stringify(outcome), /argon2|password|salt/i, name)
    t.ok('result' in outcome, name)
  }
})

t.test('calls and answers of megabytes arrive', async t => {
  const { folder } = await open(t)
  const { useCases } = await call(t, folder)
  const heroes = Array.from({ length: 1000 }, (_, i) => ({ name: `${i}${'\u{1f9b8}'.repeat(200)}` }))
  t.strictSame(
    await useCases.importHeroes(heroes),
    heroes.map(() => 'imported')
  )
  t.equal((await useCases.heroPage({ nameContains: undefined, after: undefined, limit: 1000 })).heroes.length, 1000)
})

t.test('what is no call is refused, and the service goes on', async t => {
  const { folder, path } = await open(t)
  const none = serialize([])
  for (const [method, url, body, status] of [
    ['POST', '/issueToken', none, 404],
    ['POST', '/constructor', none, 404],
    ['GET', '/listClients', undefined, 404],
    ['POST', '/listClients', undefined, 400],
    ['POST', '/listClients', Buffer.from('[]'), 400],
    ['POST', '/listClients', serialize(undefined), 400]
  ] as const) {
    t.equal((await send(path, method, url, body)).status, status, `${method} ${url} ${body}`)
  }
  const { useCases } = await call(t, folder)
  t.strictSame(await useCases.listClients(), [])
})

t.test('a call that is longer than any batch is refused, and the service goes on', async t => {
  const { folder, path } = await open(t)
  const long = Buffer.alloc(128 * 1024 * 1024 + 1)
  // The connection ends, whether or not the answer still arrives.
  const { status } = await send(path, 'POST', '/importHeroes', long).catch(() => ({ status: 400 }))
  t.equal(status, 400)
  const { useCases } = await call(t, folder)
  t.strictSame(await useCases.listClients(), [])
})

t.test('only the owner may open the socket, which goes with the service', async t => {
  const { path, close } = await open(t)
  t.equal(statSync(path).mode & 0o777, 0o600)
  await close()
  t.notOk(existsSync(path))
})

t.test('a socket that a killed service left is replaced, and anything else of its name stays', async t => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'socket')
  // Renaming keeps the socket from being removed when its server ends.
  const left = createServer().listen(`${path}.left`)
  await once(left, 'listening')
  renameSync(`${path}.left`, path)
  left.close()
  t.equal(await callService(folder, NOWHERE), undefined, 'nobody answers there')
  await open(t, {}, folder)
  await call(t, folder)

  const other = temporaryFolder(t)
  writeFileSync(join(other, 'socket'), 'mine')
  await t.rejects(open(t, {}, other), { code: 'EADDRINUSE' })
  t.equal(statSync(join(other, 'socket')).size, 4)
  t.equal(await callService(temporaryFolder(t), NOWHERE), undefined)
})

t.test('a folder with a long path has a socket where descriptors are paths', async t => {
  const folder = join(temporaryFolder(t), 'x'.repeat(120))
  mkdirSync(folder)
  const descriptors = '/nowhere'
  t.equal(openSocketPath(folder, descriptors), undefined)
  t.equal(await callService(folder, NOWHERE, undefined, descriptors), undefined)
  await t.rejects(open(t, {}, folder, { descriptors }), {
    message: /^the path of the folder .*x is too long for a socket$/
  })
  const long = { skip: !existsSync('/proc/self/fd') }
  await t.test('through a descriptor', long, async t => {
    const { path, close } = await open(t, {}, folder)
    const { useCases } = await call(t, folder)
    t.strictSame(await useCases.listClients(), [])
    t.equal(statSync(path).mode & 0o777, 0o600)
    await close()
    t.notOk(existsSync(path))
    writeFileSync(path, '')
    await t.rejects(open(t, {}, folder), { code: 'EADDRINUSE' })
  })
})

t.test('a list of users is printed whole and in columns, however many pages it comes in', async t => {
  const { folder } = await open(t)
  mkdirSync(join(folder, 'postgres'))
  t.teardown(await lockFolder(folder))
  const { useCases } = await call(t, folder)
  const run = (line: string) => heroes(line, { DATA_DIR: folder })
  const hashedPassword = Buffer.alloc(32).toString('base64')
  const users = Array.from({ length: 2001 }, (_, i) => ({ id: i + 1, username: `user ${i + 1}` }))
  for (const count of [1000, 1001, 2001]) {
    const listed = users.slice(0, count)
    await useCases.importUsers(listed.map(({ username }) => ({ username, hashedPassword, salt: 'x' })))
    t.match(await run('user list --json'), { code: 0, stdout: `${JSON.stringify(listed)}\n`, stderr: '' })
    const lines = listed.map(({ id, username }) => `${String(id).padEnd(4)}  ${username}\n`)
    t.match(await run('user list'), { code: 0, stdout: ['ID    USERNAME\n', ...lines].join(''), stderr: '' })
  }
})

t.test('a service of another version is refused', async t => {
  const folder = temporaryFolder(t)
  const server = createHttpServer((_request, response) => response.setHeader('heroes-version', '0.0.1').end())
  server.listen(join(folder, 'socket'))
  await once(server, 'listening')
  t.teardown(() => server.close())
  await t.rejects(callService(folder, NOWHERE), {
    message: /^the service that runs is version 0\.0\.1, and this is \d+\.\d+\.\d+: stop it first$/
  })
})

t.test('a service that accepts the connection and says nothing is not waited for', async t => {
  const folder = temporaryFolder(t)
  const server = createServer(socket => socket.on('error', () => {})).listen(join(folder, 'socket'))
  await once(server, 'listening')
  t.teardown(() => server.close())
  await t.rejects(callService(folder, NOWHERE, 50), {
    message: 'the service that runs does not answer: see whether it is stopped, or end it'
  })
})

/** A use case that begins and does not end until the test says so. */
const held = () => {
  const begun = signal()
  const ended = signal()
  const listClients = async (): Promise<readonly Client[]> => {
    begun.give()
    await ended.given
    return []
  }
  return { listClients, begun: begun.given, end: ended.give }
}

const ENDED = { message: 'the service has ended, and may or may not have done this; try again' }

t.test('when the service ends, a call under way is answered, and a later one is not', async t => {
  const { listClients, begun, end } = held()
  const { folder, close } = await open(t, { listClients })
  const idle = await call(t, folder)
  const { useCases } = await call(t, folder)
  const called = useCases.listClients()
  await begun
  const closed = close()
  end()
  t.strictSame(await called, [])
  await closed
  await t.rejects(useCases.listClients(), ENDED)
  await t.rejects(idle.useCases.listClients(), ENDED)
})

t.test('a call that does not end is cut off', async t => {
  const { listClients, begun } = held()
  const { folder, close } = await open(t, { listClients }, temporaryFolder(t), { lastCall: 1 })
  const { useCases } = await call(t, folder)
  const called = t.rejects(useCases.listClients(), ENDED)
  await begun
  await close()
  await called
})

t.test('a backup comes over in pieces, and one that cannot be made says why', async t => {
  const pieces = [Buffer.alloc(3_000_000, 1), Buffer.alloc(10, 2)]
  async function* stream() {
    yield* pieces
  }
  const backup = async () => stream()
  const { folder, close } = await open(t, {}, temporaryFolder(t), { backup })
  const service = await call(t, folder)
  t.strictSame(await buffer(Readable.from(await service.backup())), Buffer.concat(pieces))
  await close()

  const why = new DomainError('unavailable', 'the database is away', { cause: new Error('EIO') })
  const failing = await open(t, {}, temporaryFolder(t), { backup: () => Promise.reject(why) })
  await t.rejects((await call(t, failing.folder)).backup(), { message: 'the database is away: EIO' })

  const without = await open(t)
  await t.rejects((await call(t, without.folder)).backup(), 'a service has none to give')
})

t.test('a backup that is cut off is noticed, and harms no service', async t => {
  const { given, give } = signal()
  async function* stream() {
    yield Buffer.alloc(10)
    await given
    throw new Error('the engine has crashed')
  }
  const { folder } = await open(t, {}, temporaryFolder(t), { backup: async () => stream() })
  const { useCases, backup } = await call(t, folder)
  const cut = buffer(Readable.from(await backup()))
  give()
  await t.rejects(cut)
  t.strictSame(await useCases.listClients(), [])
})

t.test('a command that leaves during its call leaves the service as it is', async t => {
  const { listClients, begun, end } = held()
  const { folder, path } = await open(t, { listClients })
  const leaving = request({ socketPath: path, method: 'POST', path: '/listClients' }).end(serialize([]))
  const left = t.rejects(once(leaving, 'response'))
  await begun
  leaving.destroy()
  await left
  end()
  const { useCases } = await call(t, folder)
  t.strictSame(await useCases.listScopeTexts(), [])
})

t.test('the command line calls the service that has the folder, and is refused where nobody answers', async t => {
  const { folder, told, close } = await open(t)
  mkdirSync(join(folder, 'postgres'))
  t.teardown(await lockFolder(folder))
  const run = (line: string, stdin?: string) => heroes(line, { DATA_DIR: folder }, stdin)
  t.match(await run('client add app --public'), {
    code: 0,
    stdout: 'The client app is registered.\n',
    stderr: eventLine('client.added', { client: 'app' })
  })
  t.strictSame(told, [{ event: 'client.added', client: 'app' }])
  t.match(await run('client add app --public'), { code: 1, stderr: 'heroes: a client with this id exists\n' })
  t.match(await run('import - --json', '{"name":"Ant"}\n'), {
    code: 0,
    stdout: '{"imported":1,"present":0,"refused":0}\n'
  })
  t.match(await run('export'), { code: 0, stdout: '{"name":"Ant"}\n' })
  t.match(await run('migrate'), { code: 0, stdout: 'The database is up to date.\n' })
  await close()
  t.match(await run('client list'), {
    code: 1,
    stderr: /is in use by another process.*stop the service, or wait for the command, that uses it\n$/
  })
})

t.test('a service takes commands on the embedded database alone, and says so where it cannot', async t => {
  const warned: string[] = []
  const log = { warn: (line: string) => warned.push(line) }
  const { useCases } = createWorld()
  const take = (database: DatabaseSettings) =>
    takeCommands(database, { createUseCases: () => useCases, backup: undefined }, NOWHERE, log)
  const folder = temporaryFolder(t)
  await (await take({ kind: 'memory' }))()
  const stop = await take({ kind: 'embedded', folder })
  await call(t, folder)
  await stop()
  t.strictSame(warned, [])
  writeFileSync(join(folder, 'socket'), '')
  await (await take({ kind: 'embedded', folder }))()
  t.match(warned, [/^commands need this service stopped, because they cannot reach it: .*EADDRINUSE/])
})
