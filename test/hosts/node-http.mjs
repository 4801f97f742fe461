// Heroes in a plain node:http server: the core over memory and argon2, and nothing else.
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { createCrypto, systemClock } from 'heroes/adapters/crypto'
import { createMemoryStores } from 'heroes/adapters/memory'
import { createUseCases, defaultPolicy } from 'heroes/core'

const heroes = createUseCases({ ...createMemoryStores(), ...createCrypto(), clock: systemClock }, defaultPolicy)
const { client } = await heroes.addClient({ id: 'host', allowedScopes: [] })

const routes = {
  'POST /register': async (_, body) => ({ id: (await heroes.registerUser(await body)).id }),
  'POST /token': async ({ socket }, body) =>
    heroes.issueToken(client, { grantType: 'password', address: socket.remoteAddress, ...(await body) }),
  'GET /heroes': async () => (await heroes.heroPage({ limit: 1000 })).heroes,
  'POST /heroes': async (_, body) => heroes.createHero((await body).name)
}
const statuses = { not_found: 404, conflict: 409, token_required: 401, invalid_token: 401 }

const server = createServer(async (request, response) => {
  const answer = (status, value) => response.writeHead(status).end(JSON.stringify(value))
  try {
    const route = `${request.method} ${request.url}`
    if (request.url === '/heroes') await heroes.verifyBearer(request.headers.authorization?.slice('Bearer '.length))
    const body = request.method === 'POST' ? json(request) : undefined
    answer(200, await routes[route](request, body))
  } catch ({ code, message }) {
    answer(statuses[code] ?? 400, { error: message })
  }
})
server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`))
