import { hash } from 'node:crypto'
import { negotiate } from '@fastify/accept-negotiator'
import type { Headers } from '../headers.js'
import { type Html, html } from './html.js'

/** The languages of the pages. The first is for people who understand none of them. */
const LANGUAGES = ['en', 'de', 'fr', 'es'] as const

export type Language = (typeof LANGUAGES)[number]

/**
 * The language for a person whose browser sends this `Accept-Language` (RFC 9110 section 12.5.4). A range such as
 * `de-AT` means every German, because the pages do not tell regions apart.
 */
export const languageFor = (accepted: string | undefined): Language => {
  const ranges = (accepted ?? '').toLowerCase().replaceAll(/-[a-z0-9-]+/g, '')
  return negotiate(ranges, [...LANGUAGES]) ?? 'en'
}

/** The colours of the pages: in light, and in dark. */
const COLOURS: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  ground: ['#f3f4f6', '#13161a'],
  card: ['#ffffff', '#1c2026'],
  line: ['#d9dde3', '#333a44'],
  text: ['#1a1f26', '#e7eaee'],
  quiet: ['#4c5562', '#aab3bf'],
  field: ['#ffffff', '#14171c'],
  edge: ['#7a8492', '#818b99'],
  accent: ['#1a53a6', '#8db8f7'],
  'accent-hover': ['#14427f', '#b0cefa'],
  'on-accent': ['#ffffff', '#10243f'],
  error: ['#9c1c1c', '#ffb3ad'],
  'error-ground': ['#fdf2f2', '#341f21']
}
const properties = (shade: 0 | 1): string =>
  Object.entries(COLOURS)
    .map(([name, shades]) => `--${name}: ${shades[shade]}`)
    .join('; ')

/** The colours of every page as custom properties. */
export const PALETTE = `:root { color-scheme: light dark; ${properties(0)} }
@media (prefers-color-scheme: dark) { :root { ${properties(1)} } }
`

// Lengths are in rem, so that a larger font in the browser's settings enlarges everything. There is no rule for reduced
// motion, because nothing moves. Where the system forces its own colours, only its transparent border makes the button
// visible. The scroll margin of the inputs keeps the message above them in sight when a low window scrolls to the
// focused input.
const STYLE = `
${PALETTE}*, *::before, *::after { box-sizing: border-box }
html { font-size: 100%; -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
body {
  margin: 0;
  min-height: 100vh;
  display: grid;
  align-items: center;
  justify-items: center;
  padding: 1.5rem;
  background: var(--ground);
  color: var(--text);
  font-family: system-ui, sans-serif;
  line-height: 1.5;
  overflow-wrap: anywhere;
}
main {
  width: 100%;
  max-width: 26rem;
  padding: 2.25rem 2rem 2rem;
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: .75rem;
}
h1 { margin: 0 0 .75rem; font-size: 1.5rem; font-weight: 650; line-height: 1.25 }
p { margin: 0 }
p + p { margin-top: .75rem }
ul {
  list-style: none;
  margin: .5rem 0 0;
  padding: 0;
  border: 1px solid var(--line);
  border-radius: .5rem;
}
li { padding: .5rem .875rem }
li + li { border-top: 1px solid var(--line) }
code {
  display: block;
  color: var(--quiet);
  font-family: ui-monospace, monospace;
  font-size: .8125rem;
}
code:only-child { color: inherit; font-size: .9375rem }
pre {
  margin: .75rem 0;
  padding: .75rem .875rem;
  background: var(--field);
  border: 1px solid var(--line);
  border-radius: .5rem;
  font-family: ui-monospace, monospace;
  font-size: .8125rem;
  white-space: pre-wrap;
  user-select: all;
}
#message {
  margin-top: 1.25rem;
  padding: .75rem .875rem;
  background: var(--error-ground);
  border-inline-start: .25rem solid var(--error);
  border-radius: .25rem;
  color: var(--error);
}
form { margin-top: 1.5rem }
label { display: block; margin-bottom: .375rem; font-weight: 600 }
.field + .field { margin-top: 1.125rem }
.quiet { color: var(--quiet); font-size: .875rem }
.field .quiet { margin-top: .5rem }
.quiet + .quiet { margin-top: .375rem }
.last { margin-top: 1.25rem }
fieldset { margin: 0 0 1.5rem; padding: 0; border: 0; min-width: 0 }
legend { padding: 0; font-size: 1.125rem; font-weight: 650 }
li .quiet { margin-top: .125rem }
#done { padding: .75rem .875rem; border-inline-start: .25rem solid var(--accent); background: var(--ground); border-radius: .25rem }
.box { display: flex; gap: .625rem; align-items: center; min-height: 2rem; margin: 0 }
ul + .box, .quiet + .box { margin-top: .75rem }
.box input { flex: none; width: 1.25rem; min-height: 1.25rem; margin: 0; accent-color: var(--accent) }
input, button {
  width: 100%;
  min-height: 2.75rem;
  border-radius: .5rem;
  font: inherit;
}
input {
  padding: .5rem .75rem;
  background: var(--field);
  border: 1px solid var(--edge);
  color: inherit;
  scroll-margin-top: min(16rem, 60vh);
}
button {
  margin-top: 1.5rem;
  padding: .5rem 1rem;
  background: var(--accent);
  border: 1px solid transparent;
  color: var(--on-accent);
  font-weight: 600;
  cursor: pointer;
}
button:hover { background: var(--accent-hover) }
.secondary { margin-top: .75rem; background: transparent; border-color: var(--edge); color: inherit }
.secondary:hover { background: var(--ground) }
.links { margin-top: 1.25rem }
.links p + p { margin-top: .25rem }
a { display: inline-block; padding: .125rem 0; color: var(--accent); text-underline-offset: .15em }
a:hover { color: var(--accent-hover) }
.id { font-family: ui-monospace, monospace; user-select: all }
:focus-visible { outline: .1875rem solid var(--accent); outline-offset: .125rem }
@media (max-width: 30rem) {
  body { min-height: 0; padding: 0; align-items: start; background: var(--card) }
  main { padding: 1.5rem 1.25rem; border: 0; border-radius: 0 }
  h1 { font-size: 1.3125rem }
}
`

/** The headers of a page: no other site loads it as a part of its own or learns its address. */
export const headersWith = (cacheControl: string, policy: Readonly<Record<string, string>>): Headers => ({
  'content-type': 'text/html; charset=utf-8',
  'cache-control': cacheControl,
  'content-security-policy': Object.entries(policy)
    .map(directive => directive.join(' '))
    .join(';'),
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer'
})

// There is no `form-action`: Chrome applies it to the redirect that answers the form as well, and that redirect leads to the
// client. `default-src` does not limit where forms are sent. It keeps Chrome from asking for /favicon.ico; a
// `<link rel="icon">` would violate it.
export const PAGE_POLICY = {
  'default-src': "'none'",
  'style-src': `'sha256-${hash('sha256', STYLE, 'base64')}'`,
  'frame-ancestors': "'none'",
  'base-uri': "'none'"
}
const HEADERS = headersWith('no-store', PAGE_POLICY)

/** The headers of every page in a language, whatever its status. */
export const pageHeaders = (language: Language): Headers => ({
  ...HEADERS,
  'content-language': language,
  vary: 'accept-language'
})

// Not escaped: the browser compares the hash of exactly this text with that of the policy.
const STYLE_ELEMENT: Html = { markup: `<style>${STYLE}</style>` }

/** A complete HTML document around `content`. Escapes the title. */
export const page = (language: Language, title: string, content: Html): string =>
  htmlDocument(language, title, STYLE_ELEMENT, html`<main>\n${content}\n</main>`)

/** A complete HTML document. Escapes the title. */
export const htmlDocument = (language: Language, title: string, head: Html, body: Html): string =>
  html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
${head}
</head>
<body>
${body}
</body>
</html>
`.markup
