import { type Html, html } from './html.js'
import { headersWith, htmlDocument } from './layout.js'

/** The addresses of the files that `/docs` is made of, relative to the page. */
interface DocsFiles {
  readonly style: string
  readonly ownStyle: string
  readonly script: string
  readonly bundle: string
}

/** Everything comes from the service itself. The images are those that the style holds as `data:` URLs. */
const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': 'data:',
  'connect-src': "'self'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
  'base-uri': "'none'"
}

/** The headers of `/docs`. */
export const DOCS_HEADERS = headersWith('no-cache', POLICY)

/** The headers of `/docs/callback`, whose address holds a code. */
export const DOCS_CALLBACK_HEADERS = headersWith('no-store', { ...POLICY, 'connect-src': "'none'" })

const page = (title: string, styles: readonly string[], script: string, content: Html): string =>
  htmlDocument(
    'en',
    title,
    html`<link rel="icon" href="data:,">
${styles.map(style => html`<link rel="stylesheet" href="${style}">\n`)}<script src="${script}" defer></script>`,
    content
  )

/** The interactive page: a shell that its script fills. Escapes every text. */
export const docsPage = (publicUrl: string, { style, ownStyle, script, bundle }: DocsFiles): string =>
  page(
    'Heroes API',
    [style, ownStyle],
    script,
    html`<div id="docs" data-public-url="${publicUrl}" data-bundle="${bundle}">
<main>
<h1>Heroes API</h1>
<p>This page is at <a href="${publicUrl}/docs">${publicUrl}/docs</a> and needs scripts. What it shows is in
<a href="openapi.json">openapi.json</a>.</p>
</main>
</div>`
  )

/** The page to which the login page leads back. Its script closes it, unless nothing waits for it. */
export const docsCallbackPage = ({ ownStyle, script }: Pick<DocsFiles, 'ownStyle' | 'script'>): string =>
  page(
    'Back to the documentation',
    [ownStyle],
    script,
    html`<div id="docs">
<main>
<h1>Nothing waits for this page</h1>
<p>Go to <a href="../docs">the documentation</a> and choose “Authorize” there.</p>
</main>
</div>`
  )
