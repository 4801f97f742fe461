import t, { type Test } from 'tap'
import { basic, bearer, CALLBACK, challengeOf, createService, REQUEST, type Service } from '../../../support/service.js'
import { onEveryStore } from '../../../support/stores.js'
import { ADA, addClient, type Stores, type WorldOptions } from '../../../support/world.js'

let setting = 0

type Outcome = { readonly error: string } | { readonly access_token: string; readonly refresh_token?: string }

interface Setting extends Service {
  readonly id: string
  /** A code from the login page. */
  code(parameters?: Readonly<Record<string, string>>): Promise<string>
  /** The body of the exchange's answer. */
  exchange(code: string, fields?: Readonly<Record<string, string>>, client?: string): Promise<Outcome>
  lives(outcome: Outcome): Promise<boolean>
}

/** Two clients, `id` and `id`-other, and a user of its own in stores that other cases use too. */
const createSetting = async (stores: Stores, policy: WorldOptions['policy'] = {}): Promise<Setting> => {
  setting += 1
  const id = `app-${setting}`
  const service = createService({ stores, policy: { loginAttempts: 0, ...policy } })
  const user = { ...ADA, username: `ada-${setting}` }
  await addClient(service, id, { redirectUri: 'http://127.0.0.1/callback' })
  await addClient(service, `${id}-other`, { redirectUri: 'http://127.0.0.1/callback' })
  await service.useCases.registerUser(user)
  return {
    ...service,
    id,
    async code(parameters) {
      const answer = await service.form('/auth/code', { ...REQUEST, client_id: id, ...user, ...parameters })
      return new URL(String(answer.headers.location)).searchParams.get('code') ?? ''
    },
    async exchange(code, fields, client = id) {
      const form = { grant_type: 'authorization_code', code, ...fields }
      const answer = await service.form('/auth/token', form, basic(client))
      t.ok(answer.statusCode === 200 || answer.statusCode === 400)
      return answer.json()
    },
    async lives(outcome) {
      if ('error' in outcome) return false
      const answer = await service.ask('/heroes/1', { headers: bearer(outcome.access_token) })
      return answer.statusCode !== 401
    }
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
      t.match(await exchange(secret), { scope: 'b a', refresh_token: /^[A-Za-z0-9]{32}$/ })
    })

    await test('gives a public client no refresh token', async t => {
      const service = await createSetting(stores)
      await addClient(service, `${service.id}-public`, { secret: undefined })
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
      t.match(await exchange(secret), INVALID)
      t.notOk(await lives(first))
      t.notOk(await lives(second))
      const again = { grant_type: 'refresh_token', refresh_token: second.refresh_token }
      t.match((await form('/auth/token', again, basic(id))).json(), INVALID)
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
      t.match(await exchange(secret), INVALID)
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
      t.match(await exchange(early), { token_type: 'bearer' })
      clock.advance(0.001)
      t.match(await exchange(late), INVALID)
    })

    await test('changes in nothing when another client tries it, whatever it sends, before and after its use', async t => {
      const { code, exchange, lives, id } = await createSetting(stores)
      const secret = await code(PKCE)
      const other = (fields?: Readonly<Record<string, string>>) => exchange(secret, fields, `${id}-other`)
      t.match(await other(), INVALID)
      t.match(await other({ code_verifier: VERIFIER }), INVALID)
      t.match(await other({ redirect_uri: 'https://evil.example/' }), INVALID)
      const first = await exchange(secret, { code_verifier: VERIFIER })
      t.match(await other({ code_verifier: VERIFIER }), INVALID)
      t.ok(await lives(first))
    })

    await test('is bound to redirect_uri if that was given, and a wrong one burns it', async t => {
      const { code, exchange } = await createSetting(stores)
      const redirect_uri = 'http://127.0.0.1:4711/callback'
      t.match(await exchange(await code({ redirect_uri }), { redirect_uri }), { token_type: 'bearer' })
      const wrong = ['', 'http://127.0.0.1/callback', 'http://127.0.0.1:4712/callback', `${redirect_uri}/`]
      for (const other of wrong) {
        const secret = await code({ redirect_uri })
        t.match(await exchange(secret, { redirect_uri: other }), INVALID, other)
        t.match(await exchange(secret, { redirect_uri }), INVALID, 'burnt')
      }
    })

    await test('without redirect_uri at the page it may be absent or the registered one', async t => {
      const { code, exchange } = await createSetting(stores)
      t.match(await exchange(await code()), { token_type: 'bearer' })
      const redirect_uri = 'http://127.0.0.1/callback'
      t.match(await exchange(await code(), { redirect_uri }), { token_type: 'bearer' })
      const secret = await code()
      t.match(await exchange(secret, { redirect_uri: CALLBACK }), INVALID)
      t.match(await exchange(secret), INVALID, 'burnt')
    })

    await test('is bound to its challenge: verifiers of 43 to 128 of the characters of RFC 7636', async t => {
      const { code, exchange } = await createSetting(stores)
      const challenge = (verifier: string) => ({ ...PKCE, code_challenge: challengeOf(verifier) })
      for (const verifier of ['a'.repeat(43), '~'.repeat(128), VERIFIER]) {
        const secret = await code(challenge(verifier))
        t.match(await exchange(secret, { code_verifier: verifier }), { token_type: 'bearer' }, verifier)
      }
      for (const verifier of [
        'a'.repeat(42),
        'a'.repeat(129),
        `${'a'.repeat(43)}+`,
        `${'a'.repeat(43)} `,
        'é'.repeat(43)
      ]) {
        const secret = await code(challenge(verifier))
        t.match(await exchange(secret, { code_verifier: verifier }), INVALID, verifier)
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
        t.match(await exchange(secret, wrong), INVALID)
        t.match(await exchange(secret, then), INVALID, 'burnt')
      }
    })

    await test('is dead when its user or its client is gone or its user was revoked', async t => {
      const { code, exchange, useCases, id, form } = await createSetting(stores)
      const username = id.replace('app', 'ada')
      const revoked = await code()
      await useCases.revokeUser(username)
      t.match(await exchange(revoked), INVALID)
      const removed = await code()
      await useCases.removeUser(username)
      t.match(await exchange(removed), INVALID)
      await useCases.removeClient(id)
      const answer = await form('/auth/token', { grant_type: 'authorization_code', code: removed }, basic(id))
      t.equal(answer.json().error, 'invalid_client')
    })

    await test('that is unknown is invalid_grant', async t => {
      const { exchange } = await createSetting(stores)
      for (const code of ['x', 'x'.repeat(32), 'x'.repeat(16_384), '🦸', "'; DROP TABLE code; --"]) {
        t.match(await exchange(code), INVALID)
      }
    })

    await test('exchanged by one while another is about to burn it ends what the first got, and the other way round', async t => {
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
        t.match(await exchange(secret, second), INVALID)
        t.notOk(await lives(got), 'two parties hold the code')
      }
    })

    await test('burnt by one while another exchanges it ends what that one got', async t => {
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
