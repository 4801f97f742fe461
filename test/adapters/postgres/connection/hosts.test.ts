import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type Connection, openConnection } from '../../../../adapters/postgres/connection/connection.js'
import { createHosts, type HostsOptions } from '../../../../adapters/postgres/connection/hosts.js'
import { connectServer } from '../../../../adapters/postgres/connection/server.js'
import type { Tls } from '../../../../adapters/postgres/connection/socket.js'
import { createAuthority } from '../../../support/certificates.js'
import { type FakeServer, startFakeServer } from '../../../support/fake-server.js'
import { listenUntilEnd } from '../../../support/ports.js'
import { createDatabase, execute } from '../../../support/postgres.js'

t.jobs = 4

const WRITE = 'insert'
const OPTIONS = { prepare: true, lookups: false, readClock: async () => {} }

/** Two servers, and what opens connections to the first of them that is good enough. */
const open = async (t: Test, options: HostsOptions = {}) => {
  const [first, second] = [await startFakeServer(t), await startFakeServer(t)]
  const hosts = createHosts(first.url, { hosts: [first.address, second.address], ...options })
  const connect = (): Connection => {
    const connection = openConnection(hosts, OPTIONS)
    t.teardown(() => connection.drop())
    return connection
  }
  /** The server that answers a statement on a connection that is made for it. */
  const answering = async (): Promise<FakeServer | undefined> => serverOf(await connect().run(WRITE, []))
  const serverOf = ([row]: unknown[][]) => [first, second].find(({ address }) => address.port === row?.[0])
  return { first, second, hosts, connect, answering, serverOf }
}

const NO_WRITES = { code: '25006' }

t.test('a connection goes to the first host that answers and takes writes', { buffered: true }, async t => {
  const { first, second, answering } = await open(t, { connectTimeoutSeconds: 1 })
  t.equal(await answering(), first)
  first.readOnly = true
  t.equal(await answering(), second)
  first.readOnly = false
  t.equal(await answering(), second, 'a host that failed is tried last')
  second.standby = true
  second.readOnly = true
  t.equal(await answering(), first)
  second.readOnly = false
  first.refusal = '57P03'
  t.equal(await answering(), second, 'a server that is starting is left for the next one')
  first.refusal = undefined
  second.silent = true
  t.equal(await answering(), first, 'and so is one that does not answer')
  first.readOnly = true
  await t.rejects(answering(), NO_WRITES)
})

t.test('a host that ends the connection before its first answer has failed', async t => {
  const port = await listenUntilEnd(
    t,
    createServer(socket => socket.on('data', () => socket.end()))
  )
  const connection = openConnection(createHosts(`postgres://ada@127.0.0.1:${port}/d?sslmode=disable`, {}), OPTIONS)
  t.teardown(() => connection.drop())
  await t.rejects(connection.run(WRITE, []), { code: 'CONNECTION_CLOSED' })
})

t.test('when no host takes writes, that is the reason, whatever the others have', { buffered: true }, async t => {
  const { first, second, answering } = await open(t)
  first.refusal = '28P01'
  second.readOnly = true
  for (const _ of [1, 2]) await t.rejects(answering(), NO_WRITES)
  second.refusal = '53300'
  await t.rejects(answering(), { code: '28P01' }, 'the first reason otherwise')
})

t.test('that a host refuses the service says more than that others are starting', { buffered: true }, async t => {
  const { first, second, answering } = await open(t)
  first.refusal = '57P03'
  second.refusal = '28P01'
  for (const _ of [1, 2]) await t.rejects(answering(), { code: '28P01' })
})

t.test('a server that asks for a certificate is shown that of the service', { buffered: true }, async t => {
  const authority = createAuthority('the authority of this test')
  for (const own of [undefined, authority.issue('heroes')]) {
    const { first, answering } = await open(t, { tls: { mode: 'require', own } })
    first.certificate = authority.issue('127.0.0.1')
    t.equal(await answering(), first)
    t.strictSame(first.shown, [own && 'heroes'])
  }
})

t.test('a server that refuses the connection is unavailable, whatever its reason', { buffered: true }, async t => {
  const { first, second, answering } = await open(t)
  for (const code of ['55000', '42501', 'XX000']) {
    first.refusal = second.refusal = code
    await t.rejects(answering(), { name: 'DomainError', code: 'unavailable', retryAfterSeconds: 1, cause: { code } })
  }
})

t.test('what postgres.js would read from the environment changes nothing', { buffered: true }, async t => {
  for (const word of ['any', 'standby', 'read-only', 'prefer-standby']) {
    process.env.PGTARGETSESSIONATTRS = word
    const { first, answering } = await open(t)
    t.equal(await answering(), first, word)
  }
})

t.test('target_session_attrs says which hosts are good enough', { buffered: true }, async t => {
  for (const [target, standby, readOnly, taken] of [
    ['any', true, true, true],
    ['primary', false, true, true],
    ['primary', true, true, false],
    ['read-write', false, false, true],
    ['read-write', false, true, false]
  ] as const) {
    const { first, second, answering } = await open(t, { target })
    Object.assign(first, { standby, readOnly })
    t.equal(await answering(), taken ? first : second, `${target} ${standby} ${readOnly}`)
  }
  const { url } = await startFakeServer(t)
  t.equal(createHosts(url, {}).target, 'any')
  t.equal(createHosts(`${url}?target_session_attrs=primary`, {}).target, 'primary')
  t.equal(createHosts('postgres://ada@h', {}).database, 'ada', "without a name, the user's")
  t.throws(() => createHosts(`${url}?target_session_attrs=standby`, {}), /^target_session_attrs/)
})

t.test('every connection leaves a host that takes no more writes', { buffered: true }, async t => {
  const leave: Record<string, (first: FakeServer, connect: () => Connection) => unknown> = {
    'a statement fails with 25006': (first, connect) => {
      first.failure = '25006'
      return t.rejects(connect().run(WRITE, []), NO_WRITES)
    },
    'a new connection finds a standby': (first, connect) => {
      first.standby = true
      first.readOnly = true
      return connect().run(WRITE, [])
    },
    'the server says that it is a standby': first => first.report('in_hot_standby', 'on'),
    'the server says that it is read-only': first => first.report('default_transaction_read_only', 'on')
  }
  for (const [how, take] of Object.entries(leave)) {
    const { first, second, connect, answering } = await open(t)
    const connections = [connect(), connect()]
    await Promise.all(connections.map(connection => connection.run(WRITE, [])))
    first.report('in_hot_standby', 'off')
    first.report('application_name', 'on')
    await connections[0]?.run(WRITE, [])
    t.notOk(connections.some(({ lost }) => lost))
    await take(first, connect)
    while (!connections.every(({ lost }) => lost)) await sleep(1)
    t.equal(await answering(), second, how)
  }
})

t.test('where any host is good enough, a host without writes keeps its other connections', async t => {
  const { first, second, connect, answering } = await open(t, { target: 'any' })
  const [other, connection] = [connect(), connect()]
  await other.run(WRITE, [])
  first.failure = '25006'
  await t.rejects(connection.run(WRITE, []), NO_WRITES)
  t.ok(connection.lost)
  first.report('in_hot_standby', 'on')
  first.failure = undefined
  await other.run(WRITE, [])
  t.notOk(other.lost)
  t.equal(await answering(), second, 'and new connections go to the other host first')
})

t.test('when a connection falls silent, idle ones to its host end, and the next goes elsewhere', async t => {
  const { first, second, connect, serverOf } = await open(t)
  const [silent, idle, busy] = [connect(), connect(), connect()]
  await Promise.all([silent, idle, busy].map(connection => connection.run(WRITE, [])))
  first.silent = true
  const lost = { code: 'CONNECTION_CLOSED' }
  const unanswered = busy.run(WRITE, [])
  await t.rejects(silent.run(WRITE, [], 20), lost)
  t.ok(idle.lost)
  t.notOk(busy.lost, 'its own silence will tell')
  t.equal(serverOf(await connect().run(WRITE, [])), second)
  const end = t.rejects(unanswered, lost)
  busy.drop()
  await end
})

t.test('a statement that has waited too long for its connection is never sent', async t => {
  const servers = [await startFakeServer(t), await startFakeServer(t), await startFakeServer(t)]
  for (const server of servers) server.silent = true
  const last = await startFakeServer(t)
  const hosts = [...servers, last].map(({ address }) => address)
  const driver = connectServer(last.url, { hosts, connectTimeoutSeconds: 1.5, pool: 1, prepare: true })
  t.teardown(() => driver.close())
  await t.rejects(driver.query('too late', []), { code: 'unavailable', cause: { message: 'no connection in time' } })
  await driver.query(WRITE, [])
  t.strictSame(last.statements, [WRITE])
})

t.test('a connection that is dropped while it is opened tries no other host', async t => {
  const { first, second, connect } = await open(t)
  first.silent = true
  const connection = connect()
  const told = t.rejects(connection.run(WRITE, []), { code: 'CONNECTION_CLOSED' })
  while (first.sockets.size === 0) await sleep(1)
  await connection.end()
  await told
  while (first.sockets.size > 0) await sleep(1)
  t.strictSame(second.opened, [])
})

t.test('the last of several drivers that is closed leaves no connection', async t => {
  const { first, second } = await open(t)
  const driver = connectServer(first.url, { hosts: [first.address, second.address], pool: 3, prepare: true })
  await Promise.all([driver.lookUp(WRITE, []), driver.query(WRITE, []), driver.probe(WRITE, [])])
  await driver.close()
  while (first.sockets.size > 0) await sleep(1)
  await t.rejects(driver.probe(WRITE, []), { code: 'unavailable' })
})

const withIPv6 = Object.values(networkInterfaces())
  .flat()
  .some(each => each?.address === '::1')
  ? {}
  : { skip: 'this machine has no IPv6' }

t.test('an address of IPv6 is a host', withIPv6, async t => {
  const server = await startFakeServer(t, '::1')
  const connection = openConnection(createHosts(server.url, { hosts: [server.address] }), OPTIONS)
  t.teardown(() => connection.drop())
  t.same(await connection.run(WRITE, []), [[server.address.port]])
})

t.test('a database whose name is percent-encoded is found', async t => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const name = `${new URL(url).pathname.slice(1)} é`
  await execute(url, `create database "${name}"`)
  t.teardown(() => execute(url, `drop database "${name}" with (force)`))
  const encoded = new URL(url)
  encoded.pathname = `/${encodeURIComponent(name)}`
  const driver = connectServer(encoded.href, { pool: 1, prepare: true })
  t.teardown(() => driver.close())
  t.same(await driver.query('select current_database()::text', []), [[name]])
})

t.test('sslmode has the meaning that libpq gives it', async t => {
  const authority = createAuthority('the authority')
  const other = createAuthority('another authority')
  const own = authority.issue('127.0.0.1')
  const misnamed = authority.issue('db.example')
  const authorities = authority.certificate
  type Case = [tls: Tls, changes: Partial<FakeServer>, outcome: boolean | { readonly code: string }, host?: string]
  const cases: Record<string, Case> = {
    'disable: never': [{ mode: 'disable' }, { certificate: own }, false],
    'allow: without, where the server takes that': [{ mode: 'allow' }, { certificate: own }, false],
    'allow: with TLS, where the server insists': [{ mode: 'allow' }, { certificate: own, tlsAlone: true }, true],
    'prefer: with TLS, where it is offered': [{ mode: 'prefer' }, { certificate: own }, true],
    'prefer: plain, where it is not': [{ mode: 'prefer' }, {}, false],
    'prefer: plain, where the server refuses TLS': [{ mode: 'prefer' }, { certificate: own, plainAlone: true }, false],
    'prefer: plain, where TLS fails': [{ mode: 'prefer', authorities: other.certificate }, { certificate: own }, false],
    'require: with TLS': [{ mode: 'require' }, { certificate: misnamed }, true],
    'require: not plain': [{ mode: 'require' }, {}, { code: 'ERR_TLS_NOT_OFFERED' }],
    'require with an authority: as verify-ca': [
      { mode: 'require', authorities: other.certificate },
      { certificate: own },
      { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }
    ],
    'verify-ca: another name is fine': [{ mode: 'verify-ca', authorities }, { certificate: misnamed }, true],
    'verify-ca: another authority is not': [
      { mode: 'verify-ca', authorities: other.certificate },
      { certificate: own },
      { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }
    ],
    "verify-ca: Node's own authorities are not": [
      { mode: 'verify-ca' },
      { certificate: own },
      { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }
    ],
    'verify-full: the name and the authority': [{ mode: 'verify-full', authorities }, { certificate: own }, true],
    'verify-full: a name that is no address': [
      { mode: 'verify-full', authorities },
      { certificate: authority.issue('localhost') },
      true,
      'localhost'
    ],
    'verify-full: another name is not': [
      { mode: 'verify-full', authorities },
      { certificate: misnamed },
      { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }
    ],
    'verify-full: not plain': [{ mode: 'verify-full', authorities }, {}, { code: 'ERR_TLS_NOT_OFFERED' }]
  }
  for (const [title, [tls, changes, outcome, host = '127.0.0.1']] of Object.entries(cases)) {
    const server = await startFakeServer(t)
    Object.assign(server, changes)
    const connection = openConnection(createHosts(server.url, { hosts: [{ ...server.address, host }], tls }), OPTIONS)
    t.teardown(() => connection.drop())
    if (typeof outcome === 'object') {
      await t.rejects(connection.run(WRITE, []), outcome, title)
      t.strictSame(server.opened, [], title)
    } else {
      await connection.run(WRITE, [])
      t.strictSame(server.opened, [outcome], title)
    }
  }
})
