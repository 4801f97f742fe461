// A balancer for TCP connections, as haproxy is: each new connection goes to the next instance that says it is ready.

import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { listenUntilEnd } from './ports.js'

export interface Balancer {
  readonly url: string
  /** The ports of the instances that get new connections. */
  ready(): readonly number[]
}

/** In milliseconds: how often each instance is asked, and how long it may take. */
const INTERVAL = 100
const PATIENCE = 1000

const isReady = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/health/ready`, { signal: AbortSignal.timeout(PATIENCE) }).then(
    ({ ok }) => ok,
    () => false
  )

export const startBalancer = async (t: Pick<Test, 'teardown'>, ports: readonly number[]): Promise<Balancer> => {
  const ready = new Set<number>()
  let over = false
  const watch = async (port: number): Promise<void> => {
    while (!over) {
      if (await isReady(port)) ready.add(port)
      else ready.delete(port)
      await sleep(INTERVAL)
    }
  }
  const watching = Promise.all(ports.map(watch))
  t.teardown(() => {
    over = true
    return watching
  })
  let turn = 0
  const lead = (client: Socket): void => {
    turn += 1
    const port = [...ready][turn % ready.size]
    if (port === undefined) {
      client.destroy()
      return
    }
    const upstream = connect(port, '127.0.0.1').setNoDelay()
    const refused = (): void => {
      // The instance has gone since it was asked. Nothing has been sent to it.
      ready.delete(port)
      lead(client)
    }
    upstream.once('error', refused)
    upstream.once('connect', () => {
      upstream.off('error', refused)
      for (const [from, to] of [
        [client, upstream],
        [upstream, client]
      ] as const) {
        from.on('error', () => {}).on('close', () => to.destroy())
        from.pipe(to)
      }
    })
  }
  const server = createServer({ noDelay: true }, client => {
    client.on('error', () => {})
    lead(client)
  })
  const url = `http://127.0.0.1:${await listenUntilEnd(t, server)}`
  while (ready.size < ports.length) await sleep(INTERVAL)
  return { url, ready: () => [...ready] }
}
