import type { ErrorPage } from '../errors.js'
import { html } from './html.js'
import { PAGE_HEADERS, page, SERVICE } from './layout.js'

/** The page that a group of routes for people shows for an error: what is wrong, and what the person can do. */
export const personalErrorPage: ErrorPage = (status, message) => {
  const { title, advice } = TEXTS[status] ?? (status < 500 ? REFUSED : FAILED)
  const sentence = `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
  return { headers: PAGE_HEADERS, body: errorPage({ status, title, message: sentence, advice }) }
}

interface Text {
  readonly title: string
  readonly advice: string
}

const REFUSED: Text = {
  title: 'This sign-in link does not work',
  advice: 'Go back to the application and start again from there. If that does not help, tell the people who run it.'
}
const FAILED: Text = {
  title: 'Something went wrong here',
  advice: 'This is not your fault. Wait a moment, then go back to the application and start again from there.'
}
const TEXTS: Readonly<Record<number, Text>> = {
  403: {
    title: 'This sign-in was refused',
    advice:
      'Close this page if you did not mean to sign in. Otherwise go back to the application and start again from there.'
  },
  503: {
    title: 'Signing in is not possible right now',
    advice: 'This is not your fault. Wait a minute, then go back to the application and start again from there.'
  }
}

export interface ErrorPageContent {
  readonly status: number
  readonly title: string
  /** What went wrong. */
  readonly message: string
  /** What the person can do. */
  readonly advice: string
}

/** A page without a form, so that the person cannot go on from it. Escapes every text. */
export function errorPage({ status, title, message, advice }: ErrorPageContent): string {
  return page(
    `Error: ${title}`,
    html`<h1>${title}</h1>
<p>${message}</p>
<p>${advice}</p>
<p class="quiet last">${SERVICE}, error ${status}</p>`
  )
}
