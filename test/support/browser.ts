// Chromium, an application that a person comes back to, and what an accessibility checker finds.

import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { delimiter, join } from 'node:path'
import axe from 'axe-core'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import type { Test } from 'tap'
import { listenUntilEnd } from './ports.js'

// The headless shell is the same engine without the browser's own interface, which would take as much of the processors again.
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The Chromium that CHROMIUM_PATH names, or else the first in PATH. Undefined when there is none. */
export const findChromium = (): string | undefined => {
  const { CHROMIUM_PATH, PATH = '' } = process.env
  if (CHROMIUM_PATH) return CHROMIUM_PATH
  return PATH.split(delimiter)
    .flatMap(folder => NAMES.map(name => join(folder, name)))
    .find(file => existsSync(file))
}

export const openBrowser = (executablePath: string): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync'
    ]
  })

export interface Tab {
  readonly page: Page
  readonly context: BrowserContext
  /** What the page has written to its console. */
  readonly console: readonly string[]
}

/** Opens a tab that shares nothing with other tabs. */
export const openTab = async (
  t: Pick<Test, 'teardown'>,
  browser: Browser,
  options: BrowserContextOptions = {}
): Promise<Tab> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  t.teardown(() => context.close())
  context.setDefaultTimeout(20_000)
  const page = await context.newPage()
  const console: string[] = []
  page.on('console', message => console.push(message.text()))
  page.on('pageerror', error => console.push(String(error)))
  return { page, context, console }
}

/**
 * Waits until the browser has given the focus to the element with `autofocus`, a moment after the page has loaded.
 * A test that types before has Chromium write "Autofocus processing was blocked" to the console of the page.
 */
export const autofocused = (page: Page): Promise<void> => page.locator('[autofocus]:focus').waitFor()

/** What axe-core finds wrong with the page or cannot judge, one line each. */
export const findBarriers = async (page: Page): Promise<readonly string[]> => {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source)
  const { violations, incomplete } = await page.evaluate<axe.AxeResults>(
    'axe.run({ resultTypes: ["violations", "incomplete"] })'
  )
  return [...violations, ...incomplete].flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`)
  )
}

export interface Callback {
  /** The redirect URI, which has a query of its own. */
  readonly uri: string
  /** Every request that came, with its `Referer`. */
  readonly received: readonly { readonly url: URL; readonly referrer: string | undefined }[]
}

/** Starts an application to which the service redirects. It stops when the test ends. */
export const listenForCallback = async (t: Pick<Test, 'teardown'>): Promise<Callback> => {
  const received: { url: URL; referrer: string | undefined }[] = []
  const server = createServer((request, response) => {
    received.push({ url: new URL(`http://127.0.0.1${request.url}`), referrer: request.headers.referer })
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end('<!doctype html><html lang="en"><title>Signed in</title><link rel="icon" href="data:,"><p>Signed in')
  })
  const port = await listenUntilEnd(t, server)
  return { uri: `http://127.0.0.1:${port}/callback?tenant=a%26b`, received }
}
