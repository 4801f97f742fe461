import t from 'tap'
import { addClient, createWorld, SECRET } from '../support/world.js'

t.test('a client id is 1 to 255 of A-Z a-z 0-9 . _ ~ -', async t => {
  const world = createWorld()
  for (const id of ['a', 'my-app.v1_~', 'X'.repeat(255)]) t.equal((await addClient(world, id)).id, id)
  for (const id of ['', 'X'.repeat(256), 'a b', 'a:b', 'a/b', 'é', 'a\n', 'a%41']) {
    await t.rejects(addClient(world, id), { code: 'invalid_input' }, JSON.stringify(id))
  }
})

t.test('a redirect URI of another address than 127.0.0.1 and ::1 is not of this machine', async t => {
  for (const host of ['[::]', '0.0.0.0', '127.0.0.2', 'localhost.example', '[::1']) {
    const adding = addClient(createWorld(), 'app', { redirectUris: [`http://${host}/cb`] })
    await t.rejects(adding, { code: 'invalid_input' }, host)
  }
})

t.test('a client id is registered once', async t => {
  const world = createWorld()
  await addClient(world, 'app')
  await t.rejects(addClient(world, 'app', { secret: undefined }), { code: 'conflict' })
  t.ok((await world.useCases.findClient('app')).secretDigest)
})

t.test('a redirect URI is https, http on this machine, or of a private-use scheme with a dot', async t => {
  const { useCases } = createWorld()
  await addClient({ useCases }, 'app')
  const fine = [
    'https://app.example',
    'https://app.example/',
    'https://app.example:8443/a/b?c=d&e=%C3%A9',
    'https://xn--bcher-kva.example/cb',
    'https://192.0.2.1/cb',
    'https://[2001:db8::1]/cb',
    'https://[2001:db8::1]:65535/cb',
    'https://app.example:65535',
    'https://app.example/:99999',
    'https://app.example?x=:99999',
    'https://user:99999@app.example/cb',
    'http://localhost:1',
    'http://127.0.0.1:65535/cb',
    'http://127.0.0.1',
    'http://127.0.0.1:3000/cb',
    'http://[::1]:3000/cb?x',
    'http://localhost/cb',
    'http://localhost?x',
    'com.example.app:/cb',
    'com.example.app://cb',
    'com.example-1.app:cb'
  ]
  for (const uri of fine) t.match(await useCases.changeClient('app', { redirectUris: [uri] }), { redirectUris: [uri] })
  const bad = [
    '',
    '/callback',
    'app.example/cb',
    '//app.example/cb',
    'https:',
    'https://',
    'https:///cb',
    'https://?x',
    'https://:443/',
    'https://@app.example/',
    'https://#',
    'https://#x',
    'https://app.example/#x',
    'https://app.example/cb#',
    'https://é.example/cb',
    'https:// app.example/cb',
    'https://app.example/c b',
    'https://app.example/cb\n',
    '\nhttps://app.example/cb',
    'https://"app.example/cb',
    'https://app.example/é',
    'https://app.example/%zz',
    'https://app.example/%',
    'https://app.example/<>',
    'https://app.example/\\',
    'HTTPS://app.example/cb',
    'http://app.example/cb',
    'http://127.0.0.1.example/cb',
    'http://127.0.0.2/cb',
    'http://localhost.example/cb',
    'http://localhost:x/cb',
    'http://localhost:123456/cb',
    ...['65536', '65540', '65600', '66000', '70000', '99999', '0', '080', ''].flatMap(port => [
      `http://localhost:${port}/cb`,
      `http://127.0.0.1:${port}`,
      `http://[::1]:${port}?x`,
      `https://app.example:${port}/cb`,
      `https://user@app.example:${port}`,
      `https://[2001:db8::1]:${port}/cb`
    ]),
    'https://app.example:x/cb',
    'https://a@b@app.example/cb',
    'https://[app]/cb',
    'http://user@localhost/cb',
    'http://localhost@evil.example/cb',
    'http://127.0.0.1:3000/cb#x',
    'http://[::2]/cb',
    'app:/cb',
    'javascript:alert(1)',
    'data:text/html,x',
    'com.example.app:',
    'com.example.app:/cb#x',
    '1com.example:/cb',
    'COM.example:/cb',
    `https://app.example/${'x'.repeat(2000)}`
  ]
  for (const uri of bad) {
    const redirectUris = ['https://app.example', uri]
    await t.rejects(useCases.changeClient('app', { redirectUris }), { code: 'invalid_input' }, JSON.stringify(uri))
    await t.rejects(addClient({ useCases }, 'other', { redirectUris }), { code: 'invalid_input' })
  }
})

t.test('each redirect URI and each grant type is kept once, in the order given', async t => {
  const { useCases } = createWorld()
  const redirectUris = ['https://b.example', 'https://a.example', 'https://b.example']
  const grantTypes = ['refresh_token', 'password', 'refresh_token']
  await addClient({ useCases }, 'other')
  for (const client of [
    await addClient({ useCases }, 'app', { redirectUris, grantTypes }),
    await useCases.changeClient('other', { redirectUris, grantTypes })
  ]) {
    t.strictSame(client.redirectUris, redirectUris.slice(0, 2))
    t.strictSame(client.grantTypes, grantTypes.slice(0, 2))
  }
})

t.test('a change that is handed in as a whole client leaves id and secrets as they are', async t => {
  const { useCases } = createWorld()
  const model = await addClient({ useCases }, 'model', { secret: SECRET })
  const client = await addClient({ useCases }, 'app', { secret: `${SECRET}!` })
  t.strictSame(await useCases.changeClient('app', { ...model, name: 'The App' }), { ...client, name: 'The App' })
})

t.test(
  'a client that is registered without a word about it may use the grants of users, and no login page',
  async t => {
    const { useCases } = createWorld()
    const bare = { secret: undefined, allowedScopes: [], name: undefined, requirePkce: true }
    t.match((await useCases.addClient({ id: 'app', ...bare })).client, {
      redirectUris: [],
      grantTypes: ['password', 'authorization_code', 'refresh_token']
    })
  }
)

t.test('a grant type is one that the service has', async t => {
  const { useCases } = createWorld()
  await addClient({ useCases }, 'app', { grantTypes: [] })
  for (const type of ['', 'implicit', 'PASSWORD', 'constructor', 'password ']) {
    const grantTypes = ['password', type]
    await t.rejects(useCases.changeClient('app', { grantTypes }), { code: 'invalid_input' }, type)
    await t.rejects(addClient({ useCases }, 'other', { grantTypes }), { code: 'invalid_input' }, type)
  }
  t.strictSame((await useCases.findClient('app')).grantTypes, [])
})

t.test('client_credentials is for confidential clients whose id is not of digits alone', async t => {
  const { useCases } = createWorld()
  const grantTypes = ['password', 'client_credentials']
  for (const id of ['1a', '-1', '1.5', '0x1'])
    t.match(await addClient({ useCases }, id, { grantTypes }), { grantTypes })
  await addClient({ useCases }, '42')
  await addClient({ useCases }, 'spa', { secret: undefined })
  for (const id of ['42', 'spa']) {
    const before = await useCases.findClient(id)
    await t.rejects(useCases.changeClient(id, { grantTypes }), { code: 'invalid_input' }, id)
    t.strictSame(await useCases.findClient(id), before)
  }
  await t.rejects(addClient({ useCases }, '007', { grantTypes }), { code: 'invalid_input' })
  await t.rejects(addClient({ useCases }, 'spa-2', { grantTypes, secret: undefined }), { code: 'invalid_input' })
  t.match(await useCases.changeClient('42', { grantTypes: ['password'] }), { grantTypes: ['password'] })
  t.strictSame((await useCases.listClients()).map(({ id }) => id).includes('007'), false)
})

t.test('scopes follow the grammar of RFC 6749, and a name has 1 to 255 characters', async t => {
  const { useCases } = createWorld()
  await addClient({ useCases }, 'app', { allowedScopes: ['heroes:write', '!#[]~'], name: '🦸'.repeat(255) })
  for (const allowedScopes of [[''], ['a b'], ['a', 'é'], ['"'], ['\\']]) {
    await t.rejects(useCases.changeClient('app', { allowedScopes }), { code: 'invalid_input' })
  }
  for (const name of ['', '🦸'.repeat(256), '\0', '\ud800']) {
    await t.rejects(useCases.changeClient('app', { name }), { code: 'invalid_input' })
  }
})

t.test('a generated secret has 32 random characters, and a given one has 24 or more', async t => {
  const { useCases } = createWorld()
  const add = (id: string, secret: string | undefined | { readonly generate: true }) =>
    useCases.addClient({ id, secret, allowedScopes: [], name: undefined, requirePkce: false })
  const made = await add('made', { generate: true })
  t.match(made.secret, /^[A-Za-z0-9]{32}$/)
  t.equal((await useCases.authenticateClient([{ id: 'made', secret: made.secret }])).id, 'made')
  t.equal((await add('public', undefined)).secret, undefined)
  t.equal((await add('given', 'x'.repeat(24))).secret, 'x'.repeat(24))
  for (const secret of [
    '',
    'x'.repeat(23),
    'x'.repeat(1025),
    `${'x'.repeat(30)}\0`,
    `${'x'.repeat(30)}é`,
    `${'x'.repeat(30)}\t`
  ]) {
    await t.rejects(add('bad', secret), { code: 'invalid_input' })
    await t.rejects(useCases.rotateSecret('made', secret, 0), { code: 'invalid_input' })
  }
})

t.test('an old secret stays valid for the given seconds, and with 0 it ends at once', async t => {
  const { useCases, clock } = createWorld()
  await addClient({ useCases }, 'app')
  const works = (secret: string): Promise<boolean> =>
    useCases.authenticateClient([{ id: 'app', secret }]).then(
      () => true,
      () => false
    )
  const second = await useCases.rotateSecret('app', undefined, 1)
  t.strictSame([await works(SECRET), await works(second)], [true, true])
  clock.advance(0.999)
  t.strictSame([await works(SECRET), await works(second)], [true, true])
  clock.advance(0.001)
  t.strictSame([await works(SECRET), await works(second)], [false, true])
  const third = await useCases.rotateSecret('app', undefined, 0)
  t.strictSame([await works(second), await works(third)], [false, true])
  t.equal((await useCases.findClient('app')).previousSecret, undefined)
})

t.test('how long an old secret stays valid is an integer from 0 to 999999999, or else nothing changes', async t => {
  const { useCases } = createWorld()
  const app = await addClient({ useCases }, 'app')
  for (const seconds of [Number.MAX_SAFE_INTEGER, 1e9, Number.POSITIVE_INFINITY, Number.NaN, 0.5, -1]) {
    const rotated = useCases.rotateSecret('app', undefined, seconds)
    await t.rejects(
      rotated,
      { code: 'invalid_input', message: 'keepOldSeconds must be an integer from 0 to 999999999' },
      `${seconds}`
    )
  }
  t.strictSame(await useCases.findClient('app'), app)
  await useCases.rotateSecret('app', undefined, 999_999_999)
  t.equal((await useCases.authenticateClient([{ id: 'app', secret: SECRET }])).id, 'app')
})

t.test('a change keeps the values that it does not name and removes those that are undefined in it', async t => {
  const { useCases } = createWorld()
  const before = await addClient({ useCases }, 'app', { name: 'App' })
  t.strictSame(await useCases.changeClient('app', { requirePkce: true }), { ...before, requirePkce: true })
  const bare = await useCases.changeClient('app', { redirectUris: [], name: undefined })
  t.strictSame([bare.redirectUris, bare.name, bare.requirePkce], [[], undefined, true])
  t.equal((await useCases.authenticateClient([{ id: 'app', secret: SECRET }])).id, 'app')
})

t.test('clients are listed by id, unknown ones are not_found, and a public one has no secret to rotate', async t => {
  const { useCases } = createWorld()
  for (const id of ['b', 'a', 'B']) await addClient({ useCases }, id, { secret: undefined })
  t.strictSame(
    (await useCases.listClients()).map(({ id }) => id),
    ['B', 'a', 'b']
  )
  await useCases.removeClient('b')
  const attempts: (() => Promise<unknown>)[] = [
    () => useCases.findClient('b'),
    () => useCases.changeClient('b', { name: 'x' }),
    () => useCases.changeClient('b', { grantTypes: ['client_credentials'] }),
    () => useCases.removeClient('b'),
    () => useCases.rotateSecret('b', undefined, 0),
    () => useCases.rotateSecret('a', undefined, 0)
  ]
  for (const attempt of attempts) await t.rejects(attempt(), { code: 'not_found' })
})

t.test(
  'a client that is registered by its id alone is public, must use PKCE, and has no scopes and no redirect URIs',
  async t => {
    const { useCases } = createWorld()
    const { client, secret } = await useCases.addClient({ id: 'app' })
    t.equal(secret, undefined)
    t.match(client, {
      secretDigest: undefined,
      name: undefined,
      requirePkce: true,
      allowedScopes: [],
      redirectUris: []
    })
    const { client: confidential } = await useCases.addClient({ id: 'other', secret: { generate: true } })
    t.equal(confidential.requirePkce, false)
  }
)
