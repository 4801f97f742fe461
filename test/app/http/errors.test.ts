import { Type } from '@sinclair/typebox'
import t from 'tap'
import { formRoutes } from '../../../app/http/bodies/forms.js'
import { jsonRoutes } from '../../../app/http/bodies/json.js'
import type { Http } from '../../../app/http/http.js'
import { DomainError, type ErrorCode } from '../../../core/index.js'
import { CONSTANT_HEADERS, createTestHttp } from '../../support/http.js'
import { createService } from '../../support/service.js'
import { FORM_TYPE, JSON_TYPE } from '../../support/wire.js'

/** A server whose routes `/fail/:name`, `/oauth/fail/:name` and `/page/fail/:name` throw the error of that name, each in its form. */
const createFailing = (errors: Readonly<Record<string, unknown>>): Http => {
  const http = createTestHttp()
  const fail =
    (path: string) =>
    (http: Http): void => {
      http.get(path, { schema: { params: Type.Object({ name: Type.String() }) } }, async ({ params }) => {
        throw errors[params.name]
      })
    }
  http.register(jsonRoutes(fail('/fail/:name')))
  http.register(formRoutes('oauth', fail('/oauth/fail/:name')))
  http.register(formRoutes('page', fail('/page/fail/:name')))
  http.get('/unserializable', async () => ({ count: 1n }))
  return http
}

const METADATA = 'http://heroes.example/.well-known/oauth-protected-resource'

t.test('every error code has its status and its headers, in the form that the group of its route declares', async t => {
  const expected: [ErrorCode, number, string][] = [
    ['invalid_input', 400, 'invalid_request'],
    ['not_found', 404, 'invalid_request'],
    ['conflict', 409, 'invalid_request'],
    ['token_required', 401, 'invalid_request'],
    ['invalid_token', 401, 'invalid_token'],
    ['insufficient_scope', 403, 'insufficient_scope'],
    ['invalid_request', 400, 'invalid_request'],
    ['invalid_client', 401, 'invalid_client'],
    ['invalid_grant', 400, 'invalid_grant'],
    ['invalid_scope', 400, 'invalid_scope'],
    ['unauthorized_client', 400, 'unauthorized_client'],
    ['unsupported_grant_type', 400, 'unsupported_grant_type'],
    ['unsupported_response_type', 400, 'unsupported_response_type'],
    ['access_denied', 403, 'access_denied'],
    ['too_many_attempts', 429, 'temporarily_unavailable'],
    ['overloaded', 503, 'temporarily_unavailable'],
    ['unavailable', 503, 'temporarily_unavailable']
  ]
  const challenges: Partial<Record<ErrorCode, string>> = {
    token_required: `Bearer realm="heroes", resource_metadata="${METADATA}"`,
    invalid_token: `Bearer realm="heroes", resource_metadata="${METADATA}", error="invalid_token"`,
    insufficient_scope: 'Bearer realm="heroes", error="insufficient_scope", scope="heroes.read"',
    invalid_client: 'Basic realm="heroes"'
  }
  const details = { requiredScope: 'heroes.read' }
  const http = createFailing({
    ...Object.fromEntries(expected.map(([code]) => [code, new DomainError(code, 'the message', details)])),
    retry: new DomainError('unavailable', 'the database is away', { retryAfterSeconds: 2, cause: new Error('refused') })
  })
  for (const [code, status, oauth] of expected) {
    const answer = await http.inject(`/fail/${code}`)
    t.equal(answer.statusCode, status, code)
    t.same(answer.json(), { error: 'the message' })
    t.equal(answer.headers['www-authenticate'], challenges[code])
    t.notOk(answer.headers['cache-control'])

    const auth = await http.inject(`/oauth/fail/${code}`)
    t.equal(auth.statusCode, status, code)
    t.same(auth.json(), { error: oauth, error_description: 'the message' })
    t.equal(auth.headers['www-authenticate'], challenges[code])
    t.has(auth.headers, { 'cache-control': 'no-store', pragma: 'no-cache' })

    const page = await http.inject(`/page/fail/${code}`)
    t.equal(page.statusCode, status, code)
    t.has(page.headers, { 'content-type': 'text/html; charset=utf-8', 'x-page': 'yes' })
  }
  const away = await http.inject('/fail/retry')
  t.has([away.statusCode, away.headers['retry-after'], away.json()], [503, '2', { error: 'the database is away' }])
})

t.test('an unknown failure is 500, has the constant headers and says nothing of the inside', async t => {
  const http = createFailing({
    hidden: new Error('secret of the inside'),
    text: 'just a text',
    foreign: Object.assign(new Error('of another service'), { statusCode: 502 })
  })
  for (const url of ['/fail/hidden', '/fail/text', '/fail/foreign', '/unserializable']) {
    const answer = await http.inject(url)
    t.equal(answer.statusCode, 500)
    t.match(answer.headers, CONSTANT_HEADERS)
    t.same(answer.json(), { error: 'the service failed' })
  }
  t.same((await http.inject('/oauth/fail/hidden')).json(), {
    error: 'server_error',
    error_description: 'the service failed'
  })
})

t.test("every refusal under /auth/ has OAuth's form and is not cached", async t => {
  const { http } = createService({ bodyLimit: 1000 })
  const post = { method: 'POST', url: '/auth/token' } as const
  const requests = [
    { request: { method: 'GET', url: '/auth/nothing' }, status: 404 },
    { request: { method: 'GET', url: '/auth/token' }, status: 405 },
    { request: { ...post, headers: FORM_TYPE, payload: 'x'.repeat(1001) }, status: 413 },
    { request: { ...post, headers: { ...FORM_TYPE, 'content-encoding': 'br' }, payload: 'x' }, status: 415 },
    { request: { ...post, headers: FORM_TYPE, payload: 'a=%' }, status: 400 },
    { request: { ...post, headers: FORM_TYPE, payload: 'a=1&a=2' }, status: 400 }
  ] as const
  for (const { status, request } of requests) {
    const answer = await http.inject(request)
    t.equal(answer.statusCode, status, JSON.stringify(request))
    t.equal(answer.json().error, 'invalid_request')
    t.match(answer.json().error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
    t.has(answer.headers, { 'cache-control': 'no-store', pragma: 'no-cache' })
  }
})

t.test('wire 2.4: every refusal of /auth/code is a page', async t => {
  const { http } = createService({ bodyLimit: 1000 })
  const post = { method: 'POST', url: '/auth/code' } as const
  const requests = [
    { request: { method: 'GET', url: '/auth/code?state=%zz' }, status: 400 },
    { request: { method: 'DELETE', url: '/auth/code' }, status: 405 },
    { request: { ...post, headers: FORM_TYPE, payload: 'x'.repeat(1001) }, status: 413 },
    { request: { ...post, url: '/auth/code?x=1', headers: JSON_TYPE, payload: '{}' }, status: 400 },
    { request: post, status: 400 }
  ] as const
  for (const { status, request } of requests) {
    const answer = await http.inject(request)
    t.equal(answer.statusCode, status, JSON.stringify(request))
    const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': /^default-src 'none';/ }
    t.match(answer.headers, headers)
    t.match(answer.payload, `Heroes, error ${status}`)
  }
  t.equal((await http.inject({ url: '/auth/code', method: 'DELETE' })).headers.allow, 'GET, HEAD, POST')
  t.equal((await http.inject('/auth/codes')).headers['content-type'], 'application/json; charset=utf-8')
})
