import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import { DomainError } from '../../../../core/index.js'
import { heroes } from '../../../support/command.js'
import {
  type Answered,
  createCheck,
  type Document,
  type Operation,
  readSnapshot,
  SNAPSHOT,
  WHOLE
} from '../../../support/openapi.js'
import { makeSnapshot } from '../../../support/openapi-snapshots.js'
import { startProcess } from '../../../support/process.js'
import {
  type Asked,
  basic,
  bearer,
  createInhabited,
  createService,
  encodeForm,
  type Headers,
  LOGIN,
  loginPath,
  REQUEST,
  type Service,
  type ServiceOptions
} from '../../../support/service.js'
import { dial, FORM_TYPE, JSON_TYPE, readAnswer } from '../../../support/wire.js'
import { ADA, addClient, rejecting } from '../../../support/world.js'

const whole = readSnapshot()

const documentOf = async (options: ServiceOptions): Promise<Document> =>
  (await createService(options).ask('/openapi.json')).json()

/** Every operation of a document, as `GET /heroes/{id}`. */
const operationsOf = (document: Document): Map<string, Operation> =>
  new Map(
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation])
    )
  )

t.test('wire 7.4: the document is the one that is committed; `npm run openapi` renews it', async t => {
  t.equal(await makeSnapshot(), readFileSync(SNAPSHOT, 'utf8'))
})

t.test('the document is valid by the JSON Schema of OpenAPI 3.1', async t => {
  const validator = new Validator()
  t.has(await validator.validate(readFileSync(SNAPSHOT, 'utf8')), { valid: true })
  t.equal(validator.version, '3.1')
  const broken = { ...whole, info: {} }
  t.has(await validator.validate(JSON.stringify(broken)), { valid: false })
})

/** Every route that the server serves, as {@link operationsOf} names them. Fastify makes those of HEAD by itself. */
const servedBy = async (options: ServiceOptions): Promise<string[]> => {
  const { http } = createService(options)
  await http.ready()
  const way: string[] = []
  return (
    http
      .printRoutes({ commonPrefix: false })
      .split('\n')
      .flatMap(line => {
        const [, indent = '', part = '', methods = ''] = /^([│ ]*)[├└]── (\S+) \((.+)\)$/.exec(line) ?? []
        way.splice(indent.length / 4, way.length, part)
        const path = way.join('').replaceAll(/:(\w+)/g, '{$1}')
        return [...methods.matchAll(/\w+/g)].map(([method]) => `${method} ${path}`)
      })
      // The metadata at the path of PUBLIC_URL stand beside what the document has, whose paths lie below PUBLIC_URL. `/docs/`
      // only leads to `/docs`.
      .filter(
        route =>
          !route.startsWith('HEAD ') && !/oauth-(?:authorization-server|protected-resource)\*$|\/docs\/$/.test(route)
      )
  )
}

t.test('every route that is served is in the document, and every operation of the document is served', async t => {
  for (const options of [WHOLE, {}, { protectHeroes: false, registrationOpen: false }]) {
    const documented = [...operationsOf(await documentOf(options)).keys()]
    t.ok(documented.length > 14)
    t.strictSame(documented.sort(), (await servedBy(options)).sort())
  }
})

/** A request by the id of its operation that is answered well. */
const GOOD: Readonly<Record<string, readonly [url: string, request?: Asked]>> = {
  listHeroes: ['/heroes?limit=1'],
  createHero: ['/heroes', { method: 'POST', headers: JSON_TYPE, payload: '{"name":"new"}' }],
  getHero: ['/heroes/1'],
  replaceHero: ['/heroes/1', { method: 'PUT', headers: JSON_TYPE, payload: '{"name":"renamed"}' }],
  removeHero: ['/heroes/2', { method: 'DELETE' }],
  registerUser: ['/register', { method: 'POST', headers: JSON_TYPE, payload: '{"username":"eve","password":"x"}' }],
  issueToken: ['/auth/token', { method: 'POST', headers: FORM_TYPE, payload: encodeForm({ ...LOGIN, scope: 'a b' }) }],
  revokeToken: ['/auth/revoke', { method: 'POST', headers: FORM_TYPE, payload: `token=${'x'.repeat(32)}` }],
  introspectToken: ['/auth/introspect', { method: 'POST', headers: FORM_TYPE, payload: `token=${'x'.repeat(32)}` }],
  showLoginPage: [loginPath()],
  logIn: ['/auth/code', { method: 'POST', headers: FORM_TYPE, payload: encodeForm({ ...REQUEST, ...ADA }) }],
  showCode: [`/callback?code=${'x'.repeat(32)}`],
  getMetadata: ['/.well-known/oauth-authorization-server'],
  getResourceMetadata: ['/.well-known/oauth-protected-resource'],
  getMe: ['/me'],
  showAccountPage: ['/account'],
  changeAccount: ['/account', { method: 'POST', headers: FORM_TYPE, payload: encodeForm(ADA) }],
  goToChangePassword: ['/.well-known/change-password'],
  getOpenApi: ['/openapi.json'],
  checkLiveness: ['/health/live'],
  checkReadiness: ['/health/ready'],
  goToDocs: ['/', { headers: { accept: 'text/html' } }],
  showDocs: ['/docs'],
  returnToDocs: ['/docs/callback'],
  getSwaggerUiStyle: ['/docs/swagger-ui.css'],
  getSwaggerUi: ['/docs/swagger-ui-bundle.js'],
  getDocsStyle: ['/docs/docs.css'],
  getDocsScript: ['/docs/docs.js'],
  getDocsCallbackScript: ['/docs/callback.js']
}

t.test('every operation gives every answer that the document says it gives', async t => {
  const options = { ...WHOLE, readScope: 'a', writeScope: 'b', bodyLimit: 2000, policy: { registerAttempts: 4 } }
  const service = await createInhabited(options)
  /** A service whose stores and whose health check reject with the error. */
  const rejectingWith = (error: Error): Service =>
    createService({ ...options, stores: rejecting(() => error), ready: () => Promise.reject(error) })
  const failing = rejectingWith(new Error('a bug'))
  const away = rejectingWith(new DomainError('unavailable', 'the database cannot be reached', { retryAfterSeconds: 1 }))
  const url = await service.http.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => service.http.close())

  const headers = await service.opened('a b')
  const reader = await service.opened('a')
  const writer = await service.opened('b')
  await addClient(service, 'robot', { grantTypes: ['client_credentials'] })
  const form = { grant_type: 'client_credentials' }
  const robot = bearer((await service.form('/auth/token', form, basic('robot'))).json().access_token)
  for (const name of ['one', 'two', 'three']) await service.json('POST', '/heroes', { name }, headers)

  /** What authenticates a request. */
  const credentials = (id: string, { method = 'GET' }: Asked): Asked['headers'] => {
    if (/Hero|Me$/.test(id)) return headers
    return method === 'POST' && /Token/.test(id) ? basic('app') : {}
  }

  /** Sends a good request with changes, to a service. */
  const send = (id: string, changes: Asked = {}, path?: string, { ask }: Pick<Service, 'ask'> = service) => {
    const [good, request = {}] = GOOD[id] ?? []
    const asked = {
      ...request,
      ...changes,
      headers: { ...credentials(id, request), ...request.headers, ...changes.headers }
    }
    return ask(path ?? String(good), asked)
  }

  /** Sends the head of a request over a connection of its own. `arrived` gets the server's end of it. */
  const sendRaw = (method: string, path: string, fields: Headers, arrived: (socket: Socket) => void = () => {}) => {
    service.http.server.once('connection', arrived)
    const connection = dial(url)
    const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
    connection.socket.write(`${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n`)
    return connection
  }

  const provocations: Record<string, (id: string, method: string, path: string) => Promise<{ statusCode: number }>> = {
    200: id => send(id),
    204: id => send(id),
    302: id => send(id, {}, id === 'showLoginPage' ? '/auth/code?client_id=app' : undefined),
    304: async id => send(id, { headers: { 'if-none-match': String((await send(id)).headers.etag) } }),
    400: async (_id, method, path) => {
      const { closed } = sendRaw(method, path, { connection: 'close' })
      return answeredRaw(await closed, method, path)
    },
    401: id => send(id, { headers: { authorization: 'Basic' } }),
    403: id =>
      /Hero/.test(id)
        ? send(id, { headers: id === 'listHeroes' || id === 'getHero' ? writer : reader })
        : id === 'getMe'
          ? send(id, { headers: robot })
          : send(id, { headers: { 'sec-fetch-site': 'cross-site' } }),
    404: id => (id === 'goToDocs' ? service.ask('/') : send(id, {}, '/heroes/9')),
    408: async (id, method, path) => {
      const timeout = Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
      const request = GOOD[id]?.[1] ?? {}
      const fields = { host: 'a', 'content-length': '5', ...JSON_TYPE, ...credentials(id, request), ...request.headers }
      const { closed } = sendRaw(method, path, fields, socket => {
        service.http.server.once('request', () =>
          setImmediate(() => service.http.server.emit('clientError', timeout, socket))
        )
      })
      return answeredRaw(await closed, method, path)
    },
    409: id => (id === 'registerUser' ? send(id) : send(id, { payload: '{"name":"three"}' })),
    413: id => send(id, { payload: ' '.repeat(2001), ...(id === 'removeHero' && { headers: JSON_TYPE }) }),
    415: id => send(id, { headers: { ...JSON_TYPE, 'content-encoding': 'br' }, payload: ' ' }),
    429: async id => {
      let answer = await send(id)
      for (let time = 0; time < 11; time++)
        answer = await send(id, {
          from: `192.0.2.${['issueToken', 'logIn', 'changeAccount'].indexOf(id) + 2}`,
          payload:
            id === 'registerUser'
              ? `{"username":"u${time}","password":"x"}`
              : String(GOOD[id]?.[1]?.payload).replace('correct', 'wrong')
        })
      return answer
    },
    500: id => send(id, {}, undefined, failing),
    503: id => send(id, {}, undefined, away)
  }
  const check = createCheck(whole)
  const answeredRaw = (text: string, method: string, path: string) => {
    const { status, headers, body } = readAnswer(text)
    const answer = { statusCode: status, headers, payload: body }
    check(method, path, answer, WHOLE)
    return answer
  }

  for (const [operation, { operationId, responses }] of operationsOf(whole)) {
    const [method = '', path = ''] = operation.split(' ')
    for (const status of Object.keys(responses).filter(status => status !== 'default')) {
      const answer = await provocations[status]?.(operationId, method, path.replace('{id}', '1'))
      t.equal(String(answer?.statusCode), status, `${operation}: ${status}`)
    }
  }
})

t.test('the document tells of the service as its settings make it', async t => {
  const plain = await documentOf({})
  const operation = (document: Document, name: string) => operationsOf(document).get(name)
  const statuses = (document: Document, name: string) => Object.keys(operation(document, name)?.responses ?? {})
  t.has(plain, {
    openapi: '3.1.0',
    info: { version: createRequire(import.meta.url)('heroes/package.json').version },
    servers: [{ url: 'http://heroes.example:8080' }]
  })
  t.same(operation(plain, 'GET /heroes')?.security, [{ oauth2: [] }, { bearer: [] }])
  t.strictSame(statuses(plain, 'GET /heroes'), ['200', '400', '401', '500', '503'])
  t.notOk(operation(plain, 'GET /callback'))

  t.same(operation(whole, 'GET /heroes')?.security, [{ oauth2: ['heroes:read'] }, { bearer: ['heroes:read'] }])
  t.same(operation(whole, 'PUT /heroes/{id}')?.security, [{ oauth2: ['heroes:write'] }, { bearer: ['heroes:write'] }])
  const address = 'http://heroes.example:8080/auth'
  const scopes = { 'heroes:read': 'Read heroes', 'heroes:write': 'Write heroes' }
  t.has(whole.components.securitySchemes, {
    oauth2: {
      type: 'oauth2',
      flows: {
        password: { tokenUrl: `${address}/token`, refreshUrl: `${address}/token`, scopes },
        authorizationCode: { authorizationUrl: `${address}/code`, tokenUrl: `${address}/token`, scopes }
      }
    },
    bearer: { type: 'http', scheme: 'bearer' },
    client: { type: 'http', scheme: 'basic' }
  })
  t.same(operation(whole, 'POST /auth/token')?.security, [{ client: [] }, {}])
  const open = 'POST /register,GET /auth/code,POST /auth/code,GET /callback,GET /health/ready,GET /openapi.json'
  for (const name of open.split(',')) t.same(operation(whole, name)?.security, [], name)

  const publicUrl = () => 'https://heroes.example/heroes'
  const one = await documentOf({
    protectHeroes: false,
    registrationOpen: false,
    publicUrl,
    readScope: 'a',
    writeScope: 'a'
  })
  const longer = await documentOf({ policy: { passwordMinLength: 20 } })
  t.has(longer.components.schemas.Registration, {
    properties: { password: { minLength: 20, maxLength: 1024, examples: ['correct horse battery staple'] } }
  })
  t.match(JSON.stringify(operation(longer, 'POST /register')), 'password must have 20 to 1024 characters')
  t.same(operation(one, 'GET /heroes/{id}')?.security, [])
  t.strictSame(statuses(one, 'GET /heroes/{id}'), ['200', '400', '404', '500', '503'])
  t.strictSame(statuses(one, 'POST /register'), ['400', '403'])
  t.has(one.servers, [{ url: publicUrl() }])
  t.has(one.components.securitySchemes.oauth2?.flows, {
    password: { tokenUrl: `${publicUrl()}/auth/token`, scopes: { a: 'Read and write heroes' } }
  })
})

t.test('wire 7.4: the document is JSON for anybody, and 304 for whoever has it', async t => {
  let made = 0
  const publicUrl = () => {
    made += 1
    return 'http://heroes.example'
  }
  const { ask } = createService({ publicUrl })
  t.equal(made, 0, 'it is made when somebody asks')
  const answers = await Promise.all([ask('/openapi.json'), ask('/openapi.json')])
  t.equal(made, 1, 'and once')
  for (const answer of answers) {
    t.equal(answer.statusCode, 200)
    t.has(answer.headers, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-cache' })
    t.equal(answer.json().openapi, '3.1.0')
  }
  const { etag, 'content-length': length } = answers[0].headers
  const strong = String(etag).slice('W/'.length)
  for (const method of ['GET', 'HEAD'] as const) {
    for (const known of [etag, strong, `"another",${etag}`, `W/"a, b" , ${strong}`, '*']) {
      const kept = await ask('/openapi.json', { method, headers: { 'if-none-match': String(known) } })
      t.strictSame([kept.statusCode, kept.payload, kept.headers.etag], [304, '', etag], `${method} ${known}`)
      t.strictSame([kept.headers.vary, kept.headers['content-length']], ['accept-encoding', undefined])
    }
    for (const other of ['W/"another"', strong.slice(1), `"${strong}"`]) {
      t.equal((await ask('/openapi.json', { method, headers: { 'if-none-match': other } })).statusCode, 200, other)
    }
  }
  const head = await ask('/openapi.json', { method: 'HEAD' })
  t.strictSame([head.statusCode, head.payload, head.headers['content-length']], [200, '', length])
})

t.test('a document that could not be made is made at the next request', async t => {
  let made = 0
  const publicUrl = () => {
    made += 1
    if (made === 1) throw new Error('no port yet')
    return 'http://heroes.example'
  }
  const { http } = createService({ publicUrl })
  t.equal((await http.inject('/openapi.json')).statusCode, 500)
  t.equal((await http.inject('/openapi.json')).statusCode, 200)
})

t.test('heroes openapi prints the document of a service with the same settings, without a database', async t => {
  const env = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', PUBLIC_URL: 'https://heroes.example' }
  const { code, stdout, stderr } = await heroes('openapi', env)
  t.strictSame([code, stderr], [0, ''])
  t.same(JSON.parse(stdout), await documentOf({ publicUrl: () => 'https://heroes.example' }))
  t.equal((await heroes('openapi --json', env)).stdout, `${JSON.stringify(JSON.parse(stdout))}\n`)
  const embedded = JSON.parse((await heroes('openapi', { HEROES_READ_SCOPE: 'a', PORT: '3001' })).stdout)
  t.same(embedded, await documentOf({ publicUrl: () => 'http://localhost:3001', readScope: 'a', callbackPage: true }))
  t.has(await heroes('openapi', { PORT: 'x' }), { code: 2, stdout: '' })
  const program = startProcess(t, ['openapi'], env)
  t.equal(await program.ended, 0)
  t.equal(program.output(), stdout)
})

t.test('heroes openapi --public leaves out what only serves the page /docs', async t => {
  const operations = async (line: string) => {
    const { code, stdout } = await heroes(line, {})
    t.equal(code, 0)
    return [...operationsOf(JSON.parse(stdout)).keys()]
  }
  const all = await operations('openapi')
  const open = await operations('openapi --public --json')
  t.strictSame(
    all.filter(each => !open.includes(each)).map(each => each.replace(/^GET (\/docs|\/$).*/, '$1')),
    ['/docs', '/docs', '/docs', '/docs', '/docs', '/docs', '/docs', '/']
  )
})

t.test('an answer that the document does not tell of is noticed', async t => {
  const { http } = createService()
  const check = createCheck(whole)
  const { statusCode, headers, payload } = await http.inject('/health/live')
  const answer = { statusCode, headers, payload }
  check('GET', '/health/live', answer, {})
  const refused = { statusCode: 400, headers, payload: '{"error":"the request has no Host header: send one"}' }
  check('GET', '/health/live', refused, {})
  const page = await http.inject('/auth/code?client_id=nobody')
  check('GET', '/auth/code', page, {})
  const others: readonly [string, Answered, RegExp][] = [
    ['/health/live', { ...answer, statusCode: 201 }, /a status that it does not have/],
    ['/health/gone', answer, /a path or method that it does not have/],
    ['/health/live', { ...answer, payload: '{"status":5}' }, /must be string/],
    ['/health/live', { ...answer, headers: { ...headers, 'retry-after': '1' } }, /with Retry-After/],
    ['/health/live', { ...answer, headers: { ...headers, server: undefined } }, /without Server/],
    ['/health/live', { ...answer, headers: { ...headers, 'content-length': 'x' } }, /Content-Length is x/],
    ['/health/live', { ...answer, headers: { ...headers, 'content-type': 'text/plain' } }, /of the type text\/plain/],
    ['/health/live', { ...refused, payload: '{"error":"no"}' }, /a text that is not among its examples/],
    [
      '/auth/code',
      { ...page, payload: page.payload.replaceAll('not known', 'unknown') },
      /"the application is unknown here" for developers, which/
    ],
    [
      '/auth/code',
      { ...page, payload: '<p>The application is not known here.</p>' },
      /"undefined" for developers, which/
    ],
    [
      '/openapi.json',
      { ...answer, headers: { ...headers, etag: '', 'cache-control': '' }, statusCode: 304 },
      /with Content-Length/
    ]
  ]
  for (const [url, given, message] of others) t.throws(() => check('GET', url, given, {}), { message })
})
