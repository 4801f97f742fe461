import axe from 'axe-core'
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { autofocused, findChromium, openBrowser, openTab } from '../support/browser.js'
import { type RunningService, serveProcess } from '../support/process.js'
import { ADA } from '../support/world.js'

interface Visit {
  readonly service: RunningService
  /** The address of the page, as the first start prints it. */
  readonly address: string
  readonly page: Page
  readonly context: BrowserContext
  /** What all windows have written to their consoles. */
  readonly console: readonly string[]
  /** Every request that leaves the service's origin. */
  readonly elsewhere: readonly string[]
  clicks(): number
  click(target: Locator): Promise<void>
}

/** Starts the service as a fresh clone does, but in memory, and opens a tab. */
const visit = async (
  t: Test,
  browser: Browser,
  { env = {}, ...options }: BrowserContextOptions & { readonly env?: Readonly<Record<string, string>> } = {}
): Promise<Visit> => {
  const service = await serveProcess(t, { DATABASE_URL: 'memory:', ...env })
  const [, address = ''] = await service.until(/^ {2}(http:\/\/localhost:\d+\/docs)$/m)
  const { page, context } = await openTab(t, browser, options)
  const console: string[] = []
  const elsewhere: string[] = []
  const watch = (page: Page): void => {
    page.on('console', message => console.push(message.text()))
    page.on('pageerror', error => console.push(String(error)))
  }
  watch(page)
  context.on('page', watch)
  context.on('request', request => {
    const url = request.url()
    if (!url.startsWith('data:') && new URL(url).origin !== new URL(address).origin) elsewhere.push(url)
  })
  let clicks = 0
  return {
    service,
    address,
    page,
    context,
    console,
    elsewhere,
    clicks: () => clicks,
    async click(target) {
      clicks += 1
      await target.click()
    }
  }
}

/** The part of the page about one endpoint. */
const endpoint = (page: Page, method: string, path: string): Locator =>
  page.locator(`.opblock-${method}`).filter({ has: page.locator(`[data-path="${path}"]`) })

/** Opens an endpoint and sends what is filled in already: the status and the body of the answer. */
const execute = async ({ page, click }: Visit, method: string, path: string): Promise<readonly [string, string]> => {
  const block = endpoint(page, method, path)
  await click(block.locator('.opblock-summary-control'))
  await click(block.getByRole('button', { name: 'Execute' }))
  const answer = block.locator('.live-responses-table .response')
  return [
    await answer.locator('.response-col_status').innerText(),
    (await answer.locator('.response-col_description pre').first().innerText()).replaceAll(/\s/g, '')
  ]
}

/** Chooses "Authorize" on the page and in its dialog: the window with the login page. */
const authorize = async ({ page, context, click }: Visit): Promise<Page> => {
  await click(page.getByRole('button', { name: 'Authorize' }))
  const dialog = page.locator('.modal-ux')
  const [login] = await Promise.all([context.waitForEvent('page'), click(dialog.locator('.btn.authorize'))])
  await autofocused(login)
  return login
}

/** From the printed address to a hero that is listed. */
const tryEverything = async (t: Test, visited: Visit): Promise<void> => {
  const { page, address, click } = visited
  await page.goto(address)
  await page.locator('.opblock').first().waitFor()
  t.strictSame(await execute(visited, 'post', '/register'), ['200', '{"id":1,"username":"ada"}'])
  const login = await authorize(visited)
  t.match(await login.locator('main').innerText(), 'API documentation')
  await login.getByLabel('Username').fill(ADA.username)
  await login.getByLabel('Password').fill(ADA.password)
  await Promise.all([login.waitForEvent('close'), login.getByRole('button', { name: 'Sign in' }).click()])
  await page.getByText('Logout').waitFor()
  await click(page.locator('.modal-ux .btn-done'))
  t.strictSame(await execute(visited, 'post', '/heroes'), ['200', '{"id":1,"name":"Starling"}'])
  t.strictSame(await execute(visited, 'get', '/heroes'), ['200', '[{"id":1,"name":"Starling"}]'])
  t.strictSame(visited.console, [])
  t.strictSame(visited.elsewhere, [])
}

/** The serious findings of axe-core about what is ours: all but what Swagger UI draws. */
const findOwnBarriers = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<axe.AxeResults>('axe.run({ exclude: [".swagger-ui"] })')
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

const suite = async (executablePath: string): Promise<void> => {
  const browser = await openBrowser(executablePath)
  t.teardown(() => browser.close())

  t.test(
    'wire 7.6: from the address that the first start prints, nine clicks and a login lead to a listed hero',
    async t => {
      const visited = await visit(t, browser)
      await tryEverything(t, visited)
      t.equal(visited.clicks(), 9)
      t.strictSame(await visited.context.cookies(), [])
    }
  )

  t.test('the scopes of the settings are asked for without a further click', async t => {
    const env = { HEROES_READ_SCOPE: 'heroes.read', HEROES_WRITE_SCOPE: 'heroes' }
    const visited = await visit(t, browser, { env, colorScheme: 'dark' })
    await tryEverything(t, visited)
    t.equal(visited.clicks(), 9)
  })

  t.test('the page fits a phone of 320 px, and everything can be done there', async t => {
    const visited = await visit(t, browser, { viewport: { width: 320, height: 568 }, isMobile: true })
    await tryEverything(t, visited)
    t.equal(await visited.page.evaluate('document.documentElement.scrollWidth'), 320)
  })

  t.test('the page says why there is no token, and what belongs to another request changes nothing', async t => {
    const visited = await visit(t, browser)
    const { page, address } = visited
    await page.goto(address)
    const login = await authorize(visited)
    await Promise.all([login.waitForEvent('close'), login.getByRole('button', { name: 'Cancel' }).click()])
    await page.locator('.modal-ux').getByText('access_denied').waitFor()

    const [second] = await Promise.all([
      visited.context.waitForEvent('page'),
      page.locator('.modal-ux .btn.authorize').click()
    ])
    await second.getByLabel('Username').waitFor()
    const closed = second.waitForEvent('close')
    // The window closes itself, which breaks the navigation off.
    await second.goto(`${address}/callback?code=${'x'.repeat(32)}&state=x`).catch(() => undefined)
    await closed
    await page.locator('.modal-ux').getByText('belongs to another request').waitFor()
    t.equal(await page.getByText('Logout').count(), 0)
    t.strictSame(visited.elsewhere, [])
  })

  t.test(
    'wire 7.6: a page under another origin leads to the one under PUBLIC_URL, and / leads there as well',
    async t => {
      const { page, service, address, console } = await visit(t, browser)
      t.match(service.url, 'http://127.0.0.1:')
      for (const path of ['/docs#/Heroes', '/']) {
        await page.goto(service.url + path)
        await page.waitForURL(`${address}**`)
        await page.locator('.opblock').first().waitFor()
      }
      t.strictSame(console, [])
    }
  )

  t.test('what is not of Swagger UI has no barrier that axe-core finds, with scripts and without', async t => {
    const visited = await visit(t, browser)
    for (const colorScheme of ['light', 'dark'] as const) {
      await visited.page.emulateMedia({ colorScheme })
      await visited.page.goto(visited.address)
      await visited.page.locator('.opblock').first().waitFor()
      t.strictSame(await findOwnBarriers(visited.page), [], colorScheme)
      await visited.page.goto(`${visited.address}/callback`)
      t.strictSame(await findOwnBarriers(visited.page), [], `callback, ${colorScheme}`)
    }
    t.match(await visited.page.locator('main').innerText(), /Nothing waits for this page/)
    const { page } = await openTab(t, browser, { javaScriptEnabled: false })
    await page.goto(visited.address)
    t.match(await page.locator('main').innerText(), /needs scripts/)
  })
}

const chromium = findChromium()
if (chromium === undefined) t.plan(0, 'there is no Chromium: install one or name it in CHROMIUM_PATH')
else await suite(chromium)
