import t from 'tap'
import { registerFirstClient } from '../../../app/serve/first-client.js'
import { addClient, createWorld } from '../../support/world.js'

const OPEN = { database: { kind: 'embedded' }, registrationOpen: true, policy: { passwordMinLength: 1 } } as const

t.test('the first client is printed with its secret and with three command lines that try it', async t => {
  const { useCases } = createWorld()
  const text = await registerFirstClient(
    useCases,
    4000,
    'https://heroes.example',
    ['heroes.read', 'heroes', 'heroes'],
    OPEN
  )
  const secret = /client_secret {2}([A-Za-z0-9]{32})\n/.exec(String(text))?.[1]
  const client = await useCases.authenticateClient([{ id: 'local', secret }])
  t.match(client, {
    id: 'local',
    redirectUris: ['http://127.0.0.1:4000/callback'],
    allowedScopes: ['heroes.read', 'heroes'],
    grantTypes: ['password', 'authorization_code', 'refresh_token'],
    requirePkce: false
  })
  t.equal(String(text).match(/^ {2}(TOKEN=\$\()?curl .*https:\/\/heroes\.example\//gm)?.length, 3)
  t.match(text, `-u local:${secret} -d grant_type=password`)
  t.match(text, "--data-urlencode 'scope=heroes.read heroes'")
  const odd = await registerFirstClient(createWorld().useCases, 4000, "https://heroes.example/a&b'c", [], OPEN)
  t.match(odd, "\n  curl 'https://heroes.example/a&b'\\''c/register' -H")
  t.match(odd, "curl -s 'https://heroes.example/a&b'\\''c/auth/token' -u")
})

t.test(
  'the lines have a password that is long enough, and add the user by command where registration is closed',
  async t => {
    for (const [passwordMinLength, password] of [
      [13, 'correct horse'],
      [14, 'correct horse battery staple'],
      [1024, /correct horse( battery staple){67} batte$/]
    ] as const) {
      const { useCases } = createWorld({ policy: { passwordMinLength } })
      const settings = { ...OPEN, policy: { passwordMinLength } }
      const text = await registerFirstClient(useCases, 4000, 'http://localhost:4000', [], settings)
      const [, registered = ''] = /"password":"([^"]*)"/.exec(String(text)) ?? []
      t.match(registered, password)
      t.match(text, `-d 'password=${registered}' |`)
      await t.resolves(useCases.registerUser({ username: 'ada', password: registered }))
    }
    const closed = { ...OPEN, registrationOpen: false }
    const text = await registerFirstClient(createWorld().useCases, 4000, 'http://localhost:4000', [], closed)
    t.match(text, "\n  echo 'correct horse' | npx heroes user add ada\n")
    t.match(text, '`npx heroes client rotate-secret local`')
    t.notMatch(text, '/register')
  }
)

t.test('on memory the lines name no command, since none reaches the service', async t => {
  const memory = { ...OPEN, database: { kind: 'memory' } } as const
  const text = await registerFirstClient(createWorld().useCases, 4000, 'http://localhost:4000', [], memory)
  t.match(text, '\nA first client is registered. Its secret is shown this once.\n')
  t.match(text, '/register')
  t.notMatch(text, 'heroes client')
  const closed = { ...memory, registrationOpen: false }
  const closedText = await registerFirstClient(createWorld().useCases, 4000, 'http://localhost:4000', [], closed)
  t.match(closedText, '\n  # Nobody can be registered: REGISTRATION is closed, and no command reaches this database.\n')
  t.notMatch(closedText, 'heroes user')
})

t.test('beside it there is a public client for /docs, whose address is printed', async t => {
  const { useCases } = createWorld()
  const text = await registerFirstClient(useCases, 4000, 'https://heroes.example/v1', ['heroes.read', 'heroes'], OPEN)
  t.match(text, /^ {2}https:\/\/heroes\.example\/v1\/docs$/m)
  t.notMatch(text, 'Nobody can sign in')
  t.strictSame(await useCases.findClient('docs'), {
    id: 'docs',
    secretDigest: undefined,
    previousSecret: undefined,
    redirectUris: ['https://heroes.example/v1/docs/callback'],
    allowedScopes: ['heroes.read', 'heroes'],
    grantTypes: ['authorization_code'],
    name: 'API documentation',
    requirePkce: true,
    requireState: true
  })
})

t.test('the client of /docs is left out, with one line, where PUBLIC_URL allows no redirect URI', async t => {
  const { useCases } = createWorld()
  const text = await registerFirstClient(useCases, 3000, 'http://10.0.0.1:3000', [], OPEN)
  t.match(
    text,
    '\nNobody can sign in on that page: http://10.0.0.1:3000/docs/callback is no redirect URI that a client may have.\n'
  )
  t.match(text, '\n  http://10.0.0.1:3000/docs\n')
  t.strictSame(
    (await useCases.listClients()).map(({ id }) => id),
    ['local']
  )
})

t.test(
  'the first clients are registered only where there is no client, and without scopes the lines ask for none',
  async t => {
    const { useCases } = createWorld()
    t.notMatch(await registerFirstClient(useCases, 4000, 'http://localhost:4000', [], OPEN), 'scope')
    t.equal(await registerFirstClient(useCases, 4000, 'http://localhost:4000', [], OPEN), undefined)
    t.equal((await useCases.listClients()).length, 2)
  }
)

t.test('where any client is registered there is no first one, also when none is called local', async t => {
  const { useCases } = createWorld()
  await addClient({ useCases }, 'app')
  t.equal(await registerFirstClient(useCases, 4000, 'http://localhost:4000', [], OPEN), undefined)
  t.strictSame(
    (await useCases.listClients()).map(({ id }) => id),
    ['app']
  )
})
