import { createHash } from 'node:crypto'
import helmet from '@fastify/helmet'
import fastify from 'fastify'
import t from 'tap'
import { errorPage } from '../../../../app/http/pages/error-page.js'
import { CSP_DIRECTIVES, PAGE_HEADERS } from '../../../../app/http/pages/layout.js'
import { type LoginPage, loginPage } from '../../../../app/http/pages/login-page.js'

const login = (changes: Partial<LoginPage> = {}) =>
  loginPage({ client: { id: 'viewer' }, scopes: [], fields: [], action: '/auth/code', ...changes })

const failure = { status: 400, title: 'No such client', message: 'It is not known.', advice: 'Start again.' }

/** The text that a person reads, without tags and with single spaces. */
const text = (page: string) =>
  page
    .slice(page.indexOf('<main>'))
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')

const count = (page: string, part: string | RegExp) => page.split(part).length - 1

t.test('a page has one language, title, heading and main part, and loads and runs nothing', async t => {
  for (const page of [login(), errorPage(failure)]) {
    t.match(page, /^<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n/)
    t.match(page, '<meta name="viewport" content="width=device-width, initial-scale=1">')
    t.match(page, '<meta name="color-scheme" content="light dark">')
    for (const tag of ['<title>', '<main>', '<h1>', '<style>']) t.equal(count(page, tag), 1, tag)
    t.notMatch(page, /<(script|link|img|iframe|base)|\ssrc=|\sstyle=|\son\w+=|url\(|@import|https?:/)
  }
})

t.test('the policy allows the style that the pages hold, and nothing else', async t => {
  for (const page of [login(), errorPage(failure)]) {
    const style = page.slice(page.indexOf('<style>') + 7, page.indexOf('</style>'))
    const hash = createHash('sha256').update(style).digest('base64')
    t.equal(
      PAGE_HEADERS['content-security-policy'],
      `default-src 'none';style-src 'sha256-${hash}';frame-ancestors 'none';base-uri 'none'`
    )
  }
})

t.test('a page is not cached and sends no referrer', async t => {
  const { 'content-security-policy': _, ...others } = PAGE_HEADERS
  t.strictSame(others, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer'
  })
})

t.test('helmet makes the same policy from the directives', async t => {
  const app = fastify()
  await app.register(helmet, { contentSecurityPolicy: { useDefaults: false, directives: CSP_DIRECTIVES } })
  app.get('/', async () => '')
  const { headers } = await app.inject('/')
  t.equal(headers['content-security-policy'], PAGE_HEADERS['content-security-policy'])
})

t.test('the fields have labels and tell password managers and keyboards what they are for', async t => {
  const page = login()
  t.match(page, '<form method="post" action="/auth/code">')
  t.match(page, '<label for="username">Username</label>\n<input id="username" name="username" value="" required')
  t.match(page, '<label for="password">Password</label>\n<input id="password" name="password" type="password" required')
  t.match(page, /name="username"[^>]* autocomplete="username"\s+autocapitalize="none"[^>]*\sspellcheck="false"/)
  t.match(page, /name="password"[^>]* autocomplete="current-password"\s+autocapitalize="none"[^>]*\sspellcheck="false"/)
  t.match(page, '<button>Sign in</button>')
})

t.test('the client is called by its name, or by its id when it has no name', async t => {
  t.match(text(login({ client: { id: 'viewer', name: 'Hero Viewer' } })), 'Hero Viewer asks')
  t.match(text(login({ client: { id: 'viewer', name: undefined } })), 'viewer asks')
  t.match(text(login({ client: { id: 'viewer', name: ' ' } })), 'viewer asks')
})

t.test('the page says who sees the password and how to refuse', async t => {
  const page = text(login({ client: { id: 'viewer', name: 'Hero Viewer' } }))
  t.match(page, 'Enter it only here, at Heroes. Hero Viewer does not see it.')
  t.match(page, 'Not expecting this? Close this page, and Hero Viewer gets nothing.')
})

t.test('a scope is shown in words where there are some, and always as it is', async t => {
  const words = {
    heroes: 'Heroes',
    'heroes:write': 'Heroes: write',
    'heroes.readonly': 'Heroes (read only)',
    'heroes.read': 'Heroes (read only)',
    'heroes:top_ten.bulk-edit': 'Heroes: top ten (bulk edit)',
    'https://example.com/heroes.read': '',
    'heroes:': '',
    'a.b.c': '',
    'a&b': ''
  }
  for (const [scope, wanted] of Object.entries(words)) {
    t.match(login({ scopes: [scope] }), `<li>${wanted}<code>${scope.replace('&', '&amp;')}</code></li>`)
  }
  const page = login({ scopes: Object.keys(words) })
  t.match(text(page), 'viewer asks you to sign in. This gives it access to:')
  t.equal(count(page, '<li>'), Object.keys(words).length)
})

t.test('without scopes the page says that the client asks to sign the person in', async t => {
  t.match(text(login()), 'viewer asks to sign you in, and names no particular permissions.')
  t.notMatch(login(), '<ul')
})

t.test('every parameter of the request becomes a hidden field', async t => {
  const page = login({
    fields: new Map([
      ['client_id', 'viewer'],
      ['state', ' a+b%20\té"<'],
      ['foo', '']
    ])
  })
  t.match(page, 'action="/auth/code"')
  t.match(page, '<input type="hidden" name="client_id" value="viewer">')
  t.match(page, '<input type="hidden" name="state" value=" a+b%20\té&quot;&lt;">')
  t.match(page, '<input type="hidden" name="foo" value="">')
  t.equal(count(page, 'type="hidden"'), 3)
})

t.test('a parameter that a browser would not send unchanged as a field is in the address of the form', async t => {
  const page = login({
    fields: [
      ['state', 'a\nb'],
      ['x\r', '1'],
      ['_Charset_', '2'],
      ['', '3&4']
    ]
  })
  t.match(page, 'action="/auth/code?state=a%0Ab&amp;x%0D=1&amp;_Charset_=2&amp;=3%264"')
  t.notMatch(page, 'type="hidden"')
})

t.test('a username or password among the parameters does not reach the form', async t => {
  const page = login({
    fields: [
      ['username', 'mallory'],
      ['password', 'hunter2']
    ]
  })
  t.notMatch(page, /mallory|hunter2|type="hidden"/)
})

t.test('at first the username has the focus and no error is shown', async t => {
  const page = login()
  t.match(page, '<title>Sign in to Heroes</title>')
  t.match(page, /name="username"[^>]* autofocus>/)
  t.equal(count(page, ' autofocus'), 1)
  t.match(page, /name="password"[^>]*\saria-describedby="password-note">/)
  t.notMatch(page, /role="alert"|"message/)
})

t.test(
  'after a failure the message is announced and describes both fields, and the password has the focus',
  async t => {
    const page = login({ username: 'ana', message: 'That was not right.' })
    t.match(page, '<title>Error: Sign in to Heroes</title>')
    t.match(page, '<p role="alert" id="message">That was not right.</p>')
    t.match(page, /name="username" value="ana"[^>]*\saria-describedby="message">/)
    t.match(page, /name="password"[^>]*\saria-describedby="message password-note" autofocus>/)
    t.equal(count(page, ' autofocus'), 1)
  }
)

t.test('after a failure without a username the username has the focus', async t => {
  t.match(login({ username: '', message: 'x' }), /name="username"[^>]*\saria-describedby="message" autofocus>/)
})

t.test('an error page says what went wrong and what to do', async t => {
  const page = errorPage(failure)
  t.match(page, '<title>Error: No such client</title>')
  t.match(page, '<h1>No such client</h1>\n<p>It is not known.</p>\n<p>Start again.</p>')
  t.match(text(page), 'Heroes, error 400')
  t.notMatch(page, '<form')
})

t.test('no text becomes markup, wherever it is in the page', async t => {
  const nasty = `"'><b>&amp;`
  const escaped = '&quot;&#39;&gt;&lt;b&gt;&amp;amp;'
  const pages = [
    login({ client: { id: nasty } }),
    login({ client: { id: 'viewer', name: nasty } }),
    login({ scopes: [nasty] }),
    login({ fields: [[nasty, 'x']] }),
    login({ fields: [['x', nasty]] }),
    login({ action: nasty }),
    login({ username: nasty }),
    login({ message: nasty }),
    errorPage({ ...failure, title: nasty }),
    errorPage({ ...failure, message: nasty }),
    errorPage({ ...failure, advice: nasty })
  ]
  for (const page of pages) {
    t.notMatch(page, /["']><b>/)
    t.ok(page.includes(escaped))
  }
})
