// Scripts that a browser runs, as texts: nothing here runs in Node, and no package is needed to make them.

/**
 * The script of `/docs`. It leads to the page under `PUBLIC_URL` first, where the login page can lead back to, and then
 * loads Swagger UI, which reads `/openapi.json`.
 */
export const DOCS_SCRIPT = `'use strict'
{
  const { publicUrl, bundle } = document.getElementById('docs').dataset
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches)

  // What nobody needs here: a secret, since the client \`docs\` is public; a choice of servers, since there is one; and,
  // in the dialog of the whole page, ways to authorize but the one through the login page. Endpoints have them all.
  const isForSecret = child => child.props?.htmlFor?.startsWith('client_secret')
  const leadsThroughLogin = definition => definition.first().get('flow') === 'authorizationCode'
  // Swagger UI sends the example of a parameter that nobody has filled in: a list would begin after the hero 100.
  const withoutExamples = document => {
    for (const operation of Object.values(document.paths).flatMap(Object.values)) {
      for (const parameter of operation.parameters ?? []) {
        if (!parameter.required) delete parameter.example
      }
    }
    return document
  }
  const without = () => ({
    wrapComponents: {
      Row: (Row, { React }) => props =>
        React.Children.toArray(props.children).some(isForSecret) ? null : React.createElement(Row, props),
      ServersContainer: () => () => null
    },
    statePlugins: {
      spec: {
        wrapActions: { updateJsonSpec: update => document => update(withoutExamples(document)) }
      },
      auth: {
        wrapSelectors: {
          definitionsToAuthorize: all => (...given) => all(...given)?.filter(leadsThroughLogin)
        }
      }
    }
  })

  const scopesIn = ui =>
    Object.values(ui.specSelectors.specJson().getIn(['components', 'securitySchemes']).toJS())
      .flatMap(({ flows }) => Object.keys(flows?.authorizationCode?.scopes ?? {}))

  const show = () => {
    const ui = SwaggerUIBundle({
      dom_id: '#docs',
      url: 'openapi.json',
      oauth2RedirectUrl: publicUrl + '/docs/callback',
      deepLinking: true,
      tryItOutEnabled: true,
      defaultModelsExpandDepth: 0,
      // It would send the document to a website.
      validatorUrl: null,
      plugins: [without],
      onComplete: () => ui.initOAuth({ clientId: 'docs', scopes: scopesIn(ui), usePkceWithAuthorizationCodeGrant: true })
    })
  }

  if (location.origin !== new URL(publicUrl).origin) {
    location.replace(publicUrl + '/docs' + location.hash)
  } else {
    paint()
    dark.addEventListener('change', paint)
    const script = document.createElement('script')
    script.src = bundle
    script.onload = show
    document.head.append(script)
  }
}
`

/**
 * The script of `/docs/callback`, which the login page opens in the window that "Authorize" has opened. It hands the
 * code or the error (RFC 6749 section 4.1.2) to Swagger UI, and closes the window.
 */
export const CALLBACK_SCRIPT = `'use strict'
{
  const answer = Object.fromEntries(new URLSearchParams(location.search))
  const waiting = opener?.swaggerUIRedirectOauth2
  if (waiting) {
    const { auth, state, redirectUrl, callback, errCb } = waiting
    const refuse = message => errCb({ authId: auth.name, source: 'auth', level: 'error', message })
    if (answer.state !== state) refuse('This answer of the login page belongs to another request.')
    else if (!answer.code) refuse([answer.error, answer.error_description].filter(Boolean).join(': '))
    else {
      auth.code = answer.code
      callback({ auth, redirectUrl })
    }
    close()
  }
}
`
