import { readFileSync } from 'node:fs'
import autocannon from 'autocannon'
import { secret } from './data.js'
import type { Plan } from './plan.js'

/** Sends the requests of load.lua where wrk is missing. It is much slower than wrk, and its times are whole milliseconds. */
const { url, plan, connections, seconds }: { url: string; plan: Plan; connections: number; seconds: number } =
  JSON.parse(process.argv[2] ?? '{}')

const secrets = plan.file === undefined ? undefined : readFileSync(plan.file, 'utf8').trimEnd().split('\n')
let number = (plan.first ?? 1) - 1
/** The refresh tokens of the answers. They are shared, as autocannon keeps no context for a connection. */
const ready: string[] = []

const random = (most: number): number => 1 + Math.floor(Math.random() * most)
const nth = (index: number): string => secrets?.[index - 1] ?? secret(plan.prefix ?? '', index)
const bearer = (): string => `Bearer ${nth(random(secrets?.length ?? plan.tokens ?? 1))}`
const FORM = 'application/x-www-form-urlencoded'

interface Next {
  readonly path?: string
  readonly headers: Record<string, string>
  readonly body?: string
}

const form = (body: string): Next => ({
  headers: { authorization: plan.basic ?? '', 'content-type': FORM },
  body
})

const next = (): Next => {
  switch (plan.kind) {
    case 'get':
      return {
        path: plan.path.replace('{hero}', () => String(random(plan.heroes ?? 1))),
        headers: { authorization: bearer(), ...(plan.gzip && { 'accept-encoding': 'gzip' }) }
      }
    case 'create':
      return {
        headers: { authorization: bearer(), 'content-type': 'application/json' },
        body: JSON.stringify({ name: `${plan.name} ${++number}` })
      }
    case 'refresh': {
      return form(`grant_type=refresh_token&refresh_token=${ready.pop() ?? nth(++number)}`)
    }
    case 'code':
      return form(`grant_type=authorization_code&code=${nth(++number)}`)
    case 'login':
      return form(`grant_type=password&username=user+${random(plan.users ?? 1)}&password=${plan.password}`)
  }
}

const run = autocannon({
  url,
  connections,
  duration: seconds,
  timeout: 30,
  // Of a connection, in a second.
  ...(plan.pause !== undefined && { connectionRate: Math.round(1000 / plan.pause) }),
  requests: [
    {
      method: plan.kind === 'get' ? 'GET' : 'POST',
      path: plan.path,
      setupRequest: request => ({ ...request, ...next() }),
      onResponse: (status, body) => {
        if (plan.kind !== 'refresh' || status !== 200) return
        const [, token] = /"refresh_token":"([^"]+)"/.exec(body) ?? []
        if (token !== undefined) ready.push(token)
      }
    }
  ]
})

// As wrk does, it prints the figures so far.
process.once('SIGINT', () => run.stop())
const result = await run
console.log(
  JSON.stringify({
    requests: result.requests.total,
    seconds: result.duration,
    bytes: result.throughput.total,
    p50: result.latency.p50 * 1000,
    p99: result.latency.p99 * 1000,
    refused: result.non2xx,
    failed: result.errors
  })
)
