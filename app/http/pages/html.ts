/** Markup in which every inserted text has been escaped. */
export interface Html {
  readonly markup: string
}

export type Insertable = string | Html | readonly Html[]

/** A tag for templates of markup. It escapes every inserted text, and inserts markup as it is. */
export function html(literals: TemplateStringsArray, ...values: readonly Insertable[]): Html {
  return { markup: String.raw({ raw: literals }, ...values.map(rendered)) }
}

function rendered(value: Insertable): string {
  if (typeof value === 'string') return escaped(value)
  if ('markup' in value) return value.markup
  return value.map(({ markup }) => markup).join('')
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
