import t from 'tap'
import { covers, grantScopes, isScopeToken, parseScope } from '../../core/scope.js'

t.test('a scope covers itself, its parts and its modifiers, and nothing else', async t => {
  const covered: [granted: string, required: string][] = [
    ['a', 'a'],
    ['a', 'a:b'],
    ['a', 'a:b:c'],
    ['a', 'a.readonly'],
    ['a', 'a:b.readonly'],
    ['a:b', 'a:b:c.x'],
    ['a.readonly', 'a.readonly'],
    ['a.readonly', 'a:b.readonly']
  ]
  for (const [granted, required] of covered) t.ok(covers(granted, required), `${granted} covers ${required}`)
  const uncovered: [granted: string, required: string][] = [
    ['a:b', 'a'],
    ['a', 'ab'],
    ['ab', 'a'],
    ['a.readonly', 'a'],
    ['a.readonly', 'a.write'],
    ['a.readonly', 'a:b'],
    ['a:b', 'a:c'],
    ['A', 'a']
  ]
  for (const [granted, required] of uncovered)
    t.notOk(covers(granted, required), `${granted} does not cover ${required}`)
})

t.test('the granted scopes are those requested and allowed, in the order requested, without repeats', async t => {
  t.strictSame(grantScopes(parseScope('b:x a b:x c'), ['a', 'b']), ['b:x', 'a'])
  t.strictSame(grantScopes([], ['a']), [])
})

t.test('requesting only scopes that are not allowed is invalid_scope', async t => {
  t.throws(() => grantScopes(['c'], ['a', 'b']), { code: 'invalid_scope' })
})

t.test('several spaces in a scope count as one, and a scope of spaces alone requests none', async t => {
  t.strictSame(parseScope('  a   b '), ['a', 'b'])
  t.strictSame(parseScope(' '), [])
  t.strictSame(parseScope(''), [])
})

t.test('a scope outside the grammar of RFC 6749 section 3.3 is invalid_scope', async t => {
  for (const scope of ['a"b', 'a\\b', 'a\tb', 'é', 'a\u0000']) {
    t.throws(() => parseScope(scope), { code: 'invalid_scope' }, JSON.stringify(scope))
  }
  t.notOk(isScopeToken('a b'))
})

t.test('a scope of more than 100 parts or 4096 characters is invalid_scope', async t => {
  const parts = Array.from({ length: 101 }, (_, i) => `a:${i}`)
  t.equal(parseScope(parts.slice(1).join(' ')).length, 100)
  t.equal(parseScope('a '.repeat(2000).trim()).length, 1, 'repeats do not count')
  t.equal(parseScope('a'.repeat(4096)).length, 1)
  t.throws(() => parseScope(parts.join(' ')), { code: 'invalid_scope' })
  t.throws(() => parseScope('a'.repeat(4097)), { code: 'invalid_scope' })
})

t.test('a modifier begins at the first dot of the last segment', async t => {
  t.ok(covers('a', 'a.x.readonly'))
  t.ok(covers('a.x.readonly', 'a:b.x.readonly'))
  t.notOk(covers('a.x.readonly', 'a.x:b.readonly'), 'another path')
  t.notOk(covers('a.readonly', 'a.x.readonly'), 'another modifier')
  t.ok(covers('a.x', 'a.x'))
  t.ok(covers('a.x:b', 'a.x:b:c.readonly'), 'a dot in an earlier segment is a part of its name')
})
