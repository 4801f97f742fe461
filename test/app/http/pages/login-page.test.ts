import { createHash } from 'node:crypto'
import t from 'tap'
import type { PageFailure } from '../../../../app/http/errors.js'
import { accountPage, accountSignInPage } from '../../../../app/http/pages/account-page.js'
import { codePage, refusalPage } from '../../../../app/http/pages/callback-page.js'
import { createErrorPage } from '../../../../app/http/pages/error-page.js'
import { type Language, languageFor, pageHeaders } from '../../../../app/http/pages/layout.js'
import { type LoginPage, loginPage } from '../../../../app/http/pages/login-page.js'
import { TEXTS, type Texts } from '../../../../app/http/pages/texts.js'
import type { PageForm } from '../../../../app/http/paths.js'
import type { Fault } from '../../../../core/index.js'

const SERVICE = { name: 'Heroes', signupUrl: undefined, resetUrl: undefined }

const login = (changes: Partial<LoginPage> = {}) =>
  loginPage({
    language: 'en',
    service: SERVICE,
    client: { id: 'viewer' },
    scopes: [],
    words: new Map(),
    redirectUri: 'https://shop.example/callback',
    fields: [],
    ...changes
  })

interface ErrorPageContent extends PageFailure {
  readonly language: Language
  readonly service: string
  readonly requestId: string
}

const errorPage = (content: ErrorPageContent, form: PageForm = 'page'): string => {
  const { language, service, requestId: id, ...failure } = content
  return createErrorPage(service)(failure, { id, headers: { 'accept-language': language } }, form).body
}

const failure = {
  status: 400,
  message: 'it is not known',
  fault: undefined,
  language: 'en',
  service: 'Heroes',
  requestId: 'req-1'
} as const

const LANGUAGES: readonly Language[] = ['en', 'de', 'fr', 'es']

const FAULTS: readonly Fault[] = [
  'missing_client',
  'token_request',
  'unknown_client',
  'no_redirect_uri',
  'other_redirect_uri',
  'unnamed_redirect_uri',
  'too_long',
  'contradictory'
]

const NOON = new Date('2026-11-22T12:00:30.000Z')

/** The text that a person reads, without tags and with single spaces. */
const text = (page: string) =>
  page
    .slice(page.indexOf('<main>'))
    .replaceAll(/<\/?(?:bdi|strong|span|time)\b[^>]*>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')

const count = (page: string, part: string | RegExp) => page.split(part).length - 1

t.test('a page has one language, title, heading and main part, and loads and runs nothing', async t => {
  for (const page of [login(), errorPage(failure), codePage('en', 'x', 'curl'), refusalPage('en', 'x', 'y')]) {
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
      pageHeaders('en')['content-security-policy'],
      `default-src 'none';style-src 'sha256-${hash}';frame-ancestors 'none';base-uri 'none'`
    )
  }
})

t.test('a page is not cached, sends no referrer and says in which language it is', async t => {
  const { 'content-security-policy': _, ...others } = pageHeaders('fr')
  t.strictSame(others, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'content-language': 'fr',
    vary: 'accept-language'
  })
})

t.test('the fields have labels and tell password managers and keyboards what they are for', async t => {
  const page = login()
  t.match(page, '<form method="post" action="code">')
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

t.test('a scope is shown in the words of the operator where there are some, and always as it is', async t => {
  const words = new Map([
    ['heroes', 'See the “heroes”'],
    ['a&b', '<b>']
  ])
  const page = login({ scopes: ['heroes', 'heroes:top_ten.readonly', 'a&b'], words })
  t.match(page, '<li><bdi>See the “heroes”</bdi><code>heroes</code></li>')
  t.match(page, '<li><code>heroes:top_ten.readonly</code></li>', 'no words are made up')
  t.match(page, '<li><bdi>&lt;b&gt;</bdi><code>a&amp;b</code></li>')
  t.equal(count(page, '<li>'), 3)
  t.match(text(page), 'viewer asks you to sign in. By signing in, you give it these permissions:')
  t.match(text(login({ scopes: ['a'] })), 'By signing in, you give it this permission:')
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
  t.match(page, 'action="code?state=a%0Ab&amp;x%0D=1&amp;_Charset_=2&amp;=3%264"')
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
  t.match(page, 'action="code">')
})

const actionOf = (page: string): string => /<form method="post" action="([^"]*)">/.exec(page)?.[1] ?? ''

t.test('the address of the form keeps every parameter, so that a reload is the form again', async t => {
  const fields = [
    ['state', ' a+b%20é"<\n'],
    ['x', '&=#?']
  ] as const
  const action = actionOf(login({ fields })).replaceAll('&amp;', '&')
  t.match(action, /^code\?[!-~]+$/)
  t.strictSame([...new URL(action, 'http://x').searchParams], fields)
})

t.test('an address that no link can carry keeps those parameters alone that are no field', async t => {
  const withState = (length: number) =>
    login({
      fields: [
        ['state', 'x'.repeat(length)],
        ['line', '\n']
      ]
    })
  const rest = 'code?state=&amp;line=%0A'.length
  const most = 16_384 + 'code?'.length + '&amp;'.length - 1
  t.equal(actionOf(withState(most - rest)).length, most)
  t.equal(actionOf(withState(most - rest + 1)), 'code?line=%0A')
  t.match(withState(most - rest + 1), 'type="hidden" name="state"')
})

t.test('the button that cancels comes second, asks for no field, and its name is never sent twice', async t => {
  const page = login({ fields: [['cancel', 'x']] })
  t.match(
    page,
    '<button>Sign in</button>\n<button class="secondary" name="cancel" value="yes" formnovalidate>Cancel</button>\n</form>'
  )
  t.notMatch(page, 'type="hidden"')
  t.match(page, 'action="code?cancel=x"')
})

t.test('the page says where the person will return to, in letters that cannot deceive', async t => {
  const cases: [redirectUri: string, words: string][] = [
    ['https://shop.example/callback?x=1', 'You will return to shop.example.'],
    ['https://SHOP.example:443/', 'You will return to shop.example.'],
    ['https://shop.example:8443/', 'You will return to shop.example:8443.'],
    ['https://shop.example@evil.example/', 'You will return to evil.example.'],
    ['https://xn--pple-43d.example/', 'You will return to xn--pple-43d.example.'],
    ['https://%D0%B0pple.example/', 'You will return to xn--pple-43d.example.'],
    ['https://[2001:db8:0::1]/', 'You will return to [2001:db8::1].'],
    ['https://256.256.256.256/cb', 'You will return to https://256.256.256.256/cb.'],
    ['https://localhost.example/', 'You will return to localhost.example.'],
    ['http://127.0.0.1:3000/callback', 'You will return to an application on this device (127.0.0.1:3000).'],
    ['https://0x7f.1/', 'You will return to an application on this device (127.0.0.1).'],
    ['http://[::1]/callback', 'You will return to an application on this device ([::1]).'],
    ['http://localhost:1?x', 'You will return to an application on this device (localhost:1).'],
    ['com.example.app:/cb', 'You will return to the application com.example.app on this device.'],
    ['com.example.app://shop.example/cb', 'You will return to the application com.example.app on this device.']
  ]
  for (const [redirectUri, words] of cases) t.match(text(login({ redirectUri })), words, redirectUri)
})

t.test('there are links for people without an account or a password where there is a place for them', async t => {
  const signupUrl = 'https://shop.example/join?a=1&b=2'
  const resetUrl = 'https://shop.example/forgotten'
  const links = (changes: object) =>
    Array.from(login({ service: { ...SERVICE, ...changes } }).matchAll(/<a href="([^"]*)">([^<]*)</g), link =>
      link.slice(1)
    )
  const signup = ['https://shop.example/join?a=1&amp;b=2', 'Create an account']
  const reset = [resetUrl, 'Forgot your password?']
  const account = ['../account', 'Your logins and your password']
  t.strictSame(links({}), [account])
  t.strictSame(links({ signupUrl }), [signup, account])
  t.strictSame(links({ resetUrl }), [reset, account])
  t.strictSame(links({ signupUrl, resetUrl }), [reset, signup, account])
})

t.test('at first the username has the focus and no error is shown', async t => {
  const page = login()
  t.match(page, '<title>Sign in to Heroes</title>')
  t.match(page, /name="username"[^>]* autofocus>/)
  t.equal(count(page, ' autofocus'), 1)
  t.match(page, /name="password"[^>]*\saria-describedby="password-note">/)
  t.notMatch(page, /role="alert"|"message|aria-invalid/)
})

t.test(
  'after a failure the message is announced and describes both fields, and the password has the focus',
  async t => {
    const page = login({ failure: { username: 'ana' } })
    t.match(page, '<title>Error: Sign in to Heroes</title>')
    t.match(page, '<p role="alert" id="message">The username or the password is wrong.</p>')
    t.match(page, /name="username" value="ana"[^>]*\saria-invalid="true" aria-describedby="message">/)
    t.match(page, /name="password"[^>]*\saria-invalid="true"\s+aria-describedby="message password-note" autofocus>/)
    t.equal(count(page, ' autofocus'), 1)
  }
)

t.test('after a failure without a username the username has the focus', async t => {
  t.match(login({ failure: { username: '' } }), /name="username"[^>]*\saria-describedby="message" autofocus>/)
})

t.test('a throttled person reads how long to wait and until what time, in UTC, rounded up', async t => {
  const message = (seconds: number, language: Language = 'en') => {
    const page = login({ language, failure: { username: 'ana', retry: { seconds, now: NOON } } })
    t.notMatch(page, 'aria-invalid')
    return /id="message">(.*)<\/p>/.exec(page)?.[1]
  }
  t.equal(
    message(720),
    'There were too many attempts to sign in. Try again in 12 minutes, after <time datetime="2026-11-22T12:13:00.000Z">12:13 UTC</time>.'
  )
  const plain = (seconds: number, language?: Language) => message(seconds, language)?.replaceAll(/<[^>]*>/g, '')
  t.match(plain(1), 'Try again in 1 minute, after 12:01 UTC.')
  t.match(plain(61), 'Try again in 2 minutes, after 12:02 UTC.')
  t.match(plain(7199), 'Try again in 120 minutes, after 14:01 UTC.')
  t.match(plain(7200), /in 2 hours, after 22 November 2026 at 14:01 UTC\.$/)
  t.match(plain(172_799), /in 48 hours, after 24 November 2026 at 12:01 UTC\.$/)
  t.match(plain(172_800), /in 2 days, after 24 November 2026 at 12:01 UTC\.$/)
  t.match(plain(30, 'de'), 'Versuchen Sie es in 1 Minute noch einmal, ab 12:01 UTC.')
  t.match(plain(720, 'de'), 'Versuchen Sie es in 12 Minuten noch einmal, ab 12:13 UTC.')
  t.match(plain(30, 'fr'), 'Réessayez dans 1 minute (12:01 UTC).')
  t.match(plain(720, 'fr'), 'Réessayez dans 12 minutes (12:13 UTC).')
  t.match(plain(30, 'es'), 'Vuelva a intentarlo dentro de 1 minuto (12:01 UTC).')
  t.match(plain(720, 'es'), 'Vuelva a intentarlo dentro de 12 minutos (12:13 UTC).')
})

t.test('an error page says what went wrong and what to do, and names the request for the operator', async t => {
  const page = errorPage(failure)
  t.match(page, '<title>Error: This sign-in link does not work</title>')
  t.match(
    page,
    /<h1>This sign-in link does not work<\/h1>\n<p>Part of the link is missing[^<]*<\/p>\n<p>Go back to the application/
  )
  t.match(page, '<p class="quiet">Request <span class="id">req-1</span></p>')
  t.match(page, '<p class="quiet">For developers: <span lang="en">it is not known</span></p>')
  t.match(text(page), 'Heroes, error 400')
  t.notMatch(page, '<form')
})

t.test('each kind of failure has words of its own, and one of the service itself tells nothing of it', async t => {
  const words = new Set<string>()
  for (const fault of FAULTS) {
    const page = text(errorPage({ ...failure, fault }))
    t.match(page, 'This sign-in link does not work')
    words.add(page)
  }
  const statuses: [status: number, wanted: RegExp][] = [
    [400, /link does not work .*For developers: it is not known/],
    [403, /was refused Another website sent this form\. Close this page/],
    [405, /called in a way that it does not know/],
    [413, /is too long/],
    [415, /link does not work/],
    [500, /Something went wrong here The service failed\. This is not your fault\./],
    [503, /Signing in is not possible right now The service has too much to do/]
  ]
  for (const [status, wanted] of statuses) {
    const page = text(errorPage({ ...failure, status }))
    t.match(page, wanted)
    t.match(page, `error ${status}`)
    if (status >= 500 || status === 403) t.notMatch(page, 'it is not known', String(status))
  }
  t.equal(words.size, FAULTS.length)
})

t.test('the language is the one that the browser likes best, and English for everybody else', async t => {
  const cases: [accepted: string | undefined, language: Language][] = [
    [undefined, 'en'],
    ['', 'en'],
    ['*', 'en'],
    ['it', 'en'],
    ['it-IT,it;q=0.9', 'en'],
    ['de', 'de'],
    ['DE-at', 'de'],
    ['de-Latn-CH-1996', 'de'],
    ['fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5', 'fr'],
    ['it, es-419;q=0.8, en;q=0.5', 'es'],
    ['en;q=0.4,es;q=0.5', 'es'],
    ['de;q=0, fr;q=0.1', 'fr'],
    ['en;q=0', 'en'],
    ['deutsch', 'en'],
    [';;q=,,-;q=x', 'en'],
    ['__proto__', 'en'],
    ['\u00ff\u0000', 'en']
  ]
  for (const [accepted, language] of cases) t.equal(languageFor(accepted), language, JSON.stringify(accepted))
})

/** Every account page in a language, with every part that it can have. */
const everyAccountPage = (language: Language): readonly string[] => {
  const content = { language, service: 'Heroes', passwordMinLength: 8 }
  const grant = { id: 'g', userId: 1, clientId: 'local', scopes: [], beganAt: NOON, expiresAt: NOON }
  const account = { userId: 1, username: 'Heroes', ended: 0, logins: [], others: 0 }
  const login = { grant, clientName: undefined, refreshedAt: NOON }
  const undated = { ...login, grant: { ...grant, beganAt: undefined } }
  const wanted = { endAll: true, newPassword: true }
  return [
    accountSignInPage(content),
    accountSignInPage(content, { kind: 'missing', username: '' }, { ...wanted, end: ['g'] }),
    accountSignInPage(content, { kind: 'length', username: '' }, { ...wanted, end: ['g', 'h'] }),
    accountSignInPage(content, { kind: 'login', failure: { username: '' } }),
    accountPage(content, account, 'password'),
    accountPage(content, { ...account, logins: [login], ended: 0 }, 'logins'),
    accountPage(content, { ...account, logins: [undated], others: 1, ended: 1 }, 'logins'),
    accountPage(content, { ...account, logins: [login, undated], others: 2, ended: 2 }, 'logins')
  ]
}

/** Every page in a language, with every part that it can have. */
const everyPage = (language: Language): readonly string[] => {
  const service = { name: 'Heroes', signupUrl: 'https://x.example/1', resetUrl: 'https://x.example/2' }
  const retry = { seconds: 720, now: NOON }
  return [
    login({ language, service }),
    login({ language, scopes: ['a'], redirectUri: 'http://localhost/' }),
    login({ language, scopes: ['a', 'b'], redirectUri: 'com.example:/' }),
    login({ language, failure: { username: '' } }),
    login({ language, failure: { username: '', retry } }),
    ...FAULTS.map(fault => errorPage({ ...failure, language, fault })),
    ...[400, 403, 405, 413, 500, 503].map(status => errorPage({ ...failure, language, status })),
    errorPage({ ...failure, language }, 'account page'),
    codePage(language, 'x', 'curl'),
    refusalPage(language, 'x', ''),
    ...everyAccountPage(language)
  ]
}

t.test('every text of every page is in the language of the page, and in no other', async t => {
  const readBy = new Map<string, Language>()
  const shared: string[] = []
  for (const language of LANGUAGES) {
    for (const page of everyPage(language)) {
      t.match(page, `<html lang="${language}">`)
      const head = /<title>(.*?)<\/title>/.exec(page)?.[1]
      const parts = page
        .slice(page.indexOf('<main>'))
        .replaceAll(/<(\w+) [^>]*lang="en">.*?<\/\1>/g, '')
        .split(/<[^>]*>/)
      for (const part of [head, ...parts]) {
        const words = part?.trim() ?? ''
        if (!/\p{L}{3}/u.test(words)) continue
        const other = readBy.get(words)
        if (other !== undefined && other !== language) shared.push(words)
        readBy.set(words, language)
      }
    }
  }
  const names = ['Heroes', 'viewer', 'shop.example', 'localhost', 'com.example', 'req-1', 'local', 'curl', '12:13 UTC']
  t.strictSame(
    [...new Set(shared)].filter(words => !names.includes(words)),
    [400, 403, 405, 413, 500, 503].map(status => `Heroes, error ${status}`),
    'English and Spanish have these in common'
  )
})

t.test('a language that lacks a text, or a table that lacks a language, does not compile', async t => {
  const { signIn: _, ...rest } = TEXTS.de
  // @ts-expect-error The text `signIn` is missing.
  const lacking: Texts = rest
  const { es: __, ...others } = TEXTS
  // @ts-expect-error The language `es` is missing.
  const table: Record<Language, Texts> = others
  t.ok(lacking && table)
})

t.test('no text becomes markup, wherever it is in the page', async t => {
  const nasty = `"'><b>&amp;`
  const escaped = '&quot;&#39;&gt;&lt;b&gt;&amp;amp;'
  const pages = [
    login({ client: { id: nasty } }),
    login({ client: { id: 'viewer', name: nasty } }),
    login({ service: { ...SERVICE, name: nasty } }),
    login({ service: { ...SERVICE, signupUrl: nasty } }),
    login({ service: { ...SERVICE, resetUrl: nasty } }),
    login({ scopes: [nasty] }),
    login({ scopes: ['a'], words: new Map([['a', nasty]]) }),
    login({ redirectUri: `https://[${nasty}` }),
    login({ redirectUri: `${nasty}:x` }),
    login({ fields: [[nasty, 'x']] }),
    login({ fields: [['x', nasty]] }),
    login({ failure: { username: nasty } }),
    errorPage({ ...failure, message: nasty }),
    errorPage({ ...failure, service: nasty }),
    errorPage({ ...failure, requestId: nasty }),
    codePage('en', nasty, 'x'),
    codePage('en', 'x', nasty),
    refusalPage('en', nasty, 'x'),
    refusalPage('en', 'x', nasty)
  ]
  for (const page of pages) {
    t.notMatch(page, /["']><b>/)
    t.ok(page.includes(escaped))
  }
})
