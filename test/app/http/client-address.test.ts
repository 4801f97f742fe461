import { once } from 'node:events'
import { connect, Socket } from 'node:net'
import t from 'tap'
import { addressOf } from '../../../app/http/client-address.js'
import { createLog } from '../../../app/serve/log.js'
import { createTestHttp, listen } from '../../support/http.js'

t.test(
  'wire 1.12: an address counts without its port and brackets, and an IPv6 address as its /64 in its /48',
  async t => {
    const addresses: [text: string, counted: string, network?: string][] = [
      ['192.0.2.1', '192.0.2.1'],
      ['192.0.2.1:5678', '192.0.2.1'],
      ['::ffff:192.0.2.1', '192.0.2.1'],
      ['[::ffff:192.0.2.1]:80', '192.0.2.1'],
      ['2001:db8:1:2:3::4', '2001:db8:1:2::/64', '2001:db8:1::/48'],
      ['[2001:db8:1:2::5]', '2001:db8:1:2::/64', '2001:db8:1::/48'],
      ['[2001:db8:1:2::6]:5678', '2001:db8:1:2::/64', '2001:db8:1::/48'],
      ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0::/48'],
      ['fe80::1%eth0.1', 'fe80:0:0:0::/64', 'fe80:0:0::/48'],
      ['[fe80::1%br-1a2b]:80', 'fe80:0:0:0::/64', 'fe80:0:0::/48'],
      ['::1%a:b', '0:0:0:0::/64', '0:0:0::/48'],
      ['64:ff9b::192.0.2.1', '192.0.2.1'],
      ['[64:ff9b::c000:201]:80', '192.0.2.1'],
      ['64:ff9b:1::192.0.2.1', '64:ff9b:1:0::/64', '64:ff9b:1::/48'],
      ['64:ff9b::1:0:192.0.2.1', '64:ff9b:0:0::/64', '64:ff9b:0::/48']
    ]
    for (const [text, address, network] of addresses) {
      t.strictSame(addressOf(text), { address, ...(network !== undefined && { network }) }, text)
    }
  }
)

t.test('wire 1.12: what is no address is unknown', async t => {
  const texts = [
    '',
    '-',
    'localhost',
    'unknown%eth0',
    '[unknown]:1',
    '127.0.0.1%a',
    '192.0.2',
    '0x7f.1',
    '010.0.0.1',
    '\u009b'
  ]
  for (const text of [...texts, '1.2.3.4, ::1', `::1%${'a'.repeat(100)}`, `[${'0:'.repeat(30_000)}`]) {
    t.strictSame(addressOf(text), { address: 'unknown' }, text.slice(0, 20))
  }
})

t.test('wire 1.12: a proxy is trusted by its address, with a port or without', async t => {
  const clientOf = async (trustProxy: boolean | string, from: string, forwarded: string): Promise<string> => {
    const http = createTestHttp({ trustProxy })
    http.get('/', async request => addressOf(request.ip))
    const headers = { 'x-forwarded-for': forwarded }
    return (await http.inject({ url: '/', remoteAddress: from, headers })).json().address
  }
  const chain = '203.0.113.9:1, 198.51.100.7:5678, 10.0.0.2:443'
  const named = 'loopback, 10.0.0.0/8,fd00::/8,192.0.2.7'
  const asked: [trust: boolean | string, from: string, forwarded: string, client: string][] = [
    [false, '10.0.0.1', chain, '10.0.0.1'],
    [true, '10.0.0.1', chain, '203.0.113.9'],
    [named, '10.0.0.1', chain, '198.51.100.7'],
    [named, '::ffff:10.0.0.1', chain, '198.51.100.7'],
    [named, '127.0.0.1', '1.1.1.1, [fd00::1]:443, 192.0.2.7:9, [::1]', '1.1.1.1'],
    [named, '192.0.2.8', chain, '192.0.2.8'],
    [named, '10.0.0.1', '1.1.1.1, unknown, 10.0.0.2', 'unknown'],
    [named, '10.0.0.1', '1.1.1.1, [10.0.0.2, 10.0.0.3:x', 'unknown'],
    ['uniquelocal', '192.168.1.1', '1.1.1.1, fc00::1', '1.1.1.1'],
    ['uniquelocal', '172.31.255.255', '1.1.1.1, fdff::1', '1.1.1.1'],
    ['uniquelocal', '172.32.0.0', '1.1.1.1', '172.32.0.0'],
    ['linklocal', 'fe80::1%eth0', '1.1.1.1, 169.254.0.1', '1.1.1.1'],
    ['linklocal', 'fe80::1%br-1a2b', '1.1.1.1, fe80::2%eth0.1', '1.1.1.1'],
    ['loopback', '127.0.0.1', '1.1.1.1, ::1%a-b', '1.1.1.1'],
    ['loopback', '127.0.0.1', '1.1.1.1, 127.0.0.1%a', 'unknown'],
    ['10.0.0.1', '10.0.0.1', '1.1.1.1, ::1%a:b', '0:0:0:0::/64'],
    ['::ffff:10.0.0.1', '10.0.0.1', '1.1.1.1', '1.1.1.1'],
    ['::ffff:10.0.0.0/104', '10.2.0.1', '1.1.1.1', '1.1.1.1'],
    ['::ffff:10.0.0.0/104', '11.0.0.1', '1.1.1.1', '11.0.0.1'],
    ['10.0.0.1', '::ffff:10.0.0.1', '1.1.1.1', '1.1.1.1'],
    ['::1', '10.0.0.1', '1.1.1.1', '10.0.0.1'],
    ['loopback', '::1', `1.1.1.1${', 127.0.0.1'.repeat(99)}`, '1.1.1.1'],
    ['loopback', '::1', `1.1.1.1${', 127.0.0.1'.repeat(100)}`, '127.0.0.1'],
    ['::/1', '10.0.0.1', '1.1.1.1', '10.0.0.1']
  ]
  for (const [trust, from, forwarded, client] of asked) {
    t.equal(await clientOf(trust, from, forwarded), client, `${trust}: ${from}, ${forwarded}`)
  }
})

t.test('forwarded headers that nobody is trusted with are warned of once', async t => {
  for (const name of ['x-forwarded-for', 'forwarded']) {
    const lines: string[] = []
    const log = createLog('warn', { write: line => lines.push(line) })
    const http = createTestHttp({ log })
    http.get('/', async () => ({}))
    await http.inject('/')
    t.equal(lines.length, 0)
    for (let time = 0; time < 3; time++) await http.inject({ url: '/', headers: { [name]: 'for=192.0.2.60' } })
    t.equal(lines.length, 1)
    t.match(JSON.parse(String(lines[0])), { level: 40, msg: /TRUST_PROXY/ })
    t.notMatch(lines[0], '192.0.2.60')
    const trusting = createTestHttp({ log, trustProxy: 'loopback' })
    trusting.get('/', async () => ({}))
    await trusting.inject({ url: '/', headers: { [name]: 'for=192.0.2.60' } })
    t.equal(lines.length, 1, 'nothing is wrong where somebody is')
  }
})

// Node forgets the address with the connection, whatever Fastify's type of `ip` says.
t.test('a client that has left before its address was read counts as unknown, without a failure', async t => {
  t.strictSame(addressOf(undefined), { address: 'unknown' })
})

t.test('the address of a client that resets its connection is known, and without one nothing is served', async t => {
  const http = createTestHttp()
  const addresses: unknown[] = []
  http.get('/', async request => addresses.push(addressOf(request.ip)))
  await listen(http)
  t.teardown(() => http.close())
  const client = connect(Number(new URL(http.listeningOrigin).port), '127.0.0.1')
  client.on('error', () => {}).write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  http.server.prependListener('request', () => client.resetAndDestroy())
  await once(http.server, 'request')
  while (addresses.length === 0) await new Promise(setImmediate)
  t.strictSame(addresses, [{ address: '127.0.0.1' }])

  // As a connection is whose client has reset it before it was accepted.
  const gone = new Socket()
  http.server.emit('connection', gone)
  t.ok(gone.destroyed)
  const foreign = new Socket()
  createTestHttp().server.emit('connection', foreign)
  t.notOk(foreign.destroyed, 'a server that does not listen is given its connections by a host')
})
