import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import ts from 'typescript'
import { startService } from '../support/listening-service.js'
import { SNAPSHOT } from '../support/openapi.js'
import { makeTypes } from '../support/openapi-snapshots.js'
import { basic } from '../support/service.js'
import { FORM_TYPE } from '../support/wire.js'
import { addClient } from '../support/world.js'

/** A client in TypeScript that is made of nothing but the document. Resolves to what it was told. */
const CLIENT = `
import createClient from 'openapi-fetch'
import type { paths } from './types.js'

export const talk = async (baseUrl: string, asApp: Record<string, string>) => {
  const { GET, POST, DELETE, PUT } = createClient<paths>({ baseUrl })
  const user = { username: 'grace', password: 'correct horse' }
  const registered = await POST('/register', { body: user })
  const issued = await POST('/auth/token', { body: { grant_type: 'password', ...user }, headers: asApp })
  const headers = { authorization: 'Bearer ' + issued.data?.access_token }
  const refused = await POST('/heroes', { body: { name: 'Starling' } })
  for (const name of ['Starling', 'Night Starling']) await POST('/heroes', { body: { name }, headers })
  const taken = await POST('/heroes', { body: { name: 'Starling' }, headers })
  const first = await GET('/heroes', { params: { query: { limit: 1 } }, headers })
  const one = { params: { path: { id: 1 } }, headers }
  const renamed = await PUT('/heroes/{id}', { ...one, body: { name: 'Nightingale' } })
  const removed = await DELETE('/heroes/{id}', one)
  const gone = await GET('/heroes/{id}', one)
  const token = String(issued.data?.refresh_token)
  const asked = await POST('/auth/introspect', { body: { token }, headers: asApp })
  const revoked = await POST('/auth/revoke', { body: { token }, headers: asApp })
  const metadata = await GET('/.well-known/oauth-authorization-server')
  // @ts-expect-error: a hero has a name.
  await POST('/heroes', { body: {} })
  // @ts-expect-error: there is no such path.
  await GET('/villains')
  return {
    username: registered.data?.username,
    tokenType: issued.data?.token_type,
    refusals: [refused.error?.error, taken.error?.error],
    heroes: [...(first.data ?? []), renamed.data],
    statuses: [removed.response.status, gone.response.status],
    introspected: [asked.data?.active, asked.data?.username],
    revoked: revoked.data,
    issuer: metadata.data?.issuer
  }
}
`

t.test('a client with types that are made of the document compiles, and talks to the service', async t => {
  const folder = t.testdir({ 'types.ts': await makeTypes(), 'client.ts': CLIENT })
  const client = join(folder, 'client.ts')
  const program = ts.createProgram([client], {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    skipLibCheck: true,
    types: []
  })
  t.strictSame(
    ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ')),
    []
  )

  const service = await startService(t)
  await addClient(service, 'app')
  const { talk } = await import(pathToFileURL(client).href)
  t.strictSame(await talk(service.url, { ...basic('app'), ...FORM_TYPE }), {
    username: 'grace',
    tokenType: 'bearer',
    refusals: [
      'an access token is required: get one at the token endpoint, and send it in the Authorization header, behind Bearer',
      'a hero with this name exists: choose another name'
    ],
    heroes: [
      { id: 1, name: 'Starling' },
      { id: 1, name: 'Nightingale' }
    ],
    statuses: [204, 404],
    introspected: [true, 'grace'],
    revoked: {},
    issuer: service.url
  })
})

t.test('the document is clean by all rules that Redocly recommends', async t => {
  const cli = createRequire(import.meta.url)
    .resolve('@redocly/cli/package.json')
    .replace('package.json', 'bin/cli.js')
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const { stdout } = spawnSync(process.execPath, [cli, 'lint', SNAPSHOT, '--format=json'], { env, encoding: 'utf8' })
  t.strictSame(JSON.parse(stdout).problems, [])
})
