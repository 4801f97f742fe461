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
    useCases.requestToken([{ id: 'app', secret: SECRET }], {
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
