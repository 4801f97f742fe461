import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type FastifyInstance, fastify } from 'fastify'
import t, { type Test } from 'tap'
import { buildServer, type HeroesPluginOptions, heroesPlugin } from '../../app/embedding.js'
import { openApi } from '../../app/serve/service.js'
import { readSettings } from '../../app/settings/settings.js'
import type { SecurityEvent } from '../../core/index.js'
import { createHost } from '../examples/fastify.js'
import { ask } from '../support/process.js'
import { basic, bearer, encodeForm, LOGIN } from '../support/service.js'
import { requestText } from '../support/wire.js'
import { ADA, addClient, createWorld } from '../support/world.js'

const WELL_KNOWN = '/.well-known/oauth-authorization-server'

/** A host with the service in it and with the client `app` and the user ADA in the service. It closes when the test ends. */
const createHosted = async (
  t: Test,
  options: Partial<HeroesPluginOptions> = {},
  host: FastifyInstance = fastify()
): Promise<FastifyInstance> => {
  const world = createWorld()
  await addClient(world, 'app')
  await world.useCases.registerUser(ADA)
  await host.register(heroesPlugin, { useCases: world.useCases, prefix: '/identity', ...options })
  t.teardown(() => host.close())
  return host
}

/** The headers of a request with ada's access token. */
const logIn = async (host: FastifyInstance, prefix: string) => {
  const headers = { ...basic('app'), 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await host.inject({ method: 'POST', url: `${prefix}/auth/token`, headers, payload: encodeForm(LOGIN) })
  return { ...bearer(answer.json().access_token) }
}

t.test("the service answers below its prefix in a host's server, and the host's routes are the host's", async t => {
  const lines: string[] = []
  const host = createHost(line => lines.push(line))
  t.teardown(() => host.close())
  host.addContentTypeParser('text/csv', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  host.post('/rows', async ({ body }) => ({ body }))
  t.strictSame((await host.inject('/')).json(), { welcome: true })
  t.equal((await host.inject('/')).headers.server, undefined)
  t.strictSame((await host.inject('/nothing')).json().message, 'Route GET:/nothing not found')
  const csv = { method: 'POST', headers: { 'content-type': 'text/csv' }, payload: 'a,b' } as const
  t.strictSame((await host.inject({ url: '/rows', ...csv })).json(), { body: 'a,b' })
  const refused = await host.inject({ url: '/identity/register', ...csv })
  t.equal(refused.statusCode, 415)
  t.match(refused.headers.server, /^heroes\//)
  const registered = await host.inject({ method: 'POST', url: '/identity/register', payload: ADA })
  t.strictSame(registered.json(), { id: 1, username: 'ada' })
  t.equal((await host.inject('/identity/heroes')).statusCode, 401)
  t.match((await host.inject('/identity/nothing')).json(), { error: /^there is nothing at this path/ })
  t.equal((await host.inject({ method: 'DELETE', url: '/identity/register' })).headers.allow, 'POST')
  t.match(
    lines.map(line => JSON.parse(line)).filter(({ event, path }) => event || path === '/register'),
    [{ path: '/register', status: 415 }, { event: 'user.registered' }, { path: '/register', status: 200 }, {}]
  )
})

t.test("the host's limits, hooks and schemas for bodies do not hold for the service", async t => {
  const host = fastify({ bodyLimit: 10, ajv: { customOptions: { coerceTypes: true } } })
  const seen: string[] = []
  host.addHook('onRequest', async ({ url }) => {
    seen.push(`request ${url}`)
  })
  host.addHook('preParsing', async () => {
    seen.push('body')
  })
  host.addHook('onResponse', async ({ originalUrl }, reply) => {
    seen.push(`response ${originalUrl} ${reply.raw.statusCode}`)
  })
  await createHosted(t, { registrationOpen: true }, host)
  const payload = { username: 5, password: 'a long password' }
  const answer = await host.inject({ method: 'POST', url: '/identity/register', payload })
  t.equal(answer.statusCode, 400)
  t.match(answer.json(), { error: 'username must be of type string' })
  t.strictSame(seen, ['request /identity/register', 'response /identity/register 400'])
})

t.test('every address that the service names begins with the prefix', async t => {
  const host = await createHosted(t)
  const url = await host.listen({ host: '127.0.0.1', port: 0 })
  const issuer = `${url.replace('127.0.0.1', 'localhost')}/identity`
  for (const path of [`/identity${WELL_KNOWN}`, `${WELL_KNOWN}/identity`]) {
    t.match(JSON.parse((await ask(`${url}${path}`)).body), { issuer, token_endpoint: `${issuer}/auth/token` }, path)
  }
  t.equal((await host.inject(WELL_KNOWN)).statusCode, 404)
  const headers = await logIn(host, '/identity')
  for (const name of ['a', 'b'])
    await host.inject({ method: 'POST', url: '/identity/heroes', headers, payload: { name } })
  const page = await host.inject({ url: '/identity/heroes?limit=1', headers })
  t.equal(page.headers.link, `<${issuer}/heroes?limit=1&after=1>; rel="next"`)
  const browser = { accept: 'text/html' }
  for (const path of ['/identity', '/identity/', '/identity?x']) {
    t.equal((await host.inject({ url: path, headers: browser })).headers.location, `${issuer}/docs`, path)
  }
  const login = await host.inject('/identity/auth/code?client_id=app&response_type=code&state=x')
  t.match(login.payload, '<form method="post" action="code?')
  t.strictSame((await host.inject('/identity/openapi.json')).json().servers, [{ url: issuer }])
})

t.test('a target is understood that names the host, or spells the prefix in another way', async t => {
  const host = await createHosted(t)
  const url = new URL(await host.listen({ host: '127.0.0.1', port: 0 }))
  for (const target of [`${url.origin}/identity/health/live`, '/%69dentity/health/live', '//identity/health/live']) {
    const socket = connect(Number(url.port), url.hostname)
    socket.write(`GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
    t.match(await text(socket), target.startsWith('//') ? /^HTTP\/1\.1 404 / : /^HTTP\/1\.1 200 /, target)
  }
})

t.test('the service may lie at the root of a host, or in a part of it with a prefix of its own', async t => {
  const atRoot = fastify()
  t.teardown(() => atRoot.close())
  const { useCases } = createWorld()
  await atRoot.register(heroesPlugin, { useCases, publicUrl: () => 'https://heroes.example' })
  t.equal((await atRoot.inject('/health/live')).statusCode, 200)
  t.equal((await atRoot.inject(WELL_KNOWN)).json().issuer, 'https://heroes.example')

  const deep = fastify()
  deep.register(async part => void (await createHosted(t, {}, part)), { prefix: '/v1' })
  t.equal((await deep.inject('/v1/identity/health/live')).statusCode, 200)
  t.equal((await deep.inject(`/v1/identity${WELL_KNOWN}`)).json().issuer, 'http://localhost/v1/identity')
  t.equal((await deep.inject(`${WELL_KNOWN}/v1/identity`)).statusCode, 404)
  t.match((await deep.inject(`/v1${WELL_KNOWN}/identity`)).json(), { message: /^Route GET:.* not found$/ })
})

t.test('a slash at the end of a prefix changes nothing', async t => {
  for (const [prefix, whole] of [
    ['/identity/', '/identity'],
    ['/identity//', '/identity'],
    ['/', '']
  ] as const) {
    const host = await createHosted(t, { prefix })
    const issuer = `http://localhost${whole}`
    t.equal((await host.inject(`${whole}/health/live`)).statusCode, 200, prefix)
    t.equal((await host.inject(`${whole}${WELL_KNOWN}`)).json().issuer, issuer, prefix)
    t.equal((await host.inject(`${WELL_KNOWN}${whole}`)).json().issuer, issuer, prefix)
  }
  const deep = fastify()
  deep.register(async part => void (await createHosted(t, { prefix: '/identity/' }, part)), { prefix: '/v1/' })
  t.equal((await deep.inject(`/v1/identity${WELL_KNOWN}`)).json().issuer, 'http://localhost/v1/identity')
})

t.test('a publicUrl that is undefined is as one that is left out', async t => {
  const host = await createHosted(t, { publicUrl: undefined })
  t.equal((await host.inject(`/identity${WELL_KNOWN}`)).json().issuer, 'http://localhost/identity')
})

t.test('a server that is given the use cases alone is as the settings are by default', async t => {
  const http = buildServer({ useCases: createWorld().useCases })
  const document = (await http.inject('/openapi.json')).json()
  const { paths, ...rest } = JSON.parse((await openApi(readSettings({}))).replaceAll('localhost:3000', 'localhost'))
  // The page belongs to the first client, which is registered by `heroes serve`.
  const { '/callback': _, ...withoutCallback } = paths
  t.strictSame(document, { ...rest, paths: withoutCallback })
  t.strictSame(document.servers, [{ url: 'http://localhost' }])
  t.equal((await http.inject('/health/ready')).statusCode, 200)
  await http.close()
})

t.test('a failure without a log is answered, and nothing is written', async t => {
  const world = createWorld()
  const useCases = { ...world.useCases, heroPage: () => Promise.reject(new Error('a bug')) }
  const http = buildServer({ useCases, protectHeroes: false })
  const answer = await http.inject({ url: '/heroes?limit=1', headers: { 'x-forwarded-for': '192.0.2.1' } })
  t.equal(answer.statusCode, 500)
  await http.close()
})

t.test('the service in a host knows the address of a client that resets its connection', async t => {
  const events: SecurityEvent[] = []
  const { useCases } = createWorld({ events: { emit: event => events.push(event) } })
  const host = fastify()
  t.teardown(() => host.close())
  await host.register(heroesPlugin, { useCases, prefix: '/identity' })
  await host.listen({ port: 0, host: '127.0.0.1' })
  const client = connect(Number(new URL(host.listeningOrigin).port), '127.0.0.1')
  const headers = { host: 'a', 'content-type': 'application/json' }
  client.on('error', () => {}).write(requestText('POST', '/identity/register', headers, JSON.stringify(ADA)))
  host.server.prependListener('request', () => client.resetAndDestroy())
  while (events.length === 0) await new Promise(setImmediate)
  t.match(events, [{ event: 'user.registered', address: '127.0.0.1' }])
})
