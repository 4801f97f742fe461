import t from 'tap'
import { createUseCases, defaultPolicy } from '../../core/index.js'
import { ADA, addClient, blankRequest, createWorld, SECRET } from '../support/world.js'

t.test('a value of the policy that is undefined is left out, and the default holds', async t => {
  const { ports, clock } = createWorld()
  const changes = Object.fromEntries(Object.keys(defaultPolicy).map(key => [key, undefined]))
  const useCases = createUseCases(ports, { ...changes, loginAttempts: 2, refreshGraceSeconds: undefined })
  await addClient({ useCases }, 'app')
  await useCases.registerUser(ADA)
  const log = (password: string) =>
    useCases.issueToken(useCases.authenticateClient([{ id: 'app', secret: SECRET }]), {
      ...blankRequest,
      grantType: 'password',
      username: 'ada',
      password
    })
  t.equal((await log(ADA.password)).expiresInSeconds, defaultPolicy.accessTokenSeconds)
  await t.rejects(log('a guess'), { code: 'invalid_grant' })
  await t.rejects(log('a guess'), { code: 'invalid_grant' })
  clock.advance(defaultPolicy.loginWindowSeconds - 1)
  await t.rejects(log('a guess'), { code: 'too_many_attempts' })
})

t.test('a value of the policy that is no finite number is refused, and its key is named', async t => {
  const { ports } = createWorld()
  for (const key of Object.keys(defaultPolicy)) {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, '60', null]) {
      t.throws(
        () => createUseCases(ports, { [key]: value }),
        { name: 'RangeError', message: `${key} is ${value}: it must be a number` },
        `${value}`
      )
    }
    t.doesNotThrow(() => createUseCases(ports, { [key]: 0 }))
  }
})

t.test('what is no text is refused as invalid_input, whichever use case gets it', async t => {
  const { useCases } = createWorld()
  const client = await addClient({ useCases }, 'app')
  await useCases.registerUser(ADA)
  // What a host in plain JavaScript may hand in: a regular expression takes a list of one text for the text.
  for (const value of ['5', 'true', '{}', '["ada"]', 'null']) {
    const odd: string = JSON.parse(value)
    const address = '192.0.2.1'
    const login = { ...ADA, address }
    const calls: Readonly<Record<string, () => unknown>> = {
      createHero: () => useCases.createHero({ name: odd }),
      replaceHero: () => useCases.replaceHero(1, { name: odd }),
      heroPage: () => useCases.heroPage({ nameContains: odd, limit: 1 }),
      allHeroes: () => useCases.allHeroes({ nameContains: odd })[Symbol.asyncIterator]().next(),
      'registerUser, username': () => useCases.registerUser({ ...ADA, username: odd }),
      'registerUser, password': () => useCases.registerUser({ ...ADA, password: odd }),
      setPassword: () => useCases.setPassword({ ...ADA, password: odd }),
      revokeUser: () => useCases.revokeUser(odd),
      removeUser: () => useCases.removeUser(odd),
      'addClient, id': () => useCases.addClient({ id: odd }),
      'addClient, secret': () => useCases.addClient({ id: 'other', secret: odd }),
      'rotateSecret, secret': () => useCases.rotateSecret('app', odd),
      'addClient, redirectUris': () => useCases.addClient({ id: 'other', redirectUris: [odd] }),
      'addClient, allowedScopes': () => useCases.addClient({ id: 'other', allowedScopes: [odd] }),
      'changeClient, name': () => useCases.changeClient('app', { name: odd }),
      findClient: () => useCases.findClient(odd),
      rotateSecret: () => useCases.rotateSecret(odd),
      removeClient: () => useCases.removeClient(odd),
      'setScopeText, name': () => useCases.setScopeText({ name: odd, text: 'Read' }),
      'setScopeText, text': () => useCases.setScopeText({ name: 'read', text: odd }),
      removeScopeText: () => useCases.removeScopeText(odd),
      authenticateClient: () => useCases.authenticateClient([{ id: odd }]),
      resolveRedirect: () => useCases.resolveRedirect({ clientId: odd }),
      judgeRequest: async () => useCases.judgeRequest(client, { responseType: 'code', state: odd }),
      'issueToken, username': () => useCases.issueToken(client, { ...login, grantType: 'password', username: odd }),
      'issueToken, scope': () => useCases.issueToken(client, { ...login, grantType: 'password', scope: odd }),
      'issueToken, before a client that is refused': () =>
        useCases.issueToken(useCases.authenticateClient([{ id: 'nobody' }]), { ...login, grantType: odd }),
      verifyBearer: () => useCases.verifyBearer(odd),
      whoAmI: () => useCases.whoAmI(odd),
      revokeToken: () => useCases.revokeToken(client, odd),
      introspectToken: () => useCases.introspectToken(client, odd),
      'manageAccount, username': () => useCases.manageAccount({ ...login, username: odd }),
      'manageAccount, newPassword': () => useCases.manageAccount(login, { newPassword: odd })
    }
    for (const [name, call] of Object.entries(calls)) {
      await t.rejects(
        async () => call(),
        { name: 'DomainError', code: 'invalid_input', message: / must be a text$/ },
        `${name}: ${value}`
      )
    }
    const refused = { refused: 'name must be a text' }
    t.strictSame(await useCases.importHeroes([{ name: odd }, { name: value }]), [refused, 'imported'])
  }
  t.match(await useCases.importUsers([{ username: 'bob', hashedPassword: Object([5]), salt: 'salt' }]), [
    { refused: 'hashedpassword must be a text' }
  ])
})

t.test('a password that an operator sets keeps to the least length as well', async t => {
  const { useCases } = createWorld({ policy: { passwordMinLength: 12 } })
  await useCases.registerUser({ username: 'ada', password: 'correct horse' })
  await t.rejects(useCases.setPassword({ username: 'ada', password: 'too short 1' }), { code: 'invalid_input' })
})
