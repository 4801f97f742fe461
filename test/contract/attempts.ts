import assert from 'node:assert/strict'
import { latest } from '../../core/instants.js'
import type { AttemptLimit, FullWindow } from '../../core/ports.js'
import { at, type CreateStores, rivals, rounds, same, someDigest, type TestFunction, tamper } from './records.js'

const WINDOW = 900

const limits = (most: number, ...keys: string[]): AttemptLimit[] => keys.map(key => ({ key, most }))

/** When the last of the full windows ends; undefined when the attempt was counted. */
const end = async (taken: Promise<readonly FullWindow[] | undefined>): Promise<Date | undefined> => {
  const [first, ...others] = (await taken)?.map(({ endsAt }) => endsAt) ?? []
  return first && latest(first, ...others)
}

const keysAndTimes = async (taken: Promise<readonly FullWindow[] | undefined>) =>
  (await taken)?.map(({ key, countedAt }) => [key, countedAt])

const failures = async (taken: Promise<readonly FullWindow[] | undefined>) =>
  (await taken)?.map(({ failures }) => failures)

export const attemptContract = (test: TestFunction, createStores: CreateStores): void => {
  test('attempts are counted up to the limit, and the next one is told when the window ends', async () => {
    const { attempts } = await createStores()
    const three = limits(3, someDigest())
    assert.equal(await attempts.take(three, at(0), WINDOW), undefined)
    assert.equal(await attempts.take(three, at(1), WINDOW), undefined)
    assert.equal(await attempts.take(three, at(899), WINDOW), undefined)
    same(await end(attempts.take(three, at(899.5), WINDOW)), at(900), 'a window begins with its first attempt')
    same(await end(attempts.take(three, at(899.999), WINDOW)), at(900), 'a refused attempt moves nothing')
  })

  test('a new window begins with the first attempt after the end of the last window', async () => {
    const { attempts } = await createStores()
    const one = limits(1, someDigest())
    await attempts.take(one, at(0), WINDOW)
    same(await end(attempts.take(one, at(1), WINDOW)), at(900))
    assert.equal(await attempts.take(one, at(1000), WINDOW), undefined)
    same(await end(attempts.take(one, at(1001), WINDOW)), at(1900))
    assert.equal(await attempts.take(one, at(1900), WINDOW), undefined, 'the returned instant is late enough')
  })

  test('a window has the length that its first attempt asks for, to the millisecond', async () => {
    const { attempts } = await createStores()
    const [short, long] = [limits(1, someDigest()), limits(1, someDigest())]
    await attempts.take(short, at(0.001), 1)
    await attempts.take(long, at(0.002), 31_536_000)
    same(await end(attempts.take(short, at(0.5), 900)), at(1.001))
    same(await end(attempts.take(long, at(1), 1)), at(31_536_000.002))
  })

  test('each key is counted by itself, by its own limit', async () => {
    const { attempts } = await createStores()
    const [a, b] = [someDigest(), someDigest()]
    assert.equal(await attempts.take(limits(1, a), at(0), WINDOW), undefined)
    assert.equal(await attempts.take(limits(1, b), at(0), WINDOW), undefined)
    assert.ok(await attempts.take(limits(1, a), at(1), WINDOW))
    assert.equal(await attempts.take(limits(2, a), at(1), WINDOW), undefined)
  })

  test('an attempt that one key refuses is counted under no key', async () => {
    const { attempts } = await createStores()
    const [full, free] = [someDigest(), someDigest()]
    await attempts.take(limits(1, full), at(0), WINDOW)
    for (const keys of [limits(1, full, free), limits(1, free, full)]) {
      same(await end(attempts.take(keys, at(1), WINDOW)), at(900))
    }
    assert.equal(await attempts.take(limits(1, free), at(500), WINDOW), undefined, 'there is still room')
    same(await end(attempts.take(limits(1, free), at(501), WINDOW)), at(1400), 'and no window had begun')
  })

  test('an attempt that one key refuses changes no window of another key', async () => {
    const { attempts } = await createStores()
    const [full, begun] = [someDigest(), someDigest()]
    await attempts.take(limits(1, full), at(0), WINDOW)
    await attempts.take(limits(3, begun), at(1), WINDOW)
    for (const keys of [
      [full, begun],
      [begun, full]
    ]) {
      const some = keys.map(key => ({ key, most: key === full ? 1 : 3 }))
      same(await keysAndTimes(attempts.take(some, at(2), WINDOW)), [[full, at(0)]])
    }
    same(await keysAndTimes(attempts.take(limits(1, begun), at(3), WINDOW)), [[begun, at(1)]])
    for (const later of [4, 5]) assert.equal(await attempts.take(limits(3, begun), at(later), WINDOW), undefined)
    same(await end(attempts.take(limits(3, begun), at(6), WINDOW)), at(901))
  })

  test('when several windows are full, the end of the last one is returned', async () => {
    const { attempts } = await createStores()
    const [early, late, free] = [someDigest(), someDigest(), someDigest()]
    await attempts.take(limits(1, early), at(0), WINDOW)
    await attempts.take(limits(1, late), at(60), WINDOW)
    await attempts.take(limits(5, free), at(120), WINDOW)
    for (const keys of [
      [early, late, free],
      [free, late, early]
    ]) {
      const some = keys.map(key => ({ key, most: key === free ? 5 : 1 }))
      same(await end(attempts.take(some, at(130), WINDOW)), at(960))
    }
  })

  test('a refused attempt is told every full window, and no other', async () => {
    const { attempts } = await createStores()
    const [early, late, free] = [someDigest(), someDigest(), someDigest()]
    await attempts.take(limits(1, early), at(0), WINDOW)
    await attempts.take(limits(1, late), at(60), 100)
    const some = [...limits(1, free), ...limits(1, late), ...limits(1, early)]
    const full = await attempts.take(some, at(70), WINDOW)
    const window = { failures: 0 }
    same(
      new Set(full),
      new Set([
        { key: early, endsAt: at(900), countedAt: at(0), ...window },
        { key: late, endsAt: at(160), countedAt: at(60), ...window }
      ])
    )
  })

  test('a full window tells when its last attempt was counted', async () => {
    const { attempts } = await createStores()
    const [key, other] = [someDigest(), someDigest()]
    await attempts.take(limits(2, key, other), at(0), WINDOW)
    await attempts.take(limits(2, key), at(10.001), WINDOW)
    for (const later of [20, 30]) {
      same(await keysAndTimes(attempts.take(limits(2, key), at(later), WINDOW)), [[key, at(10.001)]])
    }
    same(await keysAndTimes(attempts.take(limits(1, other), at(40), WINDOW)), [[other, at(0)]])
    await attempts.take(limits(2, key), at(1000), WINDOW)
    same(await attempts.take(limits(1, key), at(1001), WINDOW), [
      { key, countedAt: at(1000), endsAt: at(1900), failures: 0 }
    ])
  })

  test('a full window tells how many of its attempts have failed, and a new window has no failures', async () => {
    const { attempts } = await createStores()
    const [key, other] = [someDigest(), someDigest()]
    for (let i = 0; i < 3; i++) await attempts.take(limits(3, key, other), at(i), WINDOW)
    const failuresOf = (...keys: string[]) => failures(attempts.take(limits(3, ...keys), at(10), WINDOW))
    same(await failuresOf(key, other), [0, 0])
    await attempts.fail([key, other])
    await attempts.fail([other])
    same([await failuresOf(key), await failuresOf(other)], [[1], [2]])
    await attempts.giveBack([other], undefined)
    await attempts.take(limits(3, other), at(11), WINDOW)
    same(await failuresOf(other), [2], 'an attempt that is given back had not failed')
    for (let i = 0; i < 5; i++) await attempts.fail([key])
    same(await failuresOf(key), [3], 'no more attempts fail than are counted')
    for (let i = 0; i < 3; i++) await attempts.take(limits(3, key), at(1000), WINDOW)
    same(await failures(attempts.take(limits(3, key), at(1001), WINDOW)), [0])
  })

  test('a failure under a key without attempts is no attempt', async () => {
    const { attempts } = await createStores()
    const [cleared, unknown] = [someDigest(), someDigest()]
    await attempts.take(limits(1, cleared), at(0), WINDOW)
    await attempts.giveBack([], cleared)
    await attempts.fail([cleared, unknown])
    await attempts.fail([])
    for (const key of [cleared, unknown]) {
      assert.equal(await attempts.take(limits(1, key), at(1), WINDOW), undefined)
      same(await failures(attempts.take(limits(1, key), at(2), WINDOW)), [0])
    }
  })

  test('an attempt that is given back makes room for another, unless it was never counted', async () => {
    const { attempts } = await createStores()
    const [key, unknown, pair] = [someDigest(), someDigest(), someDigest()]
    await attempts.take(limits(2, key), at(0), WINDOW)
    await attempts.take(limits(2, key), at(1), WINDOW)
    await attempts.giveBack([key, unknown], pair)
    assert.equal(await attempts.take(limits(2, key), at(2), WINDOW), undefined)
    same(await end(attempts.take(limits(2, key), at(3), WINDOW)), at(900))
    assert.equal(await attempts.take(limits(1, unknown), at(2), WINDOW), undefined)
    assert.ok(await attempts.take(limits(1, unknown), at(3), WINDOW), 'a count does not fall below nothing')
    for (let i = 0; i < 5; i++) await attempts.giveBack([unknown], pair)
    assert.equal(await attempts.take(limits(1, unknown), at(4), WINDOW), undefined)
    assert.ok(await attempts.take(limits(1, unknown), at(5), WINDOW), 'a count does not fall below nothing')
  })

  test('a key whose attempts were all given back is not stored any more', async () => {
    const { attempts } = await createStores()
    const [key, other] = [someDigest(), someDigest()]
    const limits = [
      { key, most: 5 },
      { key: other, most: 5 }
    ]
    await attempts.take(limits, at(0), 60)
    await attempts.take([{ key, most: 5 }], at(0), 60)
    await attempts.giveBack([key, other], undefined)
    assert.equal(await attempts.removeExpired(at(61), 10), 1)
    await attempts.take([{ key, most: 5 }], at(100), 60)
    await attempts.giveBack([key], undefined)
    assert.equal(await attempts.removeExpired(at(200), 10), 0)
  })

  test('a cleared key has no attempts, and its next window begins anew', async () => {
    const { attempts } = await createStores()
    const [user, pair, other] = [someDigest(), someDigest(), someDigest()]
    for (let i = 0; i < 3; i++) await attempts.take(limits(3, user, pair, other), at(i), WINDOW)
    await attempts.giveBack([user], pair)
    for (let i = 0; i < 3; i++) assert.equal(await attempts.take(limits(3, pair), at(100), WINDOW), undefined)
    same(await end(attempts.take(limits(3, pair), at(101), WINDOW)), at(1000))
    assert.equal(await attempts.take(limits(3, user), at(102), WINDOW), undefined)
    same(await end(attempts.take(limits(3, user), at(103), WINDOW)), at(900))
    same(await end(attempts.take(limits(3, other), at(104), WINDOW)), at(900), 'other keys keep theirs')
  })

  test('an attempt that is given back from every key clears no key', async () => {
    const { attempts } = await createStores()
    const [user, pair] = [someDigest(), someDigest()]
    for (let i = 0; i < 3; i++) await attempts.take(limits(3, user, pair), at(i), WINDOW)
    await attempts.giveBack([user, pair], undefined)
    for (const key of [user, pair]) {
      assert.equal(await attempts.take(limits(3, key), at(100), WINDOW), undefined)
      same(await end(attempts.take(limits(3, key), at(101), WINDOW)), at(900), 'in the window as it was')
    }
    await attempts.giveBack([], undefined)
    same(await end(attempts.take(limits(3, pair), at(102), WINDOW)), at(900))
  })

  test('an attempt under no key is always counted', async () => {
    const { attempts } = await createStores()
    assert.equal(await attempts.take([], at(0), WINDOW), undefined)
    await attempts.giveBack([], someDigest())
  })

  test('a change to a returned instant does not change the store', async () => {
    const { attempts } = await createStores()
    const one = limits(1, someDigest())
    const now = at(0)
    await attempts.take(one, now, WINDOW)
    tamper(now)
    tamper(await attempts.take(one, at(1), WINDOW))
    same(await end(attempts.take(one, at(1), WINDOW)), at(900))
  })

  test('twenty attempts at once are counted up to the limit', async () => {
    const { attempts } = await createStores()
    for (const most of [1, 10, 19]) {
      const some = limits(most, someDigest())
      const answers = await rivals(() => end(attempts.take(some, at(0), WINDOW)))
      assert.equal(answers.filter(answer => answer === undefined).length, most)
      same(
        answers.filter(answer => answer !== undefined),
        Array.from({ length: 20 - most }, () => at(900))
      )
    }
  })

  test('twenty attempts at once after the end of a window are counted up to the limit', async () => {
    const { attempts } = await createStores()
    const some = limits(5, someDigest())
    for (let i = 0; i < 5; i++) await attempts.take(some, at(0), WINDOW)
    const answers = await rivals(() => attempts.take(some, at(1000), WINDOW))
    assert.equal(answers.filter(answer => answer === undefined).length, 5)
  })

  test('concurrent attempts under the same keys in different orders do not disturb each other', async () => {
    const { attempts } = await createStores()
    const [a, b, c] = [someDigest(), someDigest(), someDigest()]
    const orders = [
      [a, b, c],
      [c, b, a],
      [b, a, c],
      [c, a, b]
    ]
    const answers = await rivals(rival => attempts.take(limits(7, ...(orders[rival % 4] ?? [])), at(0), WINDOW))
    assert.equal(answers.filter(answer => answer === undefined).length, 7)
    await rivals(rival => attempts.fail(orders[rival % 4] ?? []))
    same(await failures(attempts.take(limits(7, a, b, c), at(1), WINDOW)), [7, 7, 7])
    await rivals(rival => attempts.giveBack((orders[rival % 4] ?? []).slice(0, 2), orders[rival % 4]?.[2] ?? a))
    assert.equal(await attempts.take(limits(7, a, b, c), at(1), WINDOW), undefined)
  })

  test('each of twenty attempts that are given back at once makes room for another', async () => {
    const { attempts } = await createStores()
    const some = limits(20, someDigest())
    const fill = (): Promise<unknown[]> => rivals(() => attempts.take(some, at(0), WINDOW))
    same([...new Set(await fill())], [undefined])
    const counted = some.map(({ key }) => key)
    await rivals(() => attempts.giveBack(counted, undefined))
    same([...new Set(await fill())], [undefined])
    assert.ok(await attempts.take(some, at(0), WINDOW))
  })

  test('an attempt that is given back during another attempt is neither lost nor given back twice', async () => {
    const { attempts } = await createStores()
    await rounds(
      async () => {
        const key = someDigest()
        await attempts.take(limits(2, key), at(0), WINDOW)
        return key
      },
      key => attempts.giveBack([key], someDigest()),
      key => attempts.take(limits(2, key), at(1), WINDOW),
      async (key, _, refused) => {
        assert.equal(refused, undefined)
        assert.equal(await attempts.take(limits(2, key), at(2), WINDOW), undefined)
        assert.ok(await attempts.take(limits(2, key), at(3), WINDOW))
      }
    )
  })

  test('a login is known until the last instant that was stored for it', async () => {
    const { attempts } = await createStores()
    const [key, other] = [someDigest(), someDigest()]
    assert.equal(await attempts.findKnown(key), undefined)
    await attempts.giveBack([], undefined, { key, until: at(100) })
    same(await attempts.findKnown(key), at(100))
    await attempts.giveBack([someDigest()], someDigest(), { key, until: at(200.001) })
    await attempts.giveBack([], undefined, { key, until: at(150) })
    await attempts.giveBack([], undefined)
    same(await attempts.findKnown(key), at(200.001))
    assert.equal(await attempts.findKnown(other), undefined)
  })

  test('what is known is stored with what is given back, and counts nowhere', async () => {
    const { attempts } = await createStores()
    const [user, pair] = [someDigest(), someDigest()]
    await attempts.take(limits(1, user, pair), at(0), WINDOW)
    await attempts.giveBack([user], pair, { key: user, until: at(100) })
    assert.equal(await attempts.take(limits(1, user, pair), at(1), WINDOW), undefined)
    same(await attempts.findKnown(user), at(100))
  })

  test('of twenty logins that become known at once the last instant is stored', async () => {
    const { attempts } = await createStores()
    const key = someDigest()
    const pair = someDigest()
    await rivals(rival => attempts.giveBack([], pair, { key, until: at(100 + ((7 * rival) % 20)) }))
    same(await attempts.findKnown(key), at(119))
  })

  test('a change to an instant until which a login is known does not change the store', async () => {
    const { attempts } = await createStores()
    const login = { key: someDigest(), until: at(100) }
    const { key } = login
    await attempts.giveBack([], undefined, login)
    tamper(login)
    tamper(await attempts.findKnown(key))
    same(await attempts.findKnown(key), at(100))
  })

  test('logins that are known no longer are removed, up to the limit, together with ended windows', async () => {
    const { attempts } = await createStores()
    const ended = Array.from({ length: 3 }, someDigest)
    const [current = '', windowed] = [someDigest(), someDigest()]
    for (const key of ended) await attempts.giveBack([], undefined, { key, until: at(900) })
    await attempts.giveBack([], undefined, { key: current, until: at(901) })
    for (const key of [windowed, someDigest()]) await attempts.take(limits(1, key), at(0), WINDOW)
    assert.equal(await attempts.removeExpired(at(900), 1000), 0)
    assert.equal(await attempts.removeExpired(at(901), 4), 4)
    assert.equal(await attempts.removeExpired(at(901), 4), 1)
    assert.equal(await attempts.removeExpired(at(901), 4), 0)
    for (const key of ended) assert.equal(await attempts.findKnown(key), undefined)
    same(await attempts.findKnown(current), at(901))
  })

  test('ended windows are removed, up to the limit, and other windows keep their counts', async () => {
    const { attempts } = await createStores()
    const ended = Array.from({ length: 5 }, someDigest)
    const current = someDigest()
    for (const key of ended) await attempts.take(limits(1, key), at(0), WINDOW)
    await attempts.take(limits(1, current), at(60), WINDOW)
    for (const early of [899, 900]) assert.equal(await attempts.removeExpired(at(early), 1000), 0)
    assert.equal(await attempts.removeExpired(at(901), 2), 2)
    assert.equal(await attempts.removeExpired(at(901), 2), 2)
    assert.equal(await attempts.removeExpired(at(901), 2), 1)
    assert.equal(await attempts.removeExpired(at(901), 2), 0)
    same(await end(attempts.take(limits(1, current), at(901), WINDOW)), at(960))
  })

  test('a new window is not removed with the ended window before it', async () => {
    const { attempts } = await createStores()
    const one = limits(1, someDigest())
    await attempts.take(one, at(0), WINDOW)
    await attempts.take(one, at(1000), WINDOW)
    assert.equal(await attempts.removeExpired(at(1001), 10), 0)
    same(await end(attempts.take(one, at(1002), WINDOW)), at(1900))
  })

  test('concurrent removals of ended windows leave none and remove none twice', async () => {
    const { attempts } = await createStores()
    const keys = Array.from({ length: 20 }, someDigest)
    for (const key of keys) await attempts.take(limits(1, key), at(0), WINDOW)
    const removed = await rivals(() => attempts.removeExpired(at(901), 3))
    const rest = await attempts.removeExpired(at(901), 100)
    assert.equal(
      removed.reduce((sum, count) => sum + count, rest),
      20
    )
    assert.equal(await attempts.removeExpired(at(901), 100), 0)
  })

  test('an attempt during the removal of its ended window is counted', async () => {
    const { attempts } = await createStores()
    await rounds(
      async () => {
        const one = limits(1, someDigest())
        await attempts.take(one, at(0), WINDOW)
        return one
      },
      one => attempts.take(one, at(1000), WINDOW),
      () => attempts.removeExpired(at(1000), 1000),
      async (one, refused) => {
        assert.equal(refused, undefined)
        same(await end(attempts.take(one, at(1001), WINDOW)), at(1900))
      }
    )
  })
}
