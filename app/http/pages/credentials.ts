import { DomainError, USERNAME_MAX } from '../../../core/index.js'
import { statusOf } from '../errors.js'
import { type Html, html } from './html.js'
import type { Texts } from './texts.js'
import { retryTime } from './times.js'

/** A login that failed. */
export interface LoginFailure {
  readonly username: string
  /** When to try again, if not at once. */
  readonly retry?: { readonly seconds: number; readonly now: Date } | undefined
}

/** The username to begin with, and what the login before failed for, if there was one. */
export interface Begun {
  readonly username: string
  /** The fields refer to the message above the form. */
  readonly refused: boolean
  /** What was typed is wrong. */
  readonly wrong: boolean
  /** The first field that is empty has the focus. */
  readonly focus: boolean
}

/** What the page shows again: as many characters as a username may have (code points). A longer one is nobody's. */
const SHOWN_USERNAME = new RegExp(`^.{0,${USERNAME_MAX}}$`, 'su')

export const shownUsername = (username: string): string => (SHOWN_USERNAME.test(username) ? username : '')

/** The failure of a login that the same page may mend, and its status. Throws every other error again. */
export const loginFailureOf = (error: unknown, username: string): { status: number; failure: LoginFailure } => {
  if (!(error instanceof DomainError)) throw error
  const { code, retryAfterSeconds: seconds } = error
  if (code !== 'access_denied' && code !== 'too_many_attempts') throw error
  const retry = seconds === undefined ? undefined : { seconds, now: new Date() }
  return { status: statusOf(code), failure: { username: shownUsername(username), retry } }
}

/** What the person is told of a login that failed. */
export const failureText = ({ retry }: LoginFailure, texts: Texts): Html => {
  if (retry === undefined) return html`${texts.wrongCredentials}`
  const { wait, time } = retryTime(retry.seconds, retry.now, texts)
  return texts.tooManyAttempts(wait, time)
}

/** How the fields of a form for a login begin after `failure`, if there was one. */
export const beginAfter = (failure: LoginFailure | undefined): Begun => ({
  username: failure?.username ?? '',
  refused: failure !== undefined,
  wrong: failure !== undefined && failure.retry === undefined,
  focus: true
})

/** The message above a form that was refused, to which the fields refer. */
export const alert = (text: Html): Html => html`<p role="alert" id="message">${text}</p>`

const focusIf = (focused: boolean): Html | '' => (focused ? html` autofocus` : '')
const invalidIf = (wrong: boolean): Html | '' => (wrong ? html` aria-invalid="true"` : '')

export const usernameField = (
  { username, refused, wrong, focus }: Begun,
  texts: Texts
): Html => html`<div class="field">
<label for="username">${texts.username}</label>
<input id="username" name="username" value="${username}" required autocomplete="username"
 autocapitalize="none" autocorrect="off"
 spellcheck="false"${invalidIf(wrong)}${refused ? html` aria-describedby="message"` : ''}${focusIf(focus && username === '')}>
</div>`

/** The field for the password, with a note below it. */
export const passwordField = (
  { username, refused, wrong, focus }: Begun,
  texts: Texts,
  note: Html
): Html => html`<div class="field">
<label for="password">${texts.password}</label>
<input id="password" name="password" type="password" required autocomplete="current-password"
 autocapitalize="none" autocorrect="off" spellcheck="false"${invalidIf(wrong)}
 aria-describedby="${refused ? 'message ' : ''}password-note"${focusIf(focus && username !== '')}>
<p class="quiet" id="password-note">${note}</p>
</div>`
