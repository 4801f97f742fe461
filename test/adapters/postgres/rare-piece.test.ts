import t from 'tap'
import type { Run } from '../../../adapters/postgres/connection/driver.js'
import { createRarePieces } from '../../../adapters/postgres/rare-piece.js'

/** A server with a sample of names, and how often it was asked for it. */
const serve = (names: readonly string[]) => {
  let asked = 0
  const run: Run = async () => {
    asked += 1
    return names.map(name => [name])
  }
  return { run, asked: () => asked }
}

const HEROES = ['hero 1', 'hero 22', 'hero 333', 'superhero 4444', '🦸hero']

t.test('the piece of a part is the longest without three characters that more than half of the names have', async t => {
  const { run } = serve(HEROES)
  const findPiece = createRarePieces()
  for (const [part, piece] of [
    ['hero 123', 'o 123'],
    ['123 hero', '123 he'],
    ['123 hero 45678', 'o 45678'],
    ['4567 hero 123', '4567 he'],
    ['🦸🦸hero', '🦸🦸he'],
    ['hero🦸🦸', 'ro🦸🦸'],
    // Nothing is left of it.
    ['hero', undefined],
    ['ero', undefined],
    // Nothing of it is frequent.
    ['superb', undefined],
    ['123', undefined],
    ['12', undefined]
  ] as const) {
    t.equal(await findPiece(run, part), piece, part)
  }
})

t.test('what half of the names have is not frequent', async t => {
  const { run } = serve(['hero 1', 'hero 2', 'villain 1', 'villain 2'])
  t.equal(await createRarePieces()(run, 'hero 1'), undefined)
})

t.test('without a sample there is no piece', async t => {
  const { run } = serve([])
  t.equal(await createRarePieces()(run, 'hero 123'), undefined)
})

t.test('where the sample may not be read there is no piece', async t => {
  const refuse: Run = async () => {
    throw new Error('permission denied for view pg_stats')
  }
  t.equal(await createRarePieces()(refuse, 'hero 123'), undefined)
})

t.test('searches that come before the sample is there do not ask for it as well', async t => {
  const { run, asked } = serve(HEROES)
  const findPiece = createRarePieces()
  t.same(await Promise.all([findPiece(run, 'hero 123'), findPiece(run, 'hero 123')]), ['o 123', undefined])
  t.equal(await findPiece(run, 'hero 123'), 'o 123')
  t.equal(asked(), 1)
})

t.test('the sample is read once a minute', async t => {
  let now = 0
  const { run, asked } = serve(HEROES)
  const findPiece = createRarePieces(() => now)
  for (const [at, times] of [
    [0, 1],
    [59_999, 1],
    [60_000, 2],
    [119_999, 2]
  ] as const) {
    now = at
    t.equal(await findPiece(run, 'hero 123'), 'o 123')
    t.equal(asked(), times)
  }
})
