import { pbkdf2Sync } from 'node:crypto'
import t from 'tap'
import { onEveryStore } from '../support/stores.js'
import { addClient, blankRequest, createWorld } from '../support/world.js'

t.test('a login that makes a newer hash of its password does not undo a new password that comes meanwhile', t =>
  onEveryStore(t, async (t, stores) => {
    const { useCases, ports } = createWorld({ stores })
    const client = await addClient({ useCases }, 'app')
    const salt = 'c2FsdA=='
    const hashedPassword = pbkdf2Sync('old', salt, 1000, 32, 'sha256').toString('base64')
    await useCases.importUsers([{ username: 'grace', hashedPassword, salt }])
    const logIn = (password: string) =>
      useCases.issueToken(client, { ...blankRequest, grantType: 'password', username: 'grace', password })
    const { verify } = ports.passwords
    ports.passwords.verify = async (...given) => {
      const verdict = await verify(...given)
      ports.passwords.verify = verify
      await useCases.setPassword({ username: 'grace', password: 'new' })
      return verdict
    }
    await t.rejects(logIn('old'), { code: 'invalid_grant' })
    await t.rejects(logIn('old'), { code: 'invalid_grant' }, 'the old password is not stored again')
    await t.resolves(logIn('new'))
  })
)
