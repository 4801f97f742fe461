import fc from 'fast-check'
import t from 'tap'
import type { Client, TokenAnswer } from '../../core/index.js'
import { onEveryStore } from '../support/stores.js'
import { ADA, addClient, blankRequest, createWorld, type Stores, type World } from '../support/world.js'

const POLICY = {
  accessTokenSeconds: 60,
  refreshTokenSeconds: 200,
  grantSeconds: 500,
  codeSeconds: 40,
  refreshGraceSeconds: 30,
  loginAttempts: 0
}

/** What the walk expects of a grant, a code and a token. Instants are in seconds since the walk began. */
interface Grant {
  readonly client: number
  readonly user: number
  readonly endsAt: number
  dead: boolean
}

interface Code {
  readonly secret: string
  readonly grant: Grant
  readonly endsAt: number
  spent: boolean
}

interface Token {
  readonly answer: TokenAnswer
  readonly grant: Grant
  readonly endsAt: number
  readonly refreshEndsAt: number
  ended: boolean
  spentAt: number | undefined
  successor: Token | undefined
}

const ACTIONS = [
  'login',
  'login',
  'code',
  'exchange',
  'exchange',
  'refresh',
  'refresh',
  'refresh',
  'repeat',
  'race'
] as const
const ENDS = [
  'revokeAccess',
  'revokeRefresh',
  'stranger',
  'thief',
  'revokeUser',
  'setPassword',
  'removeUser',
  'removeClient'
] as const
const TIMES = ['wait', 'wait', 'wait', 'sweep'] as const

/** One step of a walk. `pick` chooses the client, the user, the code and the token. */
const step = fc.record({
  action: fc.oneof(
    { weight: 10, arbitrary: fc.constantFrom(...ACTIONS) },
    { weight: 3, arbitrary: fc.constantFrom(...ENDS) },
    { weight: 4, arbitrary: fc.constantFrom(...TIMES) }
  ),
  pick: fc.nat(99),
  seconds: fc.constantFrom(1, 9, 29, 30, 31, 60, 61, 150, 400)
})

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

let walks = 0

class Walk {
  readonly #world: World
  readonly #name: string
  #now = 0
  readonly #grants: Grant[] = []
  readonly #codes: Code[] = []
  readonly #tokens: Token[] = []

  constructor(stores: Stores) {
    walks += 1
    this.#name = `walk-${walks}`
    this.#world = createWorld({ stores, policy: POLICY })
  }

  async begin(): Promise<void> {
    for (const i of [0, 1]) {
      await addClient(this.#world, this.#id(i))
      await this.#world.useCases.registerUser(this.#user(i))
    }
  }

  #id = (client: number) => `${this.#name}-${client}`
  #user = (user: number) => ({ ...ADA, username: `${this.#name}-${user}` })
  #client = (client: number): Promise<Client> => this.#world.useCases.findClient(this.#id(client))

  #newGrant(client: number, user: number): Grant {
    const grant = { client, user, endsAt: this.#now + POLICY.grantSeconds, dead: false }
    this.#grants.push(grant)
    return grant
  }

  #newToken(answer: TokenAnswer, grant: Grant): Token {
    const after = (seconds: number) => Math.min(this.#now + seconds, grant.endsAt)
    const token: Token = {
      answer,
      grant,
      endsAt: after(POLICY.accessTokenSeconds),
      refreshEndsAt: after(POLICY.refreshTokenSeconds),
      ended: false,
      spentAt: undefined,
      successor: undefined
    }
    this.#tokens.push(token)
    return token
  }

  async take({ action, pick, seconds }: Step): Promise<void> {
    const { useCases, clock } = this.#world
    const [client, user] = [pick % 2, Math.floor(pick / 2) % 2]
    const token = this.#tokens.at(-1 - (pick % Math.max(1, this.#tokens.length)))
    const code = this.#codes.at(-1 - (pick % Math.max(1, this.#codes.length)))
    switch (action) {
      case 'login': {
        const form = { ...blankRequest, grantType: 'password', ...this.#user(user) }
        this.#newToken(await useCases.issueToken(await this.#client(client), form), this.#newGrant(client, user))
        return
      }
      case 'code': {
        const by = await this.#client(client)
        const asked = { clientId: by.id, redirectUri: undefined, responseType: 'code', state: 'x', scope: undefined }
        const whole = { ...asked, responseMode: undefined, codeChallenge: undefined, codeChallengeMethod: undefined }
        const secret = await useCases.authorize(useCases.judgeRequest(by, whole), {
          ...this.#user(user),
          address: blankRequest.address
        })
        const endsAt = this.#now + POLICY.codeSeconds
        this.#codes.push({ secret, grant: this.#newGrant(client, user), endsAt, spent: false })
        return
      }
      case 'exchange':
        return code && this.#exchange(code)
      case 'refresh':
        return token && this.#refresh(token)
      case 'repeat': {
        const spent = this.#tokens.findLast(each => each.spentAt !== undefined)
        return spent && this.#refresh(spent)
      }
      case 'race': {
        // Two refreshes at once: both get the same answer, or both are refused.
        if (token === undefined) return
        const answers = await Promise.all([this.#ask(token), this.#ask(token)])
        if (JSON.stringify(answers[0]) !== JSON.stringify(answers[1]))
          throw new Error('two refreshes at once got two answers')
        return this.#judge(token, answers[0])
      }
      case 'revokeAccess':
        if (token === undefined) return
        await useCases.revokeToken(await this.#client(token.grant.client), token.answer.accessToken)
        token.ended = true
        return
      case 'revokeRefresh':
        if (token === undefined) return
        await useCases.revokeToken(await this.#client(token.grant.client), token.answer.refreshToken)
        token.grant.dead = true
        return
      case 'stranger': {
        // Another client's attempts change nothing.
        if (token === undefined) return
        const other = await this.#client(1 - token.grant.client)
        const { accessToken, refreshToken } = token.answer
        await Promise.allSettled([
          useCases.revokeToken(other, accessToken),
          useCases.revokeToken(other, refreshToken),
          useCases.issueToken(other, { ...blankRequest, grantType: 'refresh_token', refreshToken })
        ])
        return
      }
      case 'thief': {
        // Another client's attempts with a code change nothing either, spent or not.
        if (code === undefined) return
        const form = { ...blankRequest, grantType: 'authorization_code', code: code.secret }
        const stolen = await useCases.issueToken(await this.#client(1 - code.grant.client), form).catch(refusal)
        if (stolen !== undefined) throw new Error("another client's code was accepted")
        return
      }
      case 'revokeUser':
        await useCases.revokeUser(this.#user(user).username)
        return this.#end(grant => grant.user === user)
      case 'setPassword':
        await useCases.setPassword(this.#user(user))
        return this.#end(grant => grant.user === user)
      case 'removeUser':
        await useCases.removeUser(this.#user(user).username)
        await useCases.registerUser(this.#user(user))
        return this.#end(grant => grant.user === user)
      case 'removeClient':
        await useCases.removeClient(this.#id(client))
        await addClient(this.#world, this.#id(client))
        return this.#end(grant => grant.client === client)
      case 'wait':
        clock.advance(seconds)
        this.#now += seconds
        return
      case 'sweep':
        return useCases.sweep()
    }
  }

  #end(which: (grant: Grant) => boolean): void {
    for (const grant of this.#grants) if (which(grant)) grant.dead = true
  }

  async #exchange(code: Code): Promise<void> {
    const by = await this.#client(code.grant.client)
    const form = { ...blankRequest, grantType: 'authorization_code', code: code.secret }
    const answer = await this.#world.useCases.issueToken(by, form).catch(refusal)
    const due = !code.grant.dead && !code.spent && this.#now < code.endsAt
    if (due !== (answer !== undefined)) throw new Error(`a code was ${due ? 'refused' : 'accepted'}`)
    // A second use ends the tokens of the first one.
    if (code.spent) code.grant.dead = true
    if (answer === undefined) return
    code.spent = true
    this.#newToken(answer, code.grant)
  }

  async #ask({ answer, grant }: Token): Promise<TokenAnswer | undefined> {
    const form = { ...blankRequest, grantType: 'refresh_token', refreshToken: answer.refreshToken }
    return this.#world.useCases.issueToken(await this.#client(grant.client), form).catch(refusal)
  }

  async #refresh(token: Token): Promise<void> {
    this.#judge(token, await this.#ask(token))
  }

  #judge(token: Token, answer: TokenAnswer | undefined): void {
    const { grant, spentAt, successor } = token
    const open = !grant.dead && this.#now < grant.endsAt
    const inTime =
      spentAt === undefined ? this.#now < token.refreshEndsAt : this.#now < spentAt + POLICY.refreshGraceSeconds
    if ((open && inTime) !== (answer !== undefined))
      throw new Error(`a refresh token was ${answer ? 'accepted' : 'refused'}`)
    if (answer === undefined) {
      if (open && spentAt !== undefined) grant.dead = true
      return
    }
    if (successor !== undefined) {
      const { accessToken, refreshToken } = successor.answer
      const same = answer.accessToken === accessToken && answer.refreshToken === refreshToken
      if (!same) throw new Error('a repeat got another answer')
      return
    }
    token.spentAt = this.#now
    token.ended = true
    token.successor = this.#newToken(answer, grant)
  }

  /** Throws if the service says something else of a token than the walk expects. */
  async check(): Promise<void> {
    const { useCases } = this.#world
    const asking = await this.#client(0)
    await Promise.all(
      this.#tokens.map(async ({ answer, grant, ended, endsAt, refreshEndsAt, spentAt }) => {
        const opens = useCases.verifyBearer(answer.accessToken, undefined).then(
          () => true,
          () => false
        )
        const lives = useCases.introspectToken(asking, answer.refreshToken)
        const shouldOpen = !grant.dead && !ended && this.#now < endsAt
        const shouldLive = !grant.dead && spentAt === undefined && this.#now < refreshEndsAt
        if ((await opens) !== shouldOpen) throw new Error(`an access token ${shouldOpen ? 'is dead' : 'lives'}`)
        if (((await lives) !== undefined) !== shouldLive)
          throw new Error(`a refresh token ${shouldLive ? 'is dead' : 'lives'}`)
      })
    )
  }
}

const refusal = (error: { readonly code?: string }): undefined => {
  if (error.code !== 'invalid_grant') throw error
}

t.test('after any sequence of steps, dead tokens are refused and live tokens are accepted', t =>
  onEveryStore(t, async (t, stores) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }), async steps => {
        const walk = new Walk(stores)
        await walk.begin()
        for (const each of steps) {
          await walk.take(each)
          await walk.check()
        }
      }),
      { numRuns: 25 }
    )
    t.pass('every walk agreed')
  })
)
