import t from 'tap'
import { toNfc } from '../../core/nfc.js'
import { createWorld } from '../support/world.js'

const MAX = 1024
/** Marks of two combining classes, in the order that NFC changes. */
const disordered = (count: number): string =>
  `a${'\u0315'.repeat(Math.ceil(count / 2))}${'\u0316'.repeat(Math.floor(count / 2))}`

t.test('a text that may have as many characters as are allowed is brought into NFC', async t => {
  const texts = [
    '',
    'e\u0301',
    'ω\u0314\u0342\u0345'.repeat(MAX),
    '\u1112\u1161\u11ab'.repeat(MAX),
    '🦸'.repeat(MAX),
    // Signs of two parts: marks that are no non-starters, and one that is.
    '\u09c7\u09be'.repeat(MAX),
    '\u0dd9\u0dcf\u0dca'.repeat(MAX),
    disordered(MAX - 1),
    disordered(MAX + 3),
    `${'\u{1d16d}\u{1d165}'.repeat(350)}${disordered(200)}`
  ]
  for (const text of texts) t.equal(toNfc(text, MAX), text.normalize('NFC'), text.slice(0, 4))
})

t.test(
  'a text that is too long by its marks alone, or by far, is returned as it is, without being put into order',
  async t => {
    const texts = [
      disordered(MAX + 4),
      disordered(8 * MAX - 1),
      `${disordered(700)}${disordered(700)}`,
      `a${'\u0345\u0316'.repeat(MAX)}`,
      `a${'\u0301\u{1e8d0}'.repeat(MAX)}`,
      'e\u0301'.repeat(4 * MAX + 1)
    ]
    for (const text of texts) {
      t.equal(toNfc(text, MAX), text, text.slice(0, 4))
      t.not(text.normalize('NFC'), text)
      t.ok([...text.normalize('NFC')].length > MAX)
    }
  }
)

t.test('of two users whose names are one in NFC, an operator removes the one whose name was typed', async t => {
  const { useCases, ports } = createWorld()
  await useCases.registerUser({ username: '\u00e9', password: 'x' })
  await ports.users.insert('e\u0301', await ports.passwords.hash('x'))
  await useCases.removeUser('e\u0301')
  t.ok(await ports.users.findByUsername('\u00e9'))
  t.notOk(await ports.users.findByUsername('e\u0301'))
})
