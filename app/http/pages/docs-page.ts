import { type Html, html } from './html.js'

/** The addresses of the files that `/docs` is made of, relative to the page. */
export interface DocsFiles {
  readonly style: string
  readonly ownStyle: string
  readonly script: string
  readonly bundle: string
}

const HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer'
}

const policy = (directives: Readonly<Record<string, string>>): string =>
  Object.entries(directives)
    .map(directive => directive.join(' '))
    .join(';')

/** Everything comes from the service itself. The images are those that the style holds as `data:` URLs. */
const CSP = {
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
export const DOCS_HEADERS: Readonly<Record<string, string>> = {
  ...HEADERS,
  'cache-control': 'no-cache',
  'content-security-policy': policy(CSP)
}

/** The headers of `/docs/callback`, whose address holds a code. */
export const DOCS_CALLBACK_HEADERS: Readonly<Record<string, string>> = {
  ...HEADERS,
  'cache-control': 'no-store',
  'content-security-policy': policy({ ...CSP, 'connect-src': "'none'" })
}

const page = (title: string, styles: readonly string[], script: string, data: Html, content: Html): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
${styles.map(style => html`<link rel="stylesheet" href="${style}">\n`)}<script src="${script}" defer></script>
</head>
<body${data}>
<div id="docs">
<main>
${content}
</main>
</div>
</body>
</html>
`.markup

/** The interactive page: a shell that its script fills. Escapes every text. */
export const docsPage = (publicUrl: string, { style, ownStyle, script, bundle }: DocsFiles): string =>
  page(
    'Heroes API',
    [style, ownStyle],
    script,
    html` data-public-url="${publicUrl}" data-bundle="${bundle}"`,
    html`<h1>Heroes API</h1>
<p>This page is at <a href="${publicUrl}/docs">${publicUrl}/docs</a> and needs scripts. What it shows is in
<a href="openapi.json">openapi.json</a>.</p>`
  )

/** The page to which the login page leads back. Its script closes it, unless nothing waits for it. */
export const docsCallbackPage = ({ ownStyle, script }: Pick<DocsFiles, 'ownStyle' | 'script'>): string =>
  page(
    'Back to the documentation',
    [ownStyle],
    script,
    html``,
    html`<h1>Nothing waits for this page</h1>
<p>Go to <a href="../docs">the documentation</a> and choose “Authorize” there.</p>`
  )
