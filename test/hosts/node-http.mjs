// Heroes in a plain node:http server: the core over memory and argon2, and nothing else.
import { createServer } from 'node:http'
import { createCrypto, systemClock } from 'heroes/adapters/crypto'
import { createMemoryStores } from 'heroes/adapters/memory'
import { createUseCases, DomainError, defaultPolicy } from 'heroes/core'

const heroes = createUseCases({ ...createMemoryStores(), ...createCrypto(), clock: systemClock }, defaultPolicy)
const { client } = await heroes.addClient({ id: 'host', allowedScopes: [] })

const MOST_BYTES = 10_000

/** The body's object. Its values are whatever was sent. */
const bodyOf = async request => {
  const chunks = []
  let bytes = 0
  // The rest of what is too large is discarded, so that the client reads its answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length
    if (bytes > MOST_BYTES) throw new DomainError('invalid_input', 'the body is too large')
    chunks.push(chunk)
  }
  try {
    return Object(JSON.parse(Buffer.concat(chunks)))
  } catch {
    throw new DomainError('invalid_input', 'the body is not valid JSON')
  }
}

/** One field of it, which the use cases take as a text. */
const textOf = (body, field) => {
  if (typeof body[field] === 'string') return body[field]
  throw new DomainError('invalid_input', `${field} must be a text`)
}
const credentialsOf = body => ({ username: textOf(body, 'username'), password: textOf(body, 'password') })

// Field by field: what a body could set of its own (an address, a grant type) evades the limit on wrong passwords.
const routes = {
  'POST /register': async request => ({ id: (await heroes.registerUser(credentialsOf(await bodyOf(request)))).id }),
  'POST /token': async request => {
    const credentials = credentialsOf(await bodyOf(request))
    const address = request.socket.remoteAddress
    return heroes.issueToken(client, { ...credentials, grantType: 'password', address })
  },
  'GET /heroes': async () => (await heroes.heroPage({ limit: 1000 })).heroes,
  'POST /heroes': async request => heroes.createHero({ name: textOf(await bodyOf(request), 'name') })
}
const needsToken = route => route.endsWith(' /heroes')
const statuses = { not_found: 404, conflict: 409, token_required: 401, invalid_token: 401, too_many_attempts: 429 }

const server = createServer(async (request, response) => {
  const answer = (status, value) => {
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(value))
  }
  try {
    const route = `${request.method} ${request.url}`
    if (!Object.hasOwn(routes, route)) throw new DomainError('not_found', 'there is nothing at this path')
    if (needsToken(route)) await heroes.verifyBearer(/^Bearer +(\S+)$/i.exec(request.headers.authorization)?.[1])
    answer(200, await routes[route](request))
  } catch (error) {
    if (error instanceof DomainError) answer(statuses[error.code] ?? 400, { error: error.message })
    else answer(500, { error: 'the service failed' })
  }
})
server.listen(0, '127.0.0.1', () => console.log(`listening on ${server.address().port}`))
