import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import {
  autofocused,
  type Callback,
  findBarriers,
  findChromium,
  listenForCallback,
  openBrowser,
  openTab,
  type Tab
} from '../support/browser.js'
import { type Listening, startService } from '../support/listening-service.js'
import { answerTo, type PageState, pageStates, submitLogin } from '../support/page-states.js'
import { basic, bearer, challengeOf, loginPath } from '../support/service.js'
import { ADA, addClient } from '../support/world.js'

const VERIFIER = 'a-verifier-of-43-characters-or-more-0123456789'
// Characters that a form, a URL or a page might change, line breaks most of all.
const STATE = `a b+c%20&d="<'>;é☃👩‍🚀\r\n\n\t/?#${'0123456789'.repeat(50)}`

interface Journey extends Tab {
  readonly service: Listening
  readonly callback: Callback
  /** The address to which the application sends the person. */
  readonly address: string
  /** The method and path of every request that the service got, favicons included. */
  readonly asked: readonly string[]
  /** The status with which the service answers a code. */
  redeem(code: string | null): Promise<number>
}

/** Starts the service and an application that waits for the redirect, and opens a tab for the person. */
const embark = async (t: Test, browser: Browser, options: BrowserContextOptions = {}): Promise<Journey> => {
  const service = await startService(t, { policy: { loginAttempts: 2 } })
  const callback = await listenForCallback(t)
  await addClient(service, 'app', { redirectUris: [callback.uri], allowedScopes: ['heroes'], name: 'Hero Viewer' })
  const asked: string[] = []
  service.http.server.on('request', ({ method, url = '' }) => asked.push(`${method} ${url.split('?')[0]}`))
  const pkce = { code_challenge: challengeOf(VERIFIER), code_challenge_method: 'S256' }
  const address = service.url + loginPath({ scope: 'heroes', state: STATE, ...pkce })
  const redeem = async (code: string | null) => {
    const body = new URLSearchParams({ grant_type: 'authorization_code', code: code ?? '', code_verifier: VERIFIER })
    return (await fetch(`${service.url}/auth/token`, { method: 'POST', headers: { ...basic('app') }, body })).status
  }
  const tab = await openTab(t, browser, options)
  return { ...tab, service, callback, address, asked, redeem }
}

// Chromium gives the focus to an element with `autofocus` a moment after the page has loaded.
const focused = (page: Page, id: string) => page.locator(`#${id}:focus`).waitFor()

const signIn = (page: Page, password = ADA.password): Promise<number | undefined> =>
  submitLogin(page, { ...ADA, password })

/** Asserts that the person comes back to the application, with a code that can be redeemed. */
const arrived = async (t: Test, { page, callback, service, redeem }: Journey): Promise<void> => {
  await page.getByText('Signed in').waitFor()
  t.equal(callback.received.length, 1)
  const { searchParams } = callback.received[0]?.url ?? new URL('http://127.0.0.1')
  t.strictSame([...searchParams.keys()], ['tenant', 'code', 'state', 'iss'])
  t.equal(searchParams.get('tenant'), 'a&b')
  t.equal(searchParams.get('state'), STATE)
  t.equal(searchParams.get('iss'), service.url)
  t.equal(await redeem(searchParams.get('code')), 200)
}

const suite = async (executablePath: string): Promise<void> => {
  const browser = await openBrowser(executablePath)
  t.teardown(() => browser.close())

  t.test('a person signs in and comes back to the application with a code that can be redeemed', async t => {
    const journey = await embark(t, browser)
    const { page, console, context, asked, callback } = journey
    await page.goto(journey.address)
    t.equal(await page.title(), 'Sign in to Heroes')
    t.match(await page.locator('main').innerText(), /Hero Viewer asks you to sign in.*this permission:\s+heroes/s)
    await focused(page, 'username')
    t.equal(await signIn(page), 302)
    await arrived(t, journey)
    t.strictSame(asked.slice(0, 2), ['GET /auth/code', 'POST /auth/code'])
    t.equal(asked.filter(path => !path.endsWith('/auth/token')).length, 2, 'nothing else was loaded')
    t.equal(callback.received[0]?.referrer, undefined, 'the application is not told the address of the login page')
    t.strictSame(await context.cookies(), [])
    t.strictSame(console, [])
  })

  t.test('a failed login is announced, keeps the username and puts the focus on the password', async t => {
    const journey = await embark(t, browser)
    const { page, console } = journey
    await page.goto(journey.address)
    t.equal(await signIn(page, 'wrong'), 403)
    t.equal(await page.title(), 'Error: Sign in to Heroes')
    t.equal(await page.getByRole('alert').innerText(), 'The username or the password is wrong.')
    await focused(page, 'password')
    t.equal(await page.getByLabel('Username').inputValue(), ADA.username)
    t.equal(await page.getByLabel('Password').inputValue(), '')
    t.match(await describedAs(page, 'Password'), /^The username or the password is wrong\. Enter it only here/)
    t.strictSame(console.filter(isUnexpected), [])

    await page.keyboard.type(ADA.password)
    await page.keyboard.press('Enter')
    await arrived(t, journey)
  })

  t.test('a throttled person is told to wait, even with the right password', async t => {
    const journey = await embark(t, browser)
    const { page, callback, service, console } = journey
    await page.goto(journey.address)
    await signIn(page, 'wrong')
    await signIn(page, 'wrong')
    t.equal(await signIn(page), 429)
    t.match(
      await page.getByRole('alert').innerText(),
      /too many attempts to sign in\. Try again in 15 minutes, after \d\d:\d\d UTC\./
    )
    await focused(page, 'password')
    t.strictSame(callback.received, [])
    t.strictSame(console.filter(isUnexpected), [])

    service.clock.advance(service.policy.loginWindowSeconds)
    await signIn(page)
    await arrived(t, journey)
  })

  t.test('at the account page a person ends one login, changes the password and logs in with the new one', async t => {
    const service = await startService(t)
    const { url } = service
    for (const id of ['viewer', 'shop']) await addClient(service, id, { name: `The ${id}` })
    const get = async (id: string, form: Readonly<Record<string, string>>) => {
      const body = new URLSearchParams(form)
      return (await fetch(`${url}/auth/token`, { method: 'POST', headers: { ...basic(id) }, body })).json()
    }
    const viewer = Object(await get('viewer', { grant_type: 'password', ...ADA }))
    const shop = Object(await get('shop', { grant_type: 'password', ...ADA }))
    const opens = async (token: string) => (await fetch(`${url}/heroes`, { headers: { ...bearer(token) } })).status
    const { page, console, context } = await openTab(t, browser)

    await page.goto(url + loginPath({ client_id: 'shop' }))
    await page.getByText('Your logins and your password').click()
    t.equal(page.url(), `${url}/account`)
    t.equal(await signIn(page), 200)
    t.match(await page.locator('main').innerText(), /You are logged in 2 times.*The (viewer|shop).*The (viewer|shop)/s)
    await page.getByLabel('The viewer').check()
    await page.getByLabel('Password', { exact: true }).fill(ADA.password)
    t.equal(await answerTo(page, () => page.getByRole('button').click()), 200)
    t.equal(await page.getByRole('status').innerText(), '1 login was ended.')
    t.strictSame([await opens(viewer.access_token), await opens(shop.access_token)], [401, 200])

    await page.getByLabel('New password').fill('battery staple')
    await page.getByLabel('Password', { exact: true }).fill(ADA.password)
    t.equal(await answerTo(page, () => page.getByRole('button').click()), 200)
    t.match(await page.locator('main').innerText(), /Your password was changed.*You are not logged in anywhere/s)
    t.match(await get('shop', { grant_type: 'refresh_token', refresh_token: shop.refresh_token }), {
      error: 'invalid_grant'
    })
    t.match(await get('shop', { grant_type: 'password', ...ADA, password: 'battery staple' }), { token_type: 'bearer' })
    t.strictSame([console, await context.cookies()], [[], []])
  })

  t.test('a keyboard is enough, and the focus is visible', async t => {
    const journey = await embark(t, browser)
    const { page } = journey
    await page.goto(journey.address)
    for (const [id, text] of Object.entries(ADA)) {
      await focused(page, id)
      t.ok(await hasVisibleFocus(page), id)
      await page.keyboard.type(text)
      await page.keyboard.press('Tab')
    }
    await page.locator('button:focus').waitFor()
    t.ok(await hasVisibleFocus(page), 'the button')
    await page.keyboard.press('Space')
    await arrived(t, journey)
  })

  t.test('a person cancels without having typed anything, and the application is told', async t => {
    const journey = await embark(t, browser, { javaScriptEnabled: false })
    const { page, callback, service, console } = journey
    await page.goto(journey.address)
    const cancel = page.getByRole('button', { name: 'Cancel' })
    t.equal(await answerTo(page, () => cancel.click()), 302)
    await page.getByText('Signed in').waitFor()
    t.strictSame(
      [...(callback.received[0]?.url.searchParams ?? [])],
      [
        ['tenant', 'a&b'],
        ['error', 'access_denied'],
        ['state', STATE],
        ['iss', service.url]
      ]
    )
    t.strictSame(console, [])
  })

  t.test('Cancel can be reached by keyboard, and Return in a field signs in', async t => {
    const journey = await embark(t, browser)
    const { page, callback } = journey
    await page.goto(journey.address)
    await focused(page, 'username')
    for (const key of ['Tab', 'Tab', 'Tab']) await page.keyboard.press(key)
    await page.locator('button[name=cancel]:focus').waitFor()
    t.ok(await hasVisibleFocus(page), 'the button')
    await page.getByLabel('Username').fill(ADA.username)
    await page.getByLabel('Password').fill(ADA.password)
    await page.keyboard.press('Enter')
    await page.getByText('Signed in').waitFor()
    t.ok(callback.received[0]?.url.searchParams.has('code'))
  })

  t.test('a reload after a refusal is the form again, and so is a visit to its address', async t => {
    const journey = await embark(t, browser)
    const { page, console, service } = journey
    await page.goto(journey.address)
    t.equal(await signIn(page, 'wrong'), 403)
    await answerTo(page, async () => {
      await page.reload()
    })
    t.equal(await page.locator('form').count(), 1)
    t.equal((await page.goto(page.url()))?.status(), 200)
    t.equal(await page.getByRole('alert').count(), 0)
    t.strictSame(console.filter(isUnexpected), [])

    // The browser has sent the wrong password a second time.
    service.clock.advance(service.policy.loginWindowSeconds)
    await signIn(page)
    await arrived(t, journey)
  })

  for (const [locale, username, password, signIn, cancel] of [
    ['de-CH', 'Benutzername', 'Passwort', 'Anmelden', 'Abbrechen'],
    ['fr-FR', 'Nom d’utilisateur', 'Mot de passe', 'Se connecter', 'Annuler'],
    ['es-MX', 'Nombre de usuario', 'Contraseña', 'Iniciar sesión', 'Cancelar']
  ] as const) {
    t.test(`a person whose browser speaks ${locale} signs in`, async t => {
      const journey = await embark(t, browser, { locale })
      const { page, console } = journey
      await page.goto(journey.address)
      await autofocused(page)
      await page.getByLabel(username).fill(ADA.username)
      await page.getByLabel(password).fill(ADA.password)
      t.equal(await page.getByRole('button', { name: cancel }).count(), 1)
      await answerTo(page, () => page.getByRole('button', { name: signIn }).click())
      await arrived(t, journey)
      t.strictSame(console, [])
    })
  }

  t.test('a person signs in without scripts', async t => {
    const journey = await embark(t, browser, { javaScriptEnabled: false })
    await journey.page.goto(journey.address)
    t.equal(await signIn(journey.page, 'wrong'), 403)
    t.equal(await signIn(journey.page), 302)
    await arrived(t, journey)
  })

  t.test('a person signs in on a phone of 320 px in dark mode', async t => {
    const journey = await embark(t, browser, {
      viewport: { width: 320, height: 568 },
      colorScheme: 'dark',
      isMobile: true,
      hasTouch: true
    })
    const { page } = journey
    await page.goto(journey.address)
    await autofocused(page)
    await page.getByLabel('Username').fill(ADA.username)
    await page.getByLabel('Password').fill(ADA.password)
    await answerTo(page, () => page.getByRole('button', { name: 'Sign in' }).tap())
    await arrived(t, journey)
  })

  t.test(
    'every page in every language has its status, writes nothing to the console, loads nothing from elsewhere and fits every screen, and in English has no barrier that axe-core finds',
    async t => {
      const states = await pageStates(t)
      for (const locale of LOCALES) {
        // One tab for all pages of a language: a new one takes longer than what is looked at in it.
        const { page, context, console } = await openTab(t, browser, { locale })
        const devtools = await context.newCDPSession(page)
        const hosts = new Set<string>()
        page.on('request', request => hosts.add(new URL(request.url()).hostname))
        const look = async (t: Test, state: PageState): Promise<void> => {
          await page.emulateMedia({ colorScheme: 'light' })
          const before = console.length
          t.equal(await state.open(page), state.status)
          t.strictSame(console.slice(before).filter(isUnexpected), [])
          t.equal(await page.evaluate('document.documentElement.lang'), locale.slice(0, 2))
          t.strictSame(
            [...hosts].filter(host => host !== '127.0.0.1' && host !== 'localhost'),
            []
          )
          // Languages differ in their words alone.
          const barriers = async () => (locale === 'en-GB' ? findBarriers(page) : [])
          t.strictSame(await barriers(), [])

          for (const [device, width, fontSize] of [
            ['a window of 1280 px at 200 %', 640, 16],
            ['a window of 640 px with letters twice as large', 640, 32],
            ['a phone of 320 px', 320, 16]
          ] as const) {
            await page.setViewportSize({ width, height: 512 })
            await devtools.send('Page.setFontSizes', { fontSizes: { standard: fontSize } })
            t.equal(await page.evaluate('getComputedStyle(document.documentElement).fontSize'), `${fontSize}px`)
            t.equal(await page.evaluate('document.documentElement.scrollWidth'), width, device)
          }
          await page.emulateMedia({ colorScheme: 'dark' })
          t.strictSame(await barriers(), [], 'a phone of 320 px in dark mode')
        }
        for (const state of states) await t.test(`${state.name}, ${locale}`, t => look(t, state))
      }
    }
  )

  t.test('dark mode shows light letters on a dark ground', async t => {
    const { page } = await openTab(t, browser)
    const [login] = await pageStates(t)
    await login?.open(page)
    const brightness = async (property: string) => {
      const color = await page.evaluate<string>(`getComputedStyle(document.querySelector('main')).${property}`)
      return (color.match(/\d+/g) ?? []).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 3
    }
    t.ok((await brightness('color')) < 80 && (await brightness('backgroundColor')) > 200, 'light')
    await page.emulateMedia({ colorScheme: 'dark' })
    t.ok((await brightness('color')) > 200 && (await brightness('backgroundColor')) < 80, 'dark')
  })
}

const LOCALES = ['en-GB', 'de-DE', 'fr-FR', 'es-ES'] as const

/** False for the message that Chromium itself writes for every page whose status is an error. */
const isUnexpected = (message: string): boolean =>
  !/^Failed to load resource: the server responded with a status of (400|403|429|503) /.test(message)

const hasVisibleFocus = (page: Page): Promise<boolean> =>
  page.evaluate(`(() => {
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement)
    return outlineStyle === 'solid' && parseFloat(outlineWidth) >= 2
  })()`)

/** The description of an input, which a screen reader says after its name. */
const describedAs = async (page: Page, name: string): Promise<string> => {
  const devtools = await page.context().newCDPSession(page)
  const { nodes } = await devtools.send('Accessibility.getFullAXTree')
  return nodes.find(node => node.role?.value === 'textbox' && node.name?.value === name)?.description?.value
}

const chromium = findChromium()
if (chromium === undefined) t.plan(0, 'there is no Chromium: install one or name it in CHROMIUM_PATH')
else await suite(chromium)
