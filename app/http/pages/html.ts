/** Markup in which every inserted text has been escaped. */
export interface Html {
  readonly markup: string
}

type Insertable = string | Html | readonly Html[]

/** A tag for templates of markup. It escapes every inserted text, and inserts markup as it is. */
export const html = (literals: TemplateStringsArray, ...values: readonly Insertable[]): Html => ({
  markup: String.raw({ raw: literals }, ...values.map(rendered))
})

const rendered = (value: Insertable): string => {
  if (typeof value === 'string') return escaped(value)
  if ('markup' in value) return value.markup
  return value.map(({ markup }) => markup).join('')
}

const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
