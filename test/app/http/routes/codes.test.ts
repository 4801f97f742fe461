import t, { type Test } from 'tap'
import {
  basic,
  CALLBACK,
  challengeOf,
  createService,
  opens,
  parametersOf,
  REQUEST,
  type Service
} from '../../../support/service.js'
import { onEveryStore } from '../../../support/stores.js'
import { addClient, addTenant, type Stores, type Tenant, type WorldOptions } from '../../../support/world.js'

type Outcome = { readonly error: string } | { readonly access_token: string; readonly refresh_token?: string }

interface Setting extends Service, Tenant {
  /** A code from the login page. */
  code(parameters?: Readonly<Record<string, string>>): Promise<string>
  /** The body of the answer to an exchange of the code, by the tenant's client or another one. */
  exchange(code: string, fields?: Readonly<Record<string, string>>, client?: string): Promise<Outcome>
  /** True when the exchange gave an access token that is still accepted. */
  lives(outcome: Outcome): Promise<boolean>
}

const REDIRECT_URI = 'http://127.0.0.1/callback'

/** A service with the clients `id` and `id`-other. */
const createSetting = async (stores: Stores, policy: WorldOptions['policy'] = {}): Promise<Setting> => {
  const service = createService({ stores, policy: { loginAttempts: 0, ...policy } })
  const tenant = await addTenant(service, { redirectUris: [REDIRECT_URI] })
  const { id, user } = tenant
  await addClient(service, `${id}-other`, { redirectUris: [REDIRECT_URI] })
  return {
    ...service,
    ...tenant,
    async code(parameters) {
      const answer = await service.form('/auth/code', { ...REQUEST, client_id: id, ...user, ...parameters })
      return parametersOf(answer.headers.location, 'http://127.0.0.1').code ?? ''
    },
    async exchange(code, fields, client = id) {
      const form = { grant_type: 'authorization_code', code, ...fields }
      const answer = await service.form('/auth/token', form, basic(client))
      t.ok(answer.statusCode === 200 || answer.statusCode === 400)
      return answer.json()
    },
    lives: async outcome => !('error' in outcome) && opens(service, outcome.access_token)
  }
}

const INVALID = { error: 'invalid_grant' }
const VERIFIER = `${'aZ09-._~'.repeat(6)}x`
const PKCE = { code_challenge: challengeOf(VERIFIER), code_challenge_method: 'S256' }

t.test('an authorization code', t =>
  onEveryStore(t, async (t, stores) => {
    const test = (name: string, run: (t: Test) => Promise<void>): Promise<unknown> => t.test(name, run)

    await test('is 32 random characters, and gives the scopes that were granted and a refresh token', async t => {
      const { code, exchange } = await createSetting(stores)
      const secret = await code({ scope: 'x b a' })
      t.match(secret, /^[A-Za-z0-9]{32}$/)
      const answer = await exchange(secret)
      t.has(answer, { scope: 'b a' })
      t.match(answer, { refresh_token: /^[A-Za-z0-9]{32}$/ })
    })

    await test('gives a public client no refresh token', async t => {
      const service = await createSetting(stores)
      await addClient(service, `${service.id}-public`, { secret: undefined, redirectUris: [REDIRECT_URI] })
      const secret = await service.code({ client_id: `${service.id}-public` })
      const fields = { grant_type: 'authorization_code', code: secret, client_id: `${service.id}-public` }
      const answer = (await service.form('/auth/token', fields)).json()
      t.ok(await service.lives(answer))
      t.notOk('refresh_token' in answer)
    })

    await test('is used once: a second use is refused and ends every token that came of the first', async t => {
      const { code, exchange, lives, form, id } = await createSetting(stores)
      const secret = await code()
      const first = await exchange(secret)
      const refresh_token = 'error' in first ? undefined : first.refresh_token
      const second = (await form('/auth/token', { grant_type: 'refresh_token', refresh_token }, basic(id))).json()
      t.ok(await lives(second))
      t.has(await exchange(secret), INVALID)
      t.notOk(await lives(first))
      t.notOk(await lives(second))
      const again = { grant_type: 'refresh_token', refresh_token: second.refresh_token }
      t.has((await form('/auth/token', again, basic(id))).json(), INVALID)
    })

    await test('ends the tokens at a second use even long after its own expiry, and after housekeeping', async t => {
      const { code, exchange, lives, clock, useCases, form, id } = await createSetting(stores)
      const secret = await code()
      let last = await exchange(secret)
      for (let month = 0; month < 3; month += 1) {
        clock.advance(29 * 86_400)
        await useCases.sweep()
        const refresh_token = 'error' in last ? '' : (last.refresh_token ?? '')
        last = (await form('/auth/token', { grant_type: 'refresh_token', refresh_token }, basic(id))).json()
      }
      t.ok(await lives(last))
      t.has(await exchange(secret), INVALID)
      t.notOk(await lives(last))
    })

    await test('twenty at once: exactly one is answered, and the others end its token', async t => {
      const { code, exchange, lives } = await createSetting(stores)
      for (let round = 0; round < 5; round += 1) {
        const secret = await code()
        const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(secret)))
        t.equal(answers.filter(answer => 'access_token' in answer).length, 1)
        for (const answer of answers) t.notOk(await lives(answer))
      }
    })

    await test('expires after CODE_TTL', async t => {
      const { code, exchange, clock } = await createSetting(stores, { codeSeconds: 10 })
      const [early, late] = [await code(), await code()]
      clock.advance(9.999)
      t.has(await exchange(early), { token_type: 'bearer' })
      clock.advance(0.001)
      t.has(await exchange(late), INVALID)
    })

    await test('expires with its grant when that ends earlier', async t => {
      const { clock, code, exchange, lives } = await createSetting(stores, { grantSeconds: 10 })
      const [used, late] = [await code(), await code()]
      clock.advance(9.999)
      t.ok(await lives(await exchange(used)))
      clock.advance(0.001)
      t.has(await exchange(late), INVALID)
    })

    await test('stays as it is when another client tries it, whatever that client sends, before and after its use', async t => {
      const { code, exchange, lives, id } = await createSetting(stores)
      const secret = await code(PKCE)
      const other = (fields?: Readonly<Record<string, string>>) => exchange(secret, fields, `${id}-other`)
      t.has(await other(), INVALID)
      t.has(await other({ code_verifier: VERIFIER }), INVALID)
      t.has(await other({ redirect_uri: 'https://evil.example/' }), INVALID)
      const first = await exchange(secret, { code_verifier: VERIFIER })
      t.has(await other({ code_verifier: VERIFIER }), INVALID)
      t.ok(await lives(first))
    })

    await test('is bound to the redirect_uri of its request, and a wrong one burns it', async t => {
      const { code, exchange } = await createSetting(stores)
      const redirect_uri = 'http://127.0.0.1:4711/callback'
      t.has(await exchange(await code({ redirect_uri }), { redirect_uri }), { token_type: 'bearer' })
      const wrong = ['', 'http://127.0.0.1/callback', 'http://127.0.0.1:4712/callback', `${redirect_uri}/`]
      for (const other of wrong) {
        const secret = await code({ redirect_uri })
        t.has(await exchange(secret, { redirect_uri: other }), INVALID, other)
        t.has(await exchange(secret, { redirect_uri }), INVALID, 'burnt')
      }
    })

    await test('of a request without redirect_uri may be exchanged with one that was registered since', async t => {
      const { code, exchange, id, useCases } = await createSetting(stores)
      const secret = await code()
      const redirectUris = ['https://new.example/', REDIRECT_URI]
      await useCases.changeClient(id, { redirectUris })
      t.has(await exchange(secret, { redirect_uri: REDIRECT_URI }), { token_type: 'bearer' })
    })

    await test('of a request without redirect_uri may be exchanged without one or with the registered one', async t => {
      const { code, exchange } = await createSetting(stores)
      t.has(await exchange(await code()), { token_type: 'bearer' })
      const redirect_uri = 'http://127.0.0.1/callback'
      t.has(await exchange(await code(), { redirect_uri }), { token_type: 'bearer' })
      const secret = await code()
      t.has(await exchange(secret, { redirect_uri: CALLBACK }), INVALID)
      t.has(await exchange(secret), INVALID, 'burnt')
    })

    await test('is bound to its challenge, and a verifier has 43 to 128 printable characters', async t => {
      const { code, exchange } = await createSetting(stores)
      const challenge = (verifier: string) => ({ ...PKCE, code_challenge: challengeOf(verifier) })
      for (const verifier of ['a'.repeat(43), '~'.repeat(128), `${'a'.repeat(42)}+`, VERIFIER]) {
        const secret = await code(challenge(verifier))
        t.has(await exchange(secret, { code_verifier: verifier }), { token_type: 'bearer' }, verifier)
      }
      for (const verifier of ['a'.repeat(42), 'a'.repeat(129), `${'a'.repeat(43)} `, 'é'.repeat(43)]) {
        const secret = await code(challenge(verifier))
        t.has(await exchange(secret, { code_verifier: verifier }), INVALID, verifier)
      }
    })

    await test('is burnt by a missing or wrong verifier, and by a verifier without a challenge', async t => {
      const { code, exchange } = await createSetting(stores)
      const right = { code_verifier: VERIFIER }
      const attempts: [
        Readonly<Record<string, string>>,
        Readonly<Record<string, string>>,
        Readonly<Record<string, string>>
      ][] = [
        [PKCE, {}, right],
        [PKCE, { code_verifier: '' }, right],
        [PKCE, { code_verifier: `${VERIFIER}x` }, right],
        [PKCE, { code_verifier: PKCE.code_challenge }, right],
        [{}, right, {}]
      ]
      for (const [parameters, wrong, then] of attempts) {
        const secret = await code(parameters)
        t.has(await exchange(secret, wrong), INVALID)
        t.has(await exchange(secret, then), INVALID, 'burnt')
      }
    })

    await test('is dead when its user or its client is removed or its user is revoked', async t => {
      const { code, exchange, useCases, id, user, form } = await createSetting(stores)
      const revoked = await code()
      await useCases.revokeUser(user.username)
      t.has(await exchange(revoked), INVALID)
      const removed = await code()
      await useCases.removeUser(user.username)
      t.has(await exchange(removed), INVALID)
      await useCases.removeClient(id)
      const answer = await form('/auth/token', { grant_type: 'authorization_code', code: removed }, basic(id))
      t.equal(answer.json().error, 'invalid_client')
    })

    await test('is invalid_grant when it is unknown', async t => {
      const { exchange } = await createSetting(stores)
      for (const code of ['x', 'x'.repeat(32), 'x'.repeat(16_384), '🦸', "'; DROP TABLE code; --"]) {
        t.has(await exchange(code), INVALID)
      }
    })

    await test('gives two parties nothing when one exchanges it while the other is about to exchange or burn it', async t => {
      let meanwhile = async (): Promise<void> => {}
      const overtaken =
        (work: (digest: string) => Promise<boolean>) =>
        async (digest: string): Promise<boolean> => {
          const overtake = meanwhile
          meanwhile = async () => {}
          await overtake()
          return work(digest)
        }
      const { burn, redeem } = stores.codes
      const codes = {
        ...stores.codes,
        burn: overtaken(burn),
        redeem: (digest: string, token: Parameters<typeof redeem>[1]) =>
          overtaken(digest => redeem(digest, token))(digest)
      }
      const { code, exchange, lives } = await createSetting({ ...stores, codes })
      const right = { code_verifier: VERIFIER }
      const wrong = { code_verifier: `${VERIFIER}x` }
      for (const [first, second] of [
        [right, wrong],
        [right, right],
        [wrong, right]
      ] as const) {
        const secret = await code(PKCE)
        let got: Outcome = INVALID
        meanwhile = async () => {
          got = await exchange(secret, first)
          t.equal(await lives(got), first === right)
        }
        t.has(await exchange(secret, second), INVALID)
        t.notOk(await lives(got), 'a token of a code that two parties hold is dead')
      }
    })

    await test('gives nothing that lives when it is burnt and exchanged at once', async t => {
      const { code, exchange, lives } = await createSetting(stores)
      for (let round = 0; round < 20; round += 1) {
        const secret = await code(PKCE)
        const answers = await Promise.all([
          exchange(secret, { code_verifier: VERIFIER }),
          exchange(secret),
          exchange(secret, { code_verifier: VERIFIER })
        ])
        for (const answer of answers) t.notOk(await lives(answer))
      }
    })
  })
)
