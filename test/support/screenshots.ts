// Draws every page for people to look at: node --import tsx test/support/screenshots.ts FOLDER
// With --readme in place of FOLDER it draws the two pictures of README.md into .github/.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { findChromium, openBrowser, openTab } from './browser.js'
import { type PageState, pageStates } from './page-states.js'

const VARIANTS = {
  desk: { viewport: { width: 1280, height: 800 } },
  'desk-dark': { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  'desk-200-percent': { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
  phone: { viewport: { width: 320, height: 568 }, deviceScaleFactor: 2 },
  'phone-dark': { viewport: { width: 320, height: 568 }, deviceScaleFactor: 2, colorScheme: 'dark' },
  'forced-colours': { viewport: { width: 640, height: 800 }, forcedColors: 'active' },
  ...Object.fromEntries(
    ['de', 'fr', 'es'].flatMap(locale => [
      [`desk-${locale}`, { viewport: { width: 1280, height: 800 }, locale }],
      [`phone-${locale}`, { viewport: { width: 320, height: 568 }, deviceScaleFactor: 2, locale }]
    ])
  )
} as const

const [folder] = process.argv.slice(2)
const chromium = findChromium()
if (folder === undefined || chromium === undefined)
  throw new Error('usage: screenshots.ts FOLDER | --readme, with Chromium installed')

const drawEvery = async (browser: Browser, states: readonly PageState[]): Promise<void> => {
  mkdirSync(folder, { recursive: true })
  for (const state of states) {
    for (const [variant, options] of Object.entries(VARIANTS)) {
      const { page, context } = await openTab(scope, browser, options)
      await state.open(page)
      if (await page.locator('[autofocus]').count()) await page.locator('input:focus').waitFor()
      await page.screenshot({ path: join(folder, `${state.name}-${variant}.png`), fullPage: true })
      await context.close()
    }
  }
}

const drawForReadme = async (browser: Browser, states: readonly PageState[]): Promise<void> => {
  const login = states.find(({ name }) => name === 'login')
  const { page } = await openTab(scope, browser, { viewport: { width: 720, height: 760 } })
  await login?.open(page)
  await page.screenshot({ path: '.github/login-page.png' })
  await page.goto(new URL('/docs', page.url()).href)
  await page.locator('.opblock').first().waitFor()
  await page.locator('.scheme-container').evaluate(element => element.scrollIntoView())
  await page.screenshot({ path: '.github/docs.png' })
}

const endings: (() => unknown)[] = []
const scope = { teardown: (ending: () => unknown) => endings.unshift(ending) }
try {
  const browser = await openBrowser(chromium)
  scope.teardown(() => browser.close())
  const states = await pageStates(scope)
  await (folder === '--readme' ? drawForReadme : drawEvery)(browser, states)
} finally {
  for (const ending of endings) await ending()
}
