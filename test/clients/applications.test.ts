import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { type Application, finishLogin, loginAddress } from '../examples/single-page.js'
import { signIn } from '../support/client-libraries.js'
import { startService } from '../support/listening-service.js'
import { type Process, startProcess } from '../support/process.js'
import { bearer } from '../support/service.js'
import { addClient } from '../support/world.js'

/** Starts the service and the native application: what it does, and where its user signs in. */
const startNative = async (t: Test): Promise<{ readonly native: Process; readonly login: URL }> => {
  const service = await startService(t)
  const redirectUris = ['https://app.example/callback', 'http://127.0.0.1/callback']
  await addClient(service, 'native', { secret: undefined, redirectUris, requirePkce: true })
  await service.useCases.createHero({ name: 'Starling' })
  const program = fileURLToPath(new URL('../examples/native-app.mjs', import.meta.url))
  const native = startProcess(t, [service.url, 'native'], {}, program)
  const [, login = ''] = await native.until(/Sign in at (\S+)/)
  return { native, login: new URL(login) }
}

t.test('a native application gets a token over a free port of its machine, and heeds no other request', async t => {
  const { native, login } = await startNative(t)
  const back = await signIn(login)
  t.equal(`${back.origin}${back.pathname}`, login.searchParams.get('redirect_uri'))
  for (const [name, value] of [
    ['state', 'x'],
    ['iss', 'https://evil.example']
  ] as const) {
    const forged = new URL(back)
    forged.searchParams.set(name, value)
    t.equal((await fetch(forged)).status, 404, name)
  }
  t.equal((await fetch(new URL('/favicon.ico', back))).status, 404)
  const page = await fetch(back)
  t.strictSame([page.status, await page.text()], [200, 'You can close this window.'])
  t.equal(await native.ended, 0)
  t.match(native.output(), /\nHeroes: \[\{"id":1,"name":"Starling"\}\]\n$/)
})

t.test('a native application ends when nobody signs in', async t => {
  const { native, login } = await startNative(t)
  login.searchParams.set('scope', 'none')
  t.equal((await fetch(await signIn(login))).status, 200)
  t.equal(await native.ended, 1)
  t.match(native.output(), 'nobody has signed in: invalid_scope')
})

/** A service and a single-page application that is its client, with what the application has stored. */
const startSinglePage = async (t: Test) => {
  const service = await startService(t)
  const stored = new Map<string, string>()
  const application: Application = {
    issuer: service.url,
    clientId: 'spa',
    redirectUri: 'https://app.example/',
    scope: 'a',
    storage: {
      getItem: key => stored.get(key) ?? null,
      setItem: (key, value) => stored.set(key, value),
      removeItem: key => stored.delete(key)
    }
  }
  const redirectUris = [application.redirectUri, 'http://localhost:5173/']
  await addClient(service, 'spa', { secret: undefined, redirectUris, requirePkce: true })
  return { ...service, application, stored }
}

t.test('a single-page application gets a token for the person who signed in, at either of its addresses', async t => {
  const { application, ask, stored } = await startSinglePage(t)
  for (const redirectUri of [application.redirectUri, 'http://localhost:5173/']) {
    const page = { ...application, redirectUri }
    const back = await signIn(await loginAddress(page))
    t.ok(back.href.startsWith(redirectUri))
    const token = await finishLogin(page, back.href)
    t.equal((await ask('/heroes', { headers: bearer(token) })).statusCode, 200)
    t.strictSame([...stored], [], 'neither the state nor the verifier is kept')
    await t.rejects(finishLogin(page, back.href), { message: /no answer to a login/ }, 'the answer is used once')
  }
})

t.test('a single-page application takes no answer that is not for it', async t => {
  const { application } = await startSinglePage(t)
  const begin = async () => signIn(await loginAddress(application))
  for (const [name, value] of [
    ['state', 'x'],
    ['iss', 'https://evil.example']
  ] as const) {
    const back = await begin()
    back.searchParams.set(name, value)
    await t.rejects(finishLogin(application, back.href), { message: /no answer to a login/ }, name)
  }
  const [foreign, own] = [await begin(), await begin()]
  const mixed = new URL(own)
  mixed.searchParams.set('code', foreign.searchParams.get('code') ?? '')
  await t.rejects(finishLogin(application, mixed.href), { message: /there is no token: / }, 'the code of another login')
  const refused = await signIn(await loginAddress({ ...application, scope: 'none' }))
  await t.rejects(finishLogin(application, refused.href), { message: 'nobody has signed in: invalid_scope' })
})
