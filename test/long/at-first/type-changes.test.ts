import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { serveDatabase } from '../../support/database-service.js'
import { load, quantile, statuses, type Timed } from '../../support/load.js'
import { ask } from '../../support/process.js'
import { bearer } from '../../support/service.js'

const ANSWERS = 40_000
const HEROES = 64

t.test('64 readers get right answers while the types of columns change and prepared plans become invalid', async t => {
  const { url, sql, logIn, form } = await serveDatabase(t)
  await sql`insert into hero (name, name_lower) select 'hero ' || i, 'hero ' || i from generate_series(1, ${HEROES}) i`
  const { access: valid } = await logIn()
  const { access: revoked } = await logIn()
  await ask(`${url}/auth/revoke`, form({ token: revoked }))

  const headers = [bearer(valid), bearer(valid), bearer(revoked), bearer('A'.repeat(32))]
  const opens = (authorization = ''): boolean => authorization === bearer(valid).authorization
  /** The body of each path's answer. A single hero is read over the connection for look-ups, a page over the pool. */
  const bodies = new Map<string, string>()
  for (let id = 1; id <= HEROES; id++) {
    const hero = { id, name: `hero ${id}` }
    bodies.set(`${url}/heroes/${id}`, JSON.stringify(hero))
    bodies.set(`${url}/heroes?limit=1&after=${id - 1}`, JSON.stringify([hero]))
  }
  const paths = [...bodies.keys()]
  let turn = 0
  const readers = load(64, () => {
    turn += 1
    return [paths[turn % paths.length] ?? '', { headers: { ...headers[(turn * 7) % headers.length] } }]
  })

  const isWrong = ({ url, question, status, body }: Timed): boolean => {
    if (status === 503) return false
    return opens(question.headers?.authorization) ? status !== 200 || body !== bodies.get(url) : status !== 401
  }
  const others = ['varchar(300)', 'text']
  const answers: Timed[] = []
  let changes = 0
  while (answers.length < ANSWERS || changes < 20) {
    const type = others[changes++ % 2]
    await sql.unsafe(`alter table hero alter name type ${type}`)
    await sql.unsafe(`alter table "grant" alter client_id type ${type}`)
    await sql.unsafe(`alter table token alter issuedate type timestamptz${changes % 2 ? '' : '(3)'}`)
    await sql.unsafe('create index other on token (issuedate); drop index other; analyze')
    await sleep(500)
    answers.push(...readers.take())
  }
  const after = performance.now()
  await sleep(1000)
  await readers.stop()
  const last = readers.take()
  answers.push(...last)

  t.comment(`${answers.length} answers, ${changes} changes, ${JSON.stringify(statuses(answers))}`)
  t.strictSame(answers.filter(isWrong), [], 'no wrong answer')
  t.ok(quantile(answers, 1) < 2000, `the longest answer took ${quantile(answers, 1)} ms`)
  const whole = last.filter(({ askedAt }) => askedAt > after + 900)
  t.ok(
    whole.length > 0 && whole.every(({ status }) => status !== 503),
    'from a second after the last change no request is refused'
  )
})
