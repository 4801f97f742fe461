// What the sample hosts serve, whatever brings the requests: the core's use cases behind four endpoints.
import { type Client, type Credentials, DomainError, type ErrorCode, type UseCases } from 'heroes/core'

/** A request, as each host reads it. It can be sent to another thread. */
export interface Asked {
  /** The method and the path, such as `GET /heroes`. */
  readonly endpoint: string
  readonly authorization?: string | undefined
  /** Where the request comes from. Passwords are guessed at so often from each address. */
  readonly address: string
  /** Whatever was sent, of any type. */
  readonly body?: unknown
}

export interface Answer {
  readonly status: number
  readonly body: unknown
}

type Endpoint = (asked: Asked) => Promise<unknown>

/** Answers each request. It never rejects. */
export const createEndpoints = (heroes: UseCases, client: Client): ((asked: Asked) => Promise<Answer>) => {
  const withToken =
    (endpoint: Endpoint): Endpoint =>
    async asked => {
      await heroes.verifyBearer(/^Bearer +(\S+)$/i.exec(asked.authorization ?? '')?.[1])
      return endpoint(asked)
    }

  const endpoints = new Map<string, Endpoint>([
    ['POST /register', async ({ body }) => ({ id: (await heroes.registerUser(credentialsOf(body))).id })],
    [
      'POST /token',
      ({ body, address }) => heroes.issueToken(client, { ...credentialsOf(body), grantType: 'password', address })
    ],
    ['GET /heroes', withToken(async () => (await heroes.heroPage({ limit: 1000 })).heroes)],
    ['POST /heroes', withToken(({ body }) => heroes.createHero({ name: textOf(body, 'name') }))]
  ])

  return async asked => {
    try {
      const endpoint = endpoints.get(asked.endpoint)
      if (endpoint === undefined) throw new DomainError('not_found', 'there is nothing at this path')
      return { status: 200, body: await endpoint(asked) }
    } catch (error) {
      return refusalOf(error)
    }
  }
}

// Field by field: what a body could set of its own (an address, a grant type) evades the limit on wrong passwords.
const credentialsOf = (body: unknown): Credentials => ({
  username: textOf(body, 'username'),
  password: textOf(body, 'password')
})

const textOf = (body: unknown, field: string): string => {
  const value: unknown = Object(body)[field]
  if (typeof value === 'string') return value
  throw new DomainError('invalid_input', `${field} must be a text`)
}

const STATUSES: Partial<Record<ErrorCode, number>> = {
  not_found: 404,
  conflict: 409,
  token_required: 401,
  invalid_token: 401,
  invalid_client: 401,
  insufficient_scope: 403,
  too_many_attempts: 429,
  unavailable: 503,
  overloaded: 503
}

/** The answer to whoever caused the error. */
export const refusalOf = (error: unknown): Answer =>
  error instanceof DomainError
    ? { status: STATUSES[error.code] ?? 400, body: { error: error.message } }
    : { status: 500, body: { error: 'the service failed' } }
