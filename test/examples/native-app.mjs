// A native application signs its user in: a public client with PKCE, whose redirect leads to a free port of this machine
// (RFC 8252). `node native-app.mjs ISSUER CLIENT_ID` needs a client that was registered by
// npx heroes client add CLIENT_ID --public --redirect-uri http://127.0.0.1/callback
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'

const [issuer, clientId] = process.argv.slice(2)

const { origin, pathname } = new URL(issuer)
const wellKnown = `${origin}/.well-known/oauth-authorization-server${pathname.replace(/\/$/, '')}`
const metadata = await (await fetch(wellKnown)).json()
if (metadata.issuer !== issuer) throw new Error('the metadata are those of another service')

const server = createServer().listen(0, '127.0.0.1')
await once(server, 'listening')
const redirectUri = `http://127.0.0.1:${server.address().port}/callback`
const state = randomBytes(32).toString('base64url')
const verifier = randomBytes(32).toString('base64url')

const login = new URL(metadata.authorization_endpoint)
login.search = new URLSearchParams({
  client_id: clientId,
  redirect_uri: redirectUri,
  response_type: 'code',
  state,
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256'
})
console.log(`Sign in at ${login}`)

/** The parameters of a request that is the answer of the login page. Other programs can send requests here as well. */
const answerIn = request => {
  if (!URL.canParse(request.url, redirectUri)) return undefined
  const { pathname, searchParams } = new URL(request.url, redirectUri)
  const isAnswer = pathname === '/callback' && searchParams.get('state') === state && searchParams.get('iss') === issuer
  return isAnswer ? searchParams : undefined
}
const answer = await new Promise(resolve => {
  server.on('request', (request, response) => {
    const found = answerIn(request)
    response.writeHead(found ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
    response.end(found ? 'You can close this window.' : 'There is nothing here.', () => found && resolve(found))
  })
})
server.close()
if (answer.has('error')) throw new Error(`nobody has signed in: ${answer.get('error')}`)

const exchange = {
  client_id: clientId,
  grant_type: 'authorization_code',
  code: answer.get('code'),
  redirect_uri: redirectUri,
  code_verifier: verifier
}
const redeemed = await fetch(metadata.token_endpoint, { method: 'POST', body: new URLSearchParams(exchange) })
const token = await redeemed.json()
if (!redeemed.ok) throw new Error(`there is no token: ${token.error_description}`)

const heroes = await fetch(`${issuer}/heroes`, { headers: { authorization: `Bearer ${token.access_token}` } })
console.log(`Heroes: ${await heroes.text()}`)
