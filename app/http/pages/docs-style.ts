import { PALETTE } from './layout.js'

/** The colour of a method. White letters on it have a contrast of 4.5 or more. */
const METHODS = { get: '#1a53a6', post: '#1b7040', put: '#8a5200', delete: '#a82222' }

const METHOD_RULES = Object.entries(METHODS)
  .map(([method, colour]) => `#docs .opblock-${method} .opblock-summary-method { background: ${colour} }`)
  .join('\n')

// `#docs` makes each rule more specific than those of Swagger UI, whose many classes for dark mode would win otherwise.
/** The style of `/docs` and `/docs/callback`, behind Swagger UI's own: the colours and shapes of the login page. */
export const DOCS_STYLE = `${PALETTE}
*, *::before, *::after { box-sizing: border-box }
html:root { background: var(--ground); font-size: 100%; -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
body {
  margin: 0;
  padding: 1.5rem;
  color: var(--text);
  font-family: system-ui, sans-serif;
  line-height: 1.5;
  overflow-wrap: break-word;
}
#docs {
  max-width: 60rem;
  margin: 0 auto;
  padding: 2.25rem 2rem 2rem;
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: .75rem;
}
#docs a { color: var(--accent) }
#docs a.nostyle { color: inherit }
#docs :focus-visible { outline: .1875rem solid var(--accent); outline-offset: .125rem }

#docs .swagger-ui { background: none; font-family: inherit }
#docs :is(.swagger-ui, h1, h2, h3, h4, h5, h6, p, li, label, td, th, .opblock-tag, .opblock-summary-path, .parameter__name, .model,
  .model-title, .response-col_status, section.models h4 span, .examples-select__section-label) { color: var(--text) }
#docs :is(.opblock-tag small, .parameter__in, .parameter__type, .parameter__extension, .prop-type, .prop-format, .tablinks,
  .response-control-media-type__accept-message, .opblock-summary-description, .tab li) { color: var(--quiet) }
#docs :is(.opblock-section-header-required, .parameter__name.required span, .parameter__name.required::after) { color: var(--error) }
#docs svg { fill: var(--text) }
#docs .wrapper { max-width: none; padding: 0 }
#docs .info { margin: 0 0 1.5rem }
#docs :is(.title, h1) { font-size: 1.5rem; font-weight: 650; line-height: 1.25 }
#docs .title small { background: var(--quiet) }
#docs .title small.version-stamp { background: ${METHODS.post} }
#docs .title small.version-stamp pre { color: #ffffff }
#docs .title small pre { color: var(--card) }
#docs .scheme-container { margin: 0 0 1.5rem; padding: 0; background: none; box-shadow: none }
#docs .auth-wrapper { justify-content: flex-start }
/* Swagger UI's own words about scopes; a link that copies a path; a column for links, which the document has none of. */
#docs :is(.scope-def, .view-line-link, .response-col_links) { display: none }

#docs .opblock-tag { border-bottom: 1px solid var(--line); font-size: 1.25rem; padding-inline: 0 }
#docs .opblock { background: var(--field); border: 1px solid var(--line); border-radius: .5rem; box-shadow: none }
#docs .opblock-summary { border-color: var(--line) }
#docs .opblock-summary-method { border-radius: .375rem; color: #ffffff; text-shadow: none }
${METHOD_RULES}
#docs .opblock-section-header { background: none; border-block: 1px solid var(--line); box-shadow: none }
#docs .tab-item.active h4 span::after { background: var(--accent) }
#docs section.models, #docs section.models h4 { border-color: var(--line) }
#docs thead :is(td, th) { border-color: var(--line) }
#docs .renderedMarkdown code { padding: 0 .25rem; background: var(--ground); color: var(--text); font-weight: 400 }
#docs :is(pre, pre code) { white-space: pre-wrap !important; overflow-wrap: anywhere }

#docs .curl-command .curl { padding-inline-end: 3rem }

#docs .btn {
  min-height: 2.5rem;
  background: none;
  border: 1px solid var(--edge);
  border-radius: .5rem;
  box-shadow: none;
  color: var(--text);
}
#docs .btn:is(.authorize, .execute) { background: var(--accent); border-color: transparent; color: var(--on-accent) }
#docs .btn:is(.authorize, .execute):hover { background: var(--accent-hover) }
#docs .btn.authorize { display: inline-flex; align-items: center; gap: .75rem; padding: .25rem 1.25rem }
#docs .btn.authorize span { padding: 0 }
#docs .btn.authorize svg { color: var(--on-accent) }
#docs .btn.cancel { border-color: var(--error); color: var(--error) }
#docs .btn-group { gap: .75rem; padding: 1.25rem }
#docs .authorization__btn :is(.locked, .unlocked) { opacity: 1 }

#docs :is(input[type], select, textarea) {
  max-width: 100%;
  background-color: var(--field);
  border: 1px solid var(--edge);
  border-radius: .375rem;
  box-shadow: none;
  color: var(--text);
}
#docs textarea { font-family: ui-monospace, monospace; font-size: .8125rem; font-weight: 400 }
#docs .body-param__text { min-height: 8rem }

#docs .dialog-ux .backdrop-ux { background: rgb(0 0 0 / .6) }
#docs .dialog-ux .modal-ux {
  min-width: 0;
  width: calc(100% - 2rem);
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: .75rem;
}
#docs .dialog-ux :is(.modal-ux-header, .auth-container) { border-color: var(--line) }

@media (max-width: 45rem) {
  html:root { background: var(--card) }
  body { padding: 0 }
  #docs { padding: 1.5rem 1rem; border: 0; border-radius: 0 }
  #docs .opblock-tag { justify-content: space-between }
  #docs .opblock-tag small { display: none }
  #docs .opblock-summary-control { flex-wrap: wrap; gap: .25rem .5rem }
  #docs .opblock-summary-method { min-width: 0; padding: .25rem .5rem }
  #docs .opblock-summary-path-description-wrapper { flex-direction: column; align-items: start; gap: 0 }
  #docs .opblock-summary-description { padding: 0; text-align: start }
  #docs .opblock-section-header { flex-wrap: wrap; gap: .5rem; padding: .5rem .75rem }
  #docs .opblock-section-header > label { margin: 0 }
  #docs :is(.table-container, .responses-inner, .opblock-description-wrapper) { padding: .75rem }
  #docs :is(table, tbody, tr, td) { display: block; width: auto; max-width: none; padding-inline: 0 }
  #docs tr + tr { border-top: 1px solid var(--line) }
  #docs td { padding-block: .25rem }
  #docs .response-col_status { font-weight: 600 }
  #docs thead { display: none }
  #docs .parameters-col_description :is(input, select, textarea) { width: 100%; max-width: none }
  #docs select { min-width: 0 }
}
`
