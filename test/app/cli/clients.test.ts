import t from 'tap'
import { heroes, ONE_LINE, openCommandLine, told } from '../../support/command.js'

const { env, run, json } = await openCommandLine(t)

const SECRET = 'a secret of 24 characters'

/** What is printed of a client for which nothing was chosen. */
const BARE = {
  redirectUris: [],
  allowedScopes: [],
  grantTypes: ['password', 'authorization_code', 'refresh_token']
}

t.test('client add prints the client, and its secret only if the command made the secret', async t => {
  t.strictSame(await json('client add spa --public'), { id: 'spa', ...BARE, requirePkce: true, requireState: true })
  t.strictSame(await json('client add spa.2 --public --no-require-pkce'), {
    id: 'spa.2',
    ...BARE,
    requirePkce: false,
    requireState: true
  })
  const { stdout, stderr, code } = await heroes(
    'client add app --confidential --redirect-uri https://app.example/cb --scope a --scope b:c --redirect-uri http://localhost/ --grant client_credentials --grant password --name'
      .split(' ')
      .concat('The App', '--json'),
    env
  )
  t.match({ stderr, code }, { stderr: told('client.added', { client: 'app' }), code: 0 })
  t.match(
    stdout,
    /^\{"id":"app","secret":"[A-Za-z0-9]{32}","redirectUri":"https:\/\/app\.example\/cb","redirectUris":\["https:\/\/app\.example\/cb","http:\/\/localhost\/"\],"allowedScopes":\["a","b:c"\],"grantTypes":\["client_credentials","password"\],"name":"The App","requirePkce":false,"requireState":true\}\n$/
  )
  t.strictSame(await json('client add strict --confidential --require-pkce --secret-stdin', `${SECRET}\n`), {
    id: 'strict',
    ...BARE,
    requirePkce: true,
    requireState: true
  })

  const shown = await run('client add cli --confidential')
  t.match(shown, {
    code: 0,
    stderr: told('client.added', { client: 'cli' }),
    stdout: /^The client cli is registered\.\nIts secret.*: [A-Za-z0-9]{32}\n$/
  })
  const read = await run('client add cli.2 --confidential --secret-stdin', `${SECRET}\r\nmore`)
  t.match(read, {
    code: 0,
    stderr: told('client.added', { client: 'cli.2' }),
    stdout: /^The client cli\.2 is registered\.\n$/
  })
})

t.test('client list and show print the clients without their secrets', async t => {
  const app = {
    id: 'app',
    confidential: true,
    redirectUri: 'https://app.example/cb',
    redirectUris: ['https://app.example/cb', 'http://localhost/'],
    allowedScopes: ['a', 'b:c'],
    grantTypes: ['client_credentials', 'password'],
    name: 'The App',
    requirePkce: false,
    requireState: true
  }
  t.strictSame(await json('client show app'), app)
  const all: { id: string }[] = await json('client list')
  t.strictSame(
    all.map(({ id }) => id),
    ['app', 'cli', 'cli.2', 'spa', 'spa.2', 'strict']
  )
  t.strictSame(all[0], app)
  t.strictSame(await run('client show app'), {
    code: 0,
    stdout:
      'ID   KIND          REDIRECT URIS                             SCOPES  GRANT TYPES                  PKCE      NAME\n' +
      'app  confidential  https://app.example/cb http://localhost/  a b:c   client_credentials password  optional  The App\n',
    stderr: ''
  })
  t.match(
    (await run('client list')).stdout,
    /^ID +KIND +REDIRECT URIS .*\n[\s\S]*\nspa {5}public {8}- {41}- {7}password authorization_code refresh_token {2}required {2}-\n/
  )
})

t.test('client set changes what its options name and nothing else', async t => {
  await run('client add changing --confidential --scope a --name N --redirect-uri https://a.example/')
  const before = await json('client show changing')
  const moved = { redirectUri: 'https://b.example/', redirectUris: ['https://b.example/', 'https://c.example/'] }
  t.strictSame(await json('client set changing --redirect-uri https://b.example/ --redirect-uri https://c.example/'), {
    ...before,
    ...moved
  })
  t.strictSame(await json('client set changing --scope x --scope y --scope x --require-pkce --name M'), {
    ...before,
    ...moved,
    allowedScopes: ['x', 'y'],
    name: 'M',
    requirePkce: true,
    requireState: true
  })
  t.match(await json('client set changing --grant refresh_token --grant client_credentials'), {
    ...moved,
    grantTypes: ['refresh_token', 'client_credentials']
  })
  t.strictSame(await json('client set changing --no-scope --no-name --no-redirect-uri --no-grant --no-require-pkce'), {
    id: 'changing',
    confidential: true,
    redirectUris: [],
    allowedScopes: [],
    grantTypes: [],
    requirePkce: false,
    requireState: true
  })
  t.match((await run('client show changing')).stdout, /\nchanging {2}confidential {2}- {14}- {7}- {12}optional {2}-\n/)
  t.match(await run('client set changing --name one'), { code: 0, stdout: /\nchanging {2}confidential .* one\n$/ })
  t.match(await run('client set changing'), { code: 2, stdout: '', stderr: ONE_LINE })
})

t.test('client rotate-secret prints a secret that it made, and never one that it read', async t => {
  const made = await json('client rotate-secret cli')
  t.strictSame(Object.keys(made), ['id', 'secret'])
  t.match(made.secret, /^[A-Za-z0-9]{32}$/)
  t.match(await run('client rotate-secret cli'), { code: 0, stdout: /: [A-Za-z0-9]{32}\n$/ })
  t.strictSame(await json('client rotate-secret cli --keep-old 60 --secret-stdin', SECRET), { id: 'cli' })
  t.match(await run('client rotate-secret cli --secret-stdin', SECRET), {
    code: 0,
    stdout: /^The client cli has its new secret\.\n$/,
    stderr: told('client.secret_rotated', { client: 'cli' })
  })
  for (const seconds of ['-1', '1.5', 'soon', '', '1000000000']) {
    t.match(await heroes(['client', 'rotate-secret', 'cli', `--keep-old=${seconds}`], env), {
      code: 2,
      stdout: '',
      stderr: /It must be a whole number of seconds, at most 999999999\.\n$/
    })
  }
})

t.test('a secret on stdin is of printable ASCII, which every client sends alike', async t => {
  for (const command of ['client add awkward --confidential', 'client rotate-secret app']) {
    for (const character of ['é', '\u00a0', '\t', '\u007f', '\u{1f9b8}']) {
      t.strictSame(await run(`${command} --secret-stdin`, `${SECRET}${character}`), {
        code: 1,
        stdout: '',
        stderr: 'heroes: secret holds a character that is not printable ASCII: leave it out\n'
      })
    }
    t.match(await run(`${command} --help`), { code: 0, stdout: /--secret-stdin +read a secret .* of printable ASCII/ })
  }
  t.match(await run('client show awkward'), { code: 1 })
  const every = String.fromCharCode(...Array.from({ length: 95 }, (_, index) => index + 0x20))
  t.match(await run('client rotate-secret app --secret-stdin', every), { code: 0 })
})

t.test('client remove removes a client', async t => {
  t.strictSame(await json('client remove cli.2'), { id: 'cli.2' })
  t.match(await run('client remove cli'), {
    code: 0,
    stdout: /^The client cli is removed\.\n$/,
    stderr: told('client.removed', { client: 'cli' })
  })
  t.match(await run('client show cli'), { code: 1, stdout: '', stderr: ONE_LINE })
})

t.test('a client command that cannot be carried out ends with exit code 1 and one line on stderr', async t => {
  const cases: [line: string, stdin?: string][] = [
    ['client add app --public'],
    ['client add ä --public'],
    ['client add x --public --redirect-uri http://app.example/'],
    ['client add x --public --redirect-uri https://app.example/#fragment'],
    ['client add x --public --redirect-uri https://app.example/ --redirect-uri nowhere'],
    ['client add x --public --scope "'],
    ['client add x --public --grant implicit'],
    ['client add x --public --grant client_credentials'],
    ['client add 42 --confidential --grant client_credentials'],
    ['client set spa --grant client_credentials'],
    ['client set nobody --grant client_credentials'],
    ['client add x --confidential --secret-stdin', 'of too few characters'],
    ['client show nobody'],
    ['client set nobody --no-name'],
    ['client set app --redirect-uri nowhere'],
    ['client rotate-secret nobody'],
    ['client rotate-secret spa'],
    ['client rotate-secret app --secret-stdin', 'of too few characters'],
    ['client remove nobody']
  ]
  for (const [line, stdin] of cases) {
    t.match(await run(`${line} --json`, stdin), { code: 1, stdout: '', stderr: /^heroes: [^\n]+\n$/ }, line)
  }
})
