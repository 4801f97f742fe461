import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { takeAnswer } from '../../../../adapters/postgres/connection/answer.js'
import { createHosts } from '../../../../adapters/postgres/connection/hosts.js'
import { openLane } from '../../../../adapters/postgres/connection/lane.js'

/** A statement that is answered by the test, and what its caller was told. */
const ask = () => {
  const told: unknown[] = []
  const statement = {
    sent: 0,
    handler(statement: { sent: number }) {
      statement.sent += 1
    },
    resolve: (_: unknown[][]): void => {},
    reject: (_: unknown): void => {},
    args: ['a text'] as unknown,
    parameters: [{ value: 'a text' }] as unknown,
    signature: '25select $1'
  }
  takeAnswer(
    statement,
    rows => told.push(rows),
    error => told.push(error)
  )
  return { statement, told }
}

t.test('a statement is sent once, and only its first answer counts', async t => {
  const { statement, told } = ask()
  t.equal(statement.sent, 1)
  const { resolve, reject } = statement
  resolve([['a row']])
  t.not(statement.resolve, resolve)
  t.not(statement.reject, reject)
  statement.resolve([['another row']])
  statement.reject(new Error('too late'))
  await turn()
  t.strictSame(told, [[['a row']]])
  t.match(statement, { args: undefined, parameters: undefined, signature: '' }, 'it holds no text any more')
})

t.test('an error is told when postgres.js has done what it was doing', async t => {
  const { statement, told } = ask()
  const error = new Error('the first')
  statement.reject(error)
  statement.reject(new Error('the second'))
  t.strictSame(told, [])
  await turn()
  t.strictSame(told, [error])
  t.match(statement, { args: undefined, parameters: undefined, signature: '' }, 'it holds no text any more')
})

t.test('neither the texts nor the rows of a statement outlive the quick garbage collections', async t => {
  setFlagsFromString('--expose-gc')
  const collect: (options?: { readonly type: 'minor' }) => void = runInNewContext('gc')
  const lane = openLane(createHosts(process.env.TEST_DATABASE_URL ?? '', {}), { prepare: true, lookups: false })
  t.teardown(() => lane.end())
  const LENGTH = 20_000
  const run = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) await lane.run('select reverse($1::text)', ['x'.repeat(LENGTH - 1) + (i % 10)])
  }
  const oldBytes = (): number =>
    Number(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size)

  await run(10)
  collect()
  const before = oldBytes()
  await run(100)
  for (let i = 0; i < 3; i++) {
    await turn()
    collect({ type: 'minor' })
  }
  const grown = oldBytes() - before
  // 4.4 million where they do.
  t.ok(grown < 50 * LENGTH, `${grown} bytes of 100 statements have become old, each with texts of ${2 * LENGTH}`)
})

function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
