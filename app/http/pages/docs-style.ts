import { PALETTE } from './layout.js'

/**
 * The style of `/docs` and `/docs/callback`, behind Swagger UI's own: the shell of the other pages, and room on a phone. `#docs`
 * makes each rule more specific than those of Swagger UI.
 */
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
  display: block;
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
#docs .wrapper { max-width: none; padding: 0 }
#docs .info { margin: 0 0 1.5rem }
#docs .scheme-container { margin: 0 0 1.5rem; padding: 0; background: none; box-shadow: none }
#docs .auth-wrapper { justify-content: flex-start }
/* Swagger UI's own words about scopes; a link that copies a path; a column for links, which the document has none of. */
#docs :is(.scope-def, .view-line-link, .response-col_links) { display: none }
#docs :is(pre, pre code) { white-space: pre-wrap !important; overflow-wrap: anywhere }
#docs .curl-command .curl { padding-inline-end: 3rem }
#docs .body-param__text { min-height: 8rem }
#docs :is(input[type], select, textarea) { max-width: 100% }
#docs .dialog-ux .modal-ux { min-width: 0; width: calc(100% - 2rem) }

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
  #docs :is(.table-container, .responses-inner, .opblock-description-wrapper) { padding: .75rem }
  #docs :is(table, tbody, tr, td) { display: block; width: auto; max-width: none; padding-inline: 0 }
  #docs tr + tr { border-top: 1px solid var(--line) }
  #docs thead { display: none }
  #docs .parameters-col_description :is(input, select, textarea) { width: 100%; max-width: none }
  #docs select { min-width: 0 }
}
`
