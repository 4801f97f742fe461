/** The types of what the bench uses of autocannon, which has none of its own. */
declare module 'autocannon' {
  interface Request {
    method?: string
    path?: string
    headers?: Record<string, string>
    body?: string
    setupRequest?(request: Request): Request
    onResponse?(status: number, body: string): void
  }
  interface Result {
    readonly requests: { readonly total: number }
    readonly throughput: { readonly total: number }
    readonly duration: number
    /** Milliseconds. */
    readonly latency: { readonly p50: number; readonly p99: number }
    readonly non2xx: number
    readonly errors: number
  }
  function autocannon(options: {
    readonly url: string
    readonly connections: number
    readonly duration: number
    readonly timeout: number
    readonly connectionRate?: number
    readonly requests: readonly Request[]
  }): Promise<Result> & { stop(): void }
  export = autocannon
}
