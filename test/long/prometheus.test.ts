import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { serveDatabase } from '../support/database-service.js'
import { freePort } from '../support/ports.js'
import { ask, temporaryFolder } from '../support/process.js'
import { workersOf } from '../support/workers.js'

const { stdout: version } = spawnSync('prometheus', ['--version'], { encoding: 'utf8' })
const withPrometheus = /^prometheus/.test(version ?? '') ? {} : { skip: 'there is no prometheus' }

/** Starts Prometheus, which scrapes this port once a second. Returns what asks it a question and gets one number. */
const startPrometheus = async (t: Test, target: number) => {
  const folder = temporaryFolder(t)
  const own = await freePort()
  const file = join(folder, 'prometheus.json')
  // JSON is YAML.
  const job = { job_name: 'heroes', scrape_interval: '1s', static_configs: [{ targets: [`127.0.0.1:${target}`] }] }
  writeFileSync(file, JSON.stringify({ scrape_configs: [job] }))
  const child = spawn(
    'prometheus',
    [`--config.file=${file}`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=127.0.0.1:${own}`],
    { cwd: folder, stdio: 'ignore' }
  )
  t.teardown(async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  return async (query: string): Promise<number | undefined> => {
    const url = `http://127.0.0.1:${own}/api/v1/query?${new URLSearchParams({ query })}`
    const answer = await ask(url).catch(() => undefined)
    if (answer?.status !== 200) return undefined
    const [first] = JSON.parse(answer.body).data.result
    return first === undefined ? undefined : Number(first.value[1])
  }
}

t.test('promtool reads every alert of app/README.md', withPrometheus, async t => {
  const readme = readFileSync(join(import.meta.dirname, '../../app/README.md'), 'utf8')
  const rows = [...readme.matchAll(/^\| ([^|]+\?) \| ([^|]+) \| `([^|]+)` \|$/gm)]
  t.ok(rows.length > 12)
  const rules = rows.map(([, question, , expr], index) => ({
    alert: `Heroes${index}`,
    expr,
    for: '5m',
    annotations: { summary: question }
  }))
  const file = join(temporaryFolder(t), 'rules.json')
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'heroes', rules }] }))
  const { stdout, status, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' })
  t.equal(status, 0, stderr)
  t.match(stdout, `SUCCESS: ${rows.length} rules found`)
})

t.test('promtool finds no fault in /metrics, and Prometheus sees what two workers did', withPrometheus, async t => {
  const service = await serveDatabase(t, { WORKERS: '2', DATABASE_POOL: '3', METRICS_PORT: '0', HASH_CONCURRENCY: '1' })
  const [, port] = await service.until(/"port":(\d+),"msg":"metrics listening"/)
  const workers = await workersOf(service, 2)
  const { headers } = await service.logIn()
  const readHeroes = async (count: number): Promise<void> => {
    for (let request = 0; request < count; request += 1) await ask(`${service.url}/heroes/1`, { headers })
  }
  await readHeroes(40)
  const { body } = await ask(`http://127.0.0.1:${port}/metrics`)
  const { stdout, stderr, status } = spawnSync('promtool', ['check', 'metrics'], { input: body, encoding: 'utf8' })
  t.strictSame({ stdout, stderr, status }, { stdout: '', stderr: '', status: 0 })

  const query = await startPrometheus(t, Number(port))
  const becomes = async (text: string, value: number): Promise<void> => {
    for (let found = await query(text); found !== value; found = await query(text)) await sleep(100)
  }
  const reads = 'sum(http_request_duration_seconds_count{route="/heroes/:id",status="404"})'
  await becomes(reads, 40)
  await becomes('sum(http_request_duration_seconds_bucket{route="/heroes/:id",le="+Inf"})', 40)
  await becomes('heroes_logins_total{outcome="succeeded"}', 1)
  await becomes('heroes_tokens_issued_total{grant_type="password"}', 1)
  await becomes('up', 1)
  t.ok(Number(await query('sum(heroes_database_connections)')) >= 2)

  process.kill(Number(workers.get(1)), 'SIGKILL')
  await workersOf(service, 3)
  await readHeroes(10)
  await becomes(reads, 50)
  t.equal(await query(`resets(http_request_duration_seconds_count{route="/heroes/:id",status="404"}[1m])`), 0)
  t.equal(await service.stop(), 0)
})
