import t from 'tap'
import { createLinkedList } from '../../../../adapters/postgres/connection/linked-list.js'

/** Items `a`, `b` and `c`. `rest` takes all that are left, from the first on. */
const createItems = () => {
  const list = createLinkedList<string>()
  const [a, b, c] = [list.add('a'), list.add('b'), list.add('c')]
  const rest = () => {
    const items: string[] = []
    for (let place = list.first; place !== undefined; place = list.first) {
      items.push(place.item)
      list.remove(place)
    }
    return items
  }
  return { list, a, b, c, rest }
}

t.test('items come in the order in which they were added, whichever were taken out', async t => {
  for (const [names, left] of [
    [[], ['a', 'b', 'c']],
    [['a'], ['b', 'c']],
    [['b'], ['a', 'c']],
    [['c'], ['a', 'b']],
    [['a', 'b', 'c'], []],
    [['c', 'b', 'a'], []]
  ] as const) {
    const { list, rest, ...places } = createItems()
    for (const name of names) list.remove(places[name])
    t.equal(list.size, left.length)
    t.strictSame(rest(), left, `without ${names}`)
    t.equal(list.size, 0)
    list.add('d')
    t.strictSame(rest(), ['d'], 'another can be added')
  }
})

t.test('an item is taken out once, and its place points to no other afterwards', async t => {
  const { list, b, rest } = createItems()
  list.remove(b)
  t.strictSame(b, { item: 'b', before: undefined, after: undefined })
  list.remove(b)
  t.equal(list.size, 2)
  t.strictSame(rest(), ['a', 'c'])
})
