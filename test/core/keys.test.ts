import t from 'tap'
import { createUseCases, type Ports } from '../../core/index.js'
import { ADA, addClient, blankRequest, createWorld, SECRET, type World } from '../support/world.js'

/** Texts that a client may send as a token or a code, although none of them can be one. */
const NO_SECRETS = [
  '',
  'x',
  'x'.repeat(31),
  'x'.repeat(33),
  `${'x'.repeat(31)}-`,
  `${'x'.repeat(32)}\n`,
  `${'x'.repeat(31)}é`,
  `${'x'.repeat(31)}\0`,
  'x'.repeat(9_900_000)
]

interface Watched extends World {
  /** The calls to the stores, the hasher and the digests since the last use of this method. */
  takeCalls(): readonly string[]
}

/** A world that records which methods of the ports its use cases call. */
const createWatched = (): Watched => {
  const world = createWorld()
  const calls: string[] = []
  const watch = <Port extends object>(name: string, port: Port): Port =>
    new Proxy(port, {
      get(target, key, receiver) {
        const method: unknown = Reflect.get(target, key, receiver)
        if (typeof method !== 'function') return method
        return (...given: unknown[]) => {
          calls.push(`${name}.${String(key)}`)
          return Reflect.apply(method, target, given)
        }
      }
    })
  const { users, clients, codes, tokens, attempts, passwords, secrets } = world.ports
  const ports: Ports = {
    ...world.ports,
    users: watch('users', users),
    clients: watch('clients', clients),
    codes: watch('codes', codes),
    tokens: watch('tokens', tokens),
    attempts: watch('attempts', attempts),
    passwords: watch('passwords', passwords),
    secrets: watch('secrets', secrets)
  }
  return { ...world, useCases: createUseCases(ports, world.policy), takeCalls: () => calls.splice(0) }
}

t.test('a text that cannot be a token or a code is refused as unknown, without a digest or a look-up', async t => {
  const { useCases, takeCalls } = createWatched()
  const client = await addClient({ useCases }, 'app')
  takeCalls()
  for (const text of NO_SECRETS) {
    await t.rejects(useCases.verifyBearer(text, undefined), { code: 'invalid_token' })
    const refresh = { ...blankRequest, grantType: 'refresh_token', refreshToken: text }
    await t.rejects(useCases.issueToken(client, refresh), { code: 'invalid_grant' })
    await t.rejects(useCases.issueToken(client, { ...refresh, scope: '"' }), { code: 'invalid_scope' }, 'grammar first')
    const exchange = { ...blankRequest, grantType: 'authorization_code', code: text }
    await t.rejects(useCases.issueToken(client, exchange), { code: 'invalid_grant' })
    t.equal(await useCases.introspectToken(client, text), undefined)
    await t.resolves(useCases.revokeToken(client, text))
  }
  t.strictSame(takeCalls(), [])
  const unknown = 'x'.repeat(32)
  await t.rejects(useCases.verifyBearer(unknown, undefined), { code: 'invalid_token' })
  t.strictSame(takeCalls(), ['secrets.digest', 'tokens.findByAccess'])
})

t.test('a text that cannot be the id of a client is unknown, without a look-up', async t => {
  const { useCases, takeCalls } = createWatched()
  for (const id of ['', 'x'.repeat(256), 'a b', 'é', 'app\n', '\0', '\ud800', 'x'.repeat(9_900_000)]) {
    const request = {
      clientId: id,
      redirectUri: undefined,
      responseType: 'code',
      responseMode: undefined,
      state: 'x',
      scope: undefined,
      codeChallenge: undefined,
      codeChallengeMethod: undefined
    }
    await t.rejects(useCases.resolveRedirect(request), { code: 'invalid_request' })
    await t.rejects(useCases.authenticateClient([{ id, secret: SECRET }]), { code: 'invalid_client' })
    await t.rejects(useCases.findClient(id), { code: 'not_found' })
    await t.rejects(useCases.changeClient(id, { name: 'x' }), { code: 'not_found' })
    await t.rejects(useCases.rotateSecret(id, SECRET, 0), { code: 'not_found' })
    await t.rejects(useCases.removeClient(id), { code: 'not_found' })
  }
  t.strictSame(
    takeCalls().filter(call => call !== 'secrets.digest'),
    []
  )
})

t.test('a text that cannot be a secret is a wrong secret, without a digest', async t => {
  const { useCases, takeCalls } = createWatched()
  await addClient({ useCases }, 'app')
  takeCalls()
  for (const secret of ['x'.repeat(2049), 'x'.repeat(9_900_000)]) {
    await t.rejects(useCases.authenticateClient([{ id: 'app', secret }]), { code: 'invalid_client' })
  }
  t.notOk(takeCalls().includes('secrets.digest'))
  for (const secret of ['x'.repeat(24), '~'.repeat(1024)]) {
    await useCases.rotateSecret('app', secret, 0)
    t.match(await useCases.authenticateClient([{ id: 'app', secret }]), { id: 'app' })
  }
})

t.test('a text that cannot be a username or a password is wrong, without a hash, a look-up or a count', async t => {
  const { useCases, takeCalls } = createWatched()
  const client = await addClient({ useCases }, 'app')
  await useCases.registerUser(ADA)
  takeCalls()
  for (const wrong of ['', 'x'.repeat(1025), 'a\0', '\ud800', 'x'.repeat(9_900_000)]) {
    for (const sent of [
      { ...ADA, username: wrong },
      { ...ADA, password: wrong }
    ]) {
      const attempt = { ...blankRequest, grantType: 'password', ...sent }
      await t.rejects(useCases.issueToken(client, attempt), { code: 'invalid_grant' })
    }
    await t.rejects(useCases.setPassword({ username: wrong, password: 'right' }), { code: 'not_found' })
    await t.rejects(useCases.revokeUser(wrong), { code: 'not_found' })
    await t.rejects(useCases.removeUser(wrong), { code: 'not_found' })
  }
  t.strictSame(takeCalls(), [])
  for (const missing of ['x', '🦸'.repeat(255)]) {
    await t.rejects(useCases.setPassword({ username: missing, password: 'right' }), { code: 'not_found' })
    await t.rejects(useCases.revokeUser(missing), { code: 'not_found' })
    await t.rejects(useCases.removeUser(missing), { code: 'not_found' })
  }
  t.strictSame(
    takeCalls(),
    Array.from({ length: 6 }, () => 'users.findByUsername')
  )
})

t.test('a username that others stored in another form than NFC is revoked and removed as it stands', async t => {
  const { useCases, ports } = createWorld()
  const username = 'vice\u0301'
  await ports.users.insert(username, await ports.passwords.hash('x'))
  const unusable = useCases.setPassword({ username, password: 'another' })
  await t.rejects(unusable, { code: 'not_found' }, 'nobody can log in by that name')
  await useCases.revokeUser(username)
  t.match(await ports.users.findByUsername(username), { generation: 1 })
  await useCases.removeUser(username)
  t.equal(await ports.users.findByUsername(username), undefined)
})
