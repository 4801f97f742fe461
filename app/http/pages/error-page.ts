import type { ErrorPage } from '../errors.js'
import type { PageForm } from '../paths.js'
import { html } from './html.js'
import { languageFor, page, pageHeaders } from './layout.js'
import { type Problem, TEXTS, type Texts } from './texts.js'

/**
 * Makes the page that a group of routes for people shows for an error: what is wrong, and what the person can do. It has no
 * form, so that the person cannot go on from it. Escapes every text.
 */
export const createErrorPage =
  (service: string): ErrorPage =>
  ({ status, message, fault }, { id, headers }, form) => {
    const language = languageFor(headers['accept-language'])
    const texts = TEXTS[language]
    const { title, message: general, advice } = problemOf(status, form, texts)
    const special = fault ?? FAULTS[status]
    const body = page(
      language,
      texts.titleOfError(title),
      html`<h1>${title}</h1>
<p>${special === undefined ? general : texts.faults[special]}</p>
<p>${advice}</p>
<p class="quiet last">${texts.errorStatus(service, status)}</p>
${id === '' ? '' : html`<p class="quiet">${texts.requestId(html`<span class="id">${id}</span>`)}</p>`}
${hasDeveloperLine(status) ? html`<p class="quiet">${texts.forDevelopers} <span lang="en">${message}</span></p>` : ''}`
    )
    return { headers: pageHeaders(language), body }
  }

/** Whether the page for the status tells the authors of applications what is wrong. A 403 and a 5xx are no fault of theirs. */
export const hasDeveloperLine = (status: number): boolean => status < 500 && status !== 403

const problemOf = (status: number, form: PageForm, texts: Texts): Problem => {
  const problem = problemOfStatus(status, texts)
  if (form === 'page') return problem
  const { refused, accountRefused } = texts
  return problem === refused ? accountRefused : { ...problem, advice: accountRefused.advice }
}

const problemOfStatus = (status: number, { refused, otherSite, unavailable, failed }: Texts): Problem => {
  if (status === 403) return otherSite
  if (status === 503) return unavailable
  return status < 500 ? refused : failed
}

/** Statuses of HTTP that say by themselves what is wrong. */
const FAULTS: Readonly<Record<number, keyof Texts['faults']>> = {
  405: 'other_method',
  413: 'too_long',
  431: 'too_long'
}
