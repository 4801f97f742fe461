import t from 'tap'
import { couldBeIssued } from '../../core/index.js'
import { onEveryStore } from '../support/stores.js'
import { ADA, addClient, blankRequest, createWorld } from '../support/world.js'

t.test('the access token is judged first, then the hero, and then whether its name is taken', t =>
  onEveryStore(t, async (t, stores) => {
    const { useCases, clock, policy } = createWorld({ stores })
    const client = await addClient({ useCases }, 'app')
    await useCases.registerUser(ADA)
    const { accessToken } = await useCases.issueToken(client, { ...blankRequest, grantType: 'password', ...ADA })
    t.ok(couldBeIssued(accessToken))
    const create = (name: string, token = accessToken) => useCases.createHeroIfAuthorized({ name }, token)
    const hero = await create('Starling')
    t.strictSame(await useCases.findHero(hero.id), { ...hero, name: 'Starling' })
    await t.rejects(create('Starling'), { code: 'conflict' })
    await t.rejects(create(''), { code: 'invalid_input' })
    for (const token of ['x'.repeat(32), 'malformed']) {
      for (const name of ['Starling', 'Heron', '', '\0']) {
        await t.rejects(create(name, token), { code: 'invalid_token' })
      }
    }
    clock.advance(policy.accessTokenSeconds - 1)
    await create('Heron')
    clock.advance(1)
    for (const name of ['Starling', 'Kite', '']) await t.rejects(create(name), { code: 'invalid_token' })
    t.equal((await useCases.heroPage({ limit: 10 })).heroes.length, 2)
  })
)
