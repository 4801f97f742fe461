import t from 'tap'
import { printable, toPrintableJson } from '../../../app/cli/printable.js'

t.test('text that a person can read is printed as it stands', async t => {
  for (const text of ['ada', 'Ærø 北京 עברית हिन्दी', 'é e\u0301', '🦸🏽', '\\u{1b}', 'C:\\heroes', '  ']) {
    t.equal(printable(text), text)
  }
})

t.test('every control and formatting character, separator of lines and lone half of a pair is escaped', async t => {
  let unseen = 0
  const wrong: string[] = []
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code)
    if (!/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(character)) continue
    unseen += 1
    const escaped = `\\u{${code.toString(16)}}`
    // Gathered, as one assertion for each of several thousand would take seconds.
    if (printable(`a${character}b`) !== `a${escaped}b`) wrong.push(escaped)
    const json = toPrintableJson([character])
    if (!/^\["[ -~]+"\]$/.test(json) || JSON.parse(json)[0] !== character) wrong.push(json)
  }
  t.ok(unseen > 2000)
  t.strictSame(wrong.slice(0, 10), [])
  t.equal(printable('\ud800\ud83e\uddb8\udc00'), '\\u{d800}🦸\\u{dc00}')
})

t.test('JSON that holds nothing to escape is what JSON.stringify makes', async t => {
  for (const value of [null, [], { id: 1, name: 'Ærø 🦸 "\\"' }, 'a']) {
    t.equal(toPrintableJson(value), JSON.stringify(value))
  }
})
