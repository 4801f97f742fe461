/** The place of an item in a {@link LinkedList}. */
export interface Place<Item> {
  readonly item: Item
  before: Place<Item> | undefined
  after: Place<Item> | undefined
}

/** Items in the order in which they were added. Each can be taken out, wherever it stands. */
export interface LinkedList<Item> {
  readonly size: number
  readonly first: Place<Item> | undefined
  add(item: Item): Place<Item>
  /** Does nothing to a place that was removed before. */
  remove(place: Place<Item>): void
}

/**
 * In place of a `Set`. A `Set` that is emptied again and again makes a new table each time, and V8 has the old table
 * point to the new one: once one of them counts as an old object, all that follow outlive the quick garbage
 * collections. A place that was removed points to no other.
 */
export const createLinkedList = <Item>(): LinkedList<Item> => {
  let first: Place<Item> | undefined
  let last: Place<Item> | undefined
  let size = 0
  return {
    get size() {
      return size
    },
    get first() {
      return first
    },
    add(item) {
      const place: Place<Item> = { item, before: last, after: undefined }
      if (last === undefined) first = place
      else last.after = place
      last = place
      size += 1
      return place
    },
    remove(place) {
      const { before, after } = place
      if (before === undefined && first !== place) return
      if (before === undefined) first = after
      else before.after = after
      if (after === undefined) last = before
      else after.before = before
      place.before = undefined
      place.after = undefined
      size -= 1
    }
  }
}
