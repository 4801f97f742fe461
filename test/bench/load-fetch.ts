import { performance } from 'node:perf_hooks'
import { secret } from './data.js'
import type { Load } from './generator.js'
import type { Plan } from './plan.js'

/**
 * Sends reads with `fetch`, as programs on Node do. Its defaults ask for compressed answers. It takes several times as long
 * for a request as the contestants.
 */
const { url, plan, connections, seconds }: { url: string; plan: Plan; connections: number; seconds: number } =
  JSON.parse(process.argv[2] ?? '{}')

const random = (most = 1): number => 1 + Math.floor(Math.random() * most)
const times: number[] = []
let bytes = 0
let refused = 0
let failed = 0
const started = performance.now()
const until = started + seconds * 1000

const send = async (): Promise<void> => {
  while (performance.now() < until) {
    const began = performance.now()
    try {
      const response = await fetch(url + plan.path.replace('{hero}', String(random(plan.heroes))), {
        headers: { authorization: `Bearer ${secret(plan.prefix ?? '', random(plan.tokens))}` }
      })
      bytes += (await response.arrayBuffer()).byteLength
      if (response.status >= 400) refused += 1
    } catch {
      failed += 1
    }
    times.push((performance.now() - began) * 1000)
  }
}
await Promise.all(Array.from({ length: connections }, send))

const sorted = times.toSorted((a, b) => a - b)
const at = (part: number): number => sorted[Math.floor(sorted.length * part)] ?? 0
const load: Load = {
  requests: times.length,
  seconds: (performance.now() - started) / 1000,
  bytes,
  p50: at(0.5),
  p99: at(0.99),
  refused,
  failed
}
console.log(JSON.stringify(load))
