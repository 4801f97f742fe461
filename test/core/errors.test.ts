import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { DomainError } from '../../core/index.js'
import { createService } from '../support/service.js'
import { rejecting } from '../support/world.js'

const file = pathToFileURL(join(t.testdir(), 'errors.ts'))
copyFileSync(new URL('../../core/errors.ts', import.meta.url), file)
const copy: typeof import('../../core/errors.js') = await import(file.href)

t.test(
  'an error of another copy of the core is a DomainError, as a store in a package of its own may throw',
  async t => {
    t.not(copy.DomainError, DomainError)
    const error = new copy.DomainError('unavailable', 'the database is away', { retryAfterSeconds: 1 })
    t.ok(error instanceof DomainError)
    t.ok(new DomainError('not_found', 'x') instanceof copy.DomainError)
    const { ask } = createService({ stores: rejecting(() => error), protectHeroes: false })
    const answer = await ask('/heroes')
    t.equal(answer.statusCode, 503)
  }
)

t.test('what is no DomainError is none, and an error of a subclass is one of its own class alone', async t => {
  class Special extends DomainError {}
  class Other extends DomainError {}
  const special = new Special('not_found', 'x')
  t.ok(special instanceof DomainError)
  t.ok(special instanceof Special)
  t.notOk(special instanceof Other)
  t.notOk(new DomainError('not_found', 'x') instanceof Special)
  t.ok(new copy.DomainError('not_found', 'x') instanceof Error)
  for (const value of [new Error('x'), { name: 'DomainError', code: 'not_found' }, undefined, null, 'x', 5]) {
    t.notOk((value as unknown) instanceof DomainError)
  }
})
