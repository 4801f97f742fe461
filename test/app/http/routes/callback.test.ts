import t from 'tap'
import { registerFirstClient } from '../../../../app/serve/first-client.js'
import { basic, createService, PUBLIC_URL } from '../../../support/service.js'
import { ADA } from '../../../support/world.js'

const CODE = 'A1b2C3d4'.repeat(4)
const service = createService({ callbackPage: true })
t.teardown(() => service.http.close())

t.test('wire 6.11: the page shows the code and the curl line that redeems it', async t => {
  const answer = await service.ask(`/callback?code=${CODE}&state=xyz&iss=x`)
  t.equal(answer.statusCode, 200)
  t.match(answer.headers, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'content-security-policy': /default-src 'none'/,
    'x-frame-options': 'SAMEORIGIN'
  })
  t.match(answer.payload, `<pre id="code">${CODE}</pre>`)
  t.ok(
    answer.payload.includes(
      `<pre id="curl">curl ${PUBLIC_URL}/auth/token -u local -d grant_type=authorization_code -d code=${CODE}</pre>`
    )
  )
})

t.test('the address in the curl line is one word of a shell, whatever characters it has', async t => {
  const odd = createService({ callbackPage: true, publicUrl: () => "https://heroes.example/a;b'c" })
  const answer = await odd.ask(`/callback?code=${CODE}`)
  const shown = answer.payload.replaceAll('&#39;', "'")
  t.match(shown, `<pre id="curl">curl 'https://heroes.example/a;b'\\''c/auth/token' -u local`)
  await odd.http.close()
})

t.test('the page shows an error that the login page has sent, escaped', async t => {
  const query = new URLSearchParams({ error: 'access_denied', error_description: '<script>alert("&")</script>' })
  const answer = await service.ask(`/callback?${query}`)
  t.equal(answer.statusCode, 200)
  t.ok(answer.payload.includes('<pre id="error">access_denied</pre>'))
  t.ok(answer.payload.includes('&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;'))
  t.notMatch(answer.payload, '<script>')
  const bare = await service.ask('/callback?error=x')
  t.equal(bare.statusCode, 200)
  t.notMatch(bare.payload, '<p lang')
})

t.test('what is no code is a 400 page that repeats nothing of it: a person would paste it into a shell', async t => {
  const attempts = [
    '',
    '?code=',
    `?code=${CODE}x`,
    `?code=${encodeURIComponent('$(reboot)')}`,
    `?code=${encodeURIComponent(`${CODE.slice(1)};`)}`,
    `?code=${CODE}&code=${CODE}`,
    '?code=%ff',
    `?error=${'e'.repeat(9000)}&error_description=${'d'.repeat(9000)}`
  ]
  for (const query of attempts) {
    const answer = await service.ask(`/callback${query}`)
    t.equal(answer.statusCode, 400, query)
    t.has(answer.headers, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
    t.notMatch(answer.payload, /curl|reboot|A1b2|eee/)
  }
})

t.test('a service that was not told to show it has no such page', async t => {
  const other = createService()
  t.teardown(() => other.http.close())
  t.has(await other.ask(`/callback?code=${CODE}`), { statusCode: 404 })
})

t.test(
  'the address that the first start prints leads through the login to this page, and its code to a token',
  async t => {
    const words = await registerFirstClient(service.useCases, 3000, PUBLIC_URL, ['heroes', 'profile:read'], {
      database: { kind: 'embedded' },
      registrationOpen: true,
      policy: { passwordMinLength: 1 }
    })
    await service.useCases.registerUser(ADA)
    const address = / (http\S+\/auth\/code\?\S+)\n/.exec(String(words))?.[1] ?? ''
    const secret = /client_secret +(\S+)/.exec(String(words))?.[1]
    const target = address.slice(PUBLIC_URL.length)
    t.equal((await service.ask(target)).statusCode, 200)
    const sent = await service.form(target, ADA)
    const { origin, pathname, search } = new URL(String(sent.headers.location))
    t.equal(`${origin}${pathname}`, 'http://127.0.0.1:3000/callback')
    const page = await service.ask(`${pathname}${search}`)
    const form = / -d (grant_type=\S+) -d (code=\w+)<\/pre>/.exec(page.payload)?.slice(1).join('&') ?? ''
    t.has((await service.form('/auth/token', form, basic('local', secret))).json(), { scope: 'heroes profile:read' })

    // The redirect URI may be named, with any port.
    for (const named of [
      '',
      '&redirect_uri=http://127.0.0.1:3000/callback',
      '&redirect_uri=http://127.0.0.1:8080/callback'
    ]) {
      const { headers } = await service.form(target + named, ADA)
      const { host, search } = new URL(String(headers.location))
      const { payload } = await service.ask(`/callback${search}`, { headers: { host } })
      const [, fields = ''] = / -u local (.*)<\/pre>/.exec(payload) ?? []
      const form = fields.replaceAll('-d ', '').replaceAll(' ', '&')
      t.equal((await service.form('/auth/token', form, basic('local', secret))).statusCode, 200, form)
    }
  }
)

t.test('a host that is not where the first client is sent to is not in the curl line', async t => {
  for (const host of ['localhost:3000', '127.0.0.1.evil.example:80', '127.0.0.1:', '127.0.0.1', '[::1]:3000']) {
    const { payload } = await service.ask(`/callback?code=${CODE}`, { headers: { host } })
    t.notMatch(payload, 'redirect_uri', host)
  }
})
