import t from 'tap'
import { registerFirstClient } from '../../../app/serve/first-client.js'
import { createWorld } from '../../support/world.js'

t.test('the first client is printed with its secret and with three command lines that try it', async t => {
  const { useCases } = createWorld()
  const text = await registerFirstClient(useCases, 4000, 'https://heroes.example', ['heroes.read', 'heroes', 'heroes'])
  const secret = /client_secret {2}([A-Za-z0-9]{32})\n/.exec(String(text))?.[1]
  const client = await useCases.authenticateClient([{ id: 'local', secret }])
  t.match(client, {
    id: 'local',
    redirectUri: 'http://127.0.0.1:4000/callback',
    allowedScopes: ['heroes.read', 'heroes'],
    requirePkce: false
  })
  t.equal(String(text).match(/^ {2}(TOKEN=\$\()?curl .*https:\/\/heroes\.example\//gm)?.length, 3)
  t.match(text, `-u local:${secret} -d grant_type=password`)
  t.match(text, "--data-urlencode 'scope=heroes.read heroes'")
})

t.test(
  'the first client is registered only where there is no client, and without scopes its lines ask for none',
  async t => {
    const { useCases } = createWorld()
    t.notMatch(await registerFirstClient(useCases, 4000, 'http://localhost:4000', []), 'scope')
    t.equal(await registerFirstClient(useCases, 4000, 'http://localhost:4000', []), undefined)
    t.equal((await useCases.listClients()).length, 1)
  }
)
