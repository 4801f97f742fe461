export interface paths {
  '/heroes': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * List heroes
     * @description Every hero, by ascending id, or those that the query asks for. With `limit`, `Link` leads from page to page: follow it until it is absent. Without `limit` a list of more than 1,000 heroes may have to wait for others. Unknown parameters are ignored.
     */
    get: operations['listHeroes']
    put?: never
    /**
     * Create a hero
     * @description Stores a hero under a new id. An `id` in the body is ignored.
     */
    post: operations['createHero']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/heroes/{id}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Fetch a hero
     * @description The hero with this id.
     */
    get: operations['getHero']
    /**
     * Rename a hero
     * @description Replaces what is stored of the hero, on the same terms as creating one. The id stays.
     */
    put: operations['replaceHero']
    post?: never
    /**
     * Remove a hero
     * @description Removes the hero. Its id is never given out again. A body is read and ignored.
     */
    delete: operations['removeHero']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/.well-known/oauth-authorization-server': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Fetch the metadata of the authorization server
     * @description RFC 8414: where the endpoints are and what they support, for client libraries.
     */
    get: operations['getMetadata']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/docs/swagger-ui.css': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Fetch a part of the interactive page
     * @description The page names it with its version, under which it may be kept for good.
     */
    get: operations['getSwaggerUiStyle']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/docs/swagger-ui-bundle.js': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Fetch a part of the interactive page
     * @description The page names it with its version, under which it may be kept for good.
     */
    get: operations['getSwaggerUi']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/docs/docs.css': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Fetch a part of the interactive page
     * @description The page names it with its version, under which it may be kept for good.
     */
    get: operations['getDocsStyle']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/docs/docs.js': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Fetch a part of the interactive page
     * @description The page names it with its version, under which it may be kept for good.
     */
    get: operations['getDocsScript']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/docs/callback.js': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Fetch a part of the interactive page
     * @description The page names it with its version, under which it may be kept for good.
     */
    get: operations['getDocsCallbackScript']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/docs': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Read and try what the service can do
     * @description An interactive page for people, which shows this document.
     */
    get: operations['showDocs']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/docs/callback': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Return from the login page to the interactive page
     * @description The redirect URI of the client `docs`. A script of the page reads the parameters.
     */
    get: operations['returnToDocs']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Go to the interactive page
     * @description For browsers, which name `text/html` in `Accept`. For everybody else there is nothing here.
     */
    get: operations['goToDocs']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/health/live': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Ask whether the process runs
     * @description For the supervisor of the process.
     */
    get: operations['checkLiveness']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/health/ready': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Ask whether the service should get requests
     * @description For load balancers. The service is not ready while its database is away, takes no writes or lacks its schema, and while it shuts down. The answer comes within two seconds.
     */
    get: operations['checkReadiness']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/openapi.json': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Fetch this document
     * @description OpenAPI 3.1, made from the schemas of the routes.
     */
    get: operations['getOpenApi']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/register': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Register a user
     * @description Registers a user, who can log in from then on. The password is stored as a salted hash alone.
     */
    post: operations['registerUser']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/auth/token': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Get a token
     * @description The token endpoint of RFC 6749. A client that has a secret sends it by HTTP Basic or in the form; a public client sends an empty one, or its `client_id` alone. A repeated refresh within the grace gets the same answer again; after it, the whole login ends. The query string is not read.
     */
    post: operations['issueToken']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/auth/code': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Show the login page
     * @description The authorization endpoint of RFC 6749, for browsers. The page holds a form that is posted to the same address. It carries every parameter along, unknown ones too.
     */
    get: operations['showLoginPage']
    put?: never
    /**
     * Log in by the login page
     * @description What the login page posts. Each parameter but `username` and `password` may stand in the query string instead; two different values are refused. A browser that sends the form for another site is refused.
     */
    post: operations['logIn']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/auth/revoke': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * End a token
     * @description RFC 7009. A refresh token ends with its whole login, an access token by itself. From then on no instance takes it. A token that is not known is no error.
     */
    post: operations['revokeToken']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/auth/introspect': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Ask about a token
     * @description RFC 7662. Tells any client that has a secret about any token.
     */
    post: operations['introspectToken']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/callback': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Show the code of the first client
     * @description The redirect URI of the client `local`, which a trial without a database server has. The page shows the code and the line that redeems it, or the error.
     */
    get: operations['showCode']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
}
export type webhooks = Record<string, never>
export interface components {
  schemas: {
    Error: {
      /** @description What is wrong and what to send instead, for a person. */
      error: string
    }
    Health: {
      status: string
    }
    Hero: {
      /**
       * @description Given out once and never again.
       * @example 1
       */
      id: number
      /**
       * @description The name, which no other hero has, as it was sent.
       * @example Starling
       */
      name: string
    }
    Introspection: {
      /** @description Whether the token is of any use. */
      active: boolean
      /** @description The scopes of the token, with spaces between them. */
      scope?: string
      /** @description The client to which it was issued. */
      client_id?: string
      /** @description The user who logged in. */
      username?: string
      /**
       * @description For access tokens.
       * @constant
       */
      token_type?: 'bearer'
      /** @description The id of the user, or of the client for a token that it has for itself. */
      sub?: string
      /** @description The issuer: the address of this service. */
      iss?: string
      /** @description When it expires, in seconds since 1970. */
      exp?: number
      /** @description When it was issued, in seconds since 1970. */
      iat?: number
    }
    Metadata: {
      issuer: string
      authorization_endpoint: string
      token_endpoint: string
      revocation_endpoint: string
      introspection_endpoint: string
      response_types_supported: string[]
      response_modes_supported: string[]
      grant_types_supported: string[]
      token_endpoint_auth_methods_supported: string[]
      revocation_endpoint_auth_methods_supported: string[]
      introspection_endpoint_auth_methods_supported: string[]
      code_challenge_methods_supported: string[]
      authorization_response_iss_parameter_supported: boolean
    }
    NewHero: {
      /** @description Ignored, whatever it is. */
      id?: unknown
      /**
       * @description The name, which no other hero has, as it was sent.
       * @example Starling
       */
      name: string
    }
    OAuthError: {
      /**
       * @description The code of RFC 6749, for a program.
       * @enum {string}
       */
      error:
        | 'invalid_request'
        | 'invalid_client'
        | 'invalid_grant'
        | 'invalid_scope'
        | 'unauthorized_client'
        | 'unsupported_grant_type'
        | 'temporarily_unavailable'
        | 'server_error'
      /** @description What is wrong and what to send instead, for a person. */
      error_description: string
    }
    OpenApi: {
      openapi: string
    }
    Registration: {
      /** @description Ignored, whatever it is. */
      id?: unknown
      /**
       * @description The name, which no other user has. It is put into the form NFC of Unicode.
       * @example ada
       */
      username: string
      /**
       * Format: password
       * @description The password. It is put into the form NFC of Unicode and never shown again.
       * @example correct horse
       */
      password: string
    }
    TokenResponse: {
      /** @description To be sent as `Authorization: Bearer`. */
      access_token: string
      /** @description Buys the next tokens, once. Clients without a secret get none. */
      refresh_token?: string
      /** @description Seconds until the access token expires. */
      expires_in: number
      /** @constant */
      token_type: 'bearer'
      /** @description The scopes of the access token, with spaces between them. */
      scope?: string
    }
    User: {
      /**
       * @description Given out once and never again.
       * @example 1
       */
      id: number
      /**
       * @description The name in the form NFC of Unicode.
       * @example ada
       */
      username: string
    }
  }
  responses: never
  parameters: never
  requestBodies: never
  headers: {
    /**
     * @description The name of the service and its major version.
     * @example heroes/1
     */
    Server: string
    /** @description No other site may show the answer in a frame. */
    'X-Frame-Options': 'SAMEORIGIN'
    /** @description For browsers of long ago. */
    'X-XSS-Protection': '1; mode=block'
    /** @description No browser may guess another content type. */
    'X-Content-Type-Options': 'nosniff'
    /** @description The length of the body in bytes, after compression. */
    'Content-Length': number
    /** @description `gzip`, when the request names it in `Accept-Encoding`. */
    'Content-Encoding': 'gzip'
    /**
     * @description The answer may be compressed, and is cached apart from the one that is not.
     * @example accept-encoding
     */
    Vary: string
    /**
     * @description Whether the answer may be kept.
     * @example no-store
     */
    'Cache-Control': string
    /** @description `Cache-Control: no-store` for caches of long ago. */
    Pragma: 'no-cache'
    /**
     * @description The version of the answer, for `If-None-Match`.
     * @example W/"Nsd0HqPoGn3PZ3dUpeI1Ec1cF1Zt8mWKjNLRc9BzsVc"
     */
    ETag: string
    /**
     * @description The address of the next page, absolute, as `rel="next"` (RFC 8288). Absent on the last page.
     * @example <https://heroes.example/heroes?limit=100&after=100>; rel="next"
     */
    Link: string
    /**
     * @description Where the browser goes next.
     * @example https://shop.example/back?code=Zk3Vq0pTn8LwYc5RbXs7HdJf2MgKa9Ue&state=xyz&iss=https%3A%2F%2Fheroes.example
     */
    Location: string
    /**
     * @description After how many seconds another try makes sense.
     * @example 1
     */
    'Retry-After': number
    /**
     * @description How to authenticate: `Bearer` for the heroes (RFC 6750), `Basic` for clients (RFC 7617).
     * @example Bearer realm="heroes", error="invalid_token"
     */
    'WWW-Authenticate': string
    /** @description The page loads nothing from anywhere, and nobody may frame it. */
    'Content-Security-Policy': string
    /**
     * @description The language of the page: that of `Accept-Language`, or English.
     * @example en
     */
    'Content-Language': string
    /** @description No other site learns the address of the page. */
    'Referrer-Policy': 'no-referrer'
    /** @description No other site may load the answer as a part of its own pages. */
    'Cross-Origin-Resource-Policy': 'same-origin'
    /** @description The browser keeps the page apart from those of other origins of its site. */
    'Origin-Agent-Cluster': '?1'
    /** @description The browser looks no address up before somebody follows a link. */
    'X-DNS-Prefetch-Control': 'off'
    /** @description For Internet Explorer. */
    'X-Download-Options': 'noopen'
    /** @description For Flash and Acrobat. */
    'X-Permitted-Cross-Domain-Policies': 'none'
  }
  pathItems: never
}
export type $defs = Record<string, never>
export interface operations {
  listHeroes: {
    parameters: {
      query?: {
        /**
         * @description Only heroes whose name contains this text, whatever the case. `%`, `_` and `\` are plain characters.
         * @example star
         */
        name?: string
        /**
         * @description At most so many heroes. While there are more, `Link` names the next page.
         * @example 100
         */
        limit?: number
        /**
         * @description Only heroes with a greater id. `Link` sets it for the next page.
         * @example 100
         */
        after?: number
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The heroes. The list is empty when there are none. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          Link: components['headers']['Link']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Hero'][]
        }
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The request lacks what authenticates it. */
      401: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'WWW-Authenticate': components['headers']['WWW-Authenticate']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The request is refused. */
      403: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'WWW-Authenticate': components['headers']['WWW-Authenticate']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The service failed. Its log says why. */
      500: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The service cannot answer right now. `Retry-After` says when to try again. */
      503: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  createHero: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['NewHero']
      }
    }
    responses: {
      /** @description The hero with its id. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Hero']
        }
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The request lacks what authenticates it. */
      401: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'WWW-Authenticate': components['headers']['WWW-Authenticate']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The request is refused. */
      403: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'WWW-Authenticate': components['headers']['WWW-Authenticate']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The request took too long to arrive. The connection ends. */
      408: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The name is taken. */
      409: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The body is too large. */
      413: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The body is of a kind that is not read here. */
      415: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The service failed. Its log says why. */
      500: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The service cannot answer right now. `Retry-After` says when to try again. */
      503: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getHero: {
    parameters: {
      query?: never
      header?: never
      path: {
        /**
         * @description The id of the hero. An integer of any size that no hero has is 404.
         * @example 1
         */
        id: number
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The hero. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Hero']
        }
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The request lacks what authenticates it. */
      401: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'WWW-Authenticate': components['headers']['WWW-Authenticate']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The request is refused. */
      403: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'WWW-Authenticate': components['headers']['WWW-Authenticate']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description What the path names is not here. */
      404: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The service failed. Its log says why. */
      500: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The service cannot answer right now. `Retry-After` says when to try again. */
      503: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  replaceHero: {
    parameters: {
      query?: never
      header?: never
      path: {
        /**
         * @description The id of the hero. An integer of any size that no hero has is 404.
         * @example 1
         */
        id: number
      }
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['NewHero']
      }
    }
    responses: {
      /** @description The hero as it is stored now. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Hero']
        }
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The request lacks what authenticates it. */
      401: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'WWW-Authenticate': components['headers']['WWW-Authenticate']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The request is refused. */
      403: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'WWW-Authenticate': components['headers']['WWW-Authenticate']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description What the path names is not here. */
      404: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The request took too long to arrive. The connection ends. */
      408: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The name is taken. */
      409: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The body is too large. */
      413: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The body is of a kind that is not read here. */
      415: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The service failed. Its log says why. */
      500: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The service cannot answer right now. `Retry-After` says when to try again. */
      503: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  removeHero: {
    parameters: {
      query?: never
      header?: never
      path: {
        /**
         * @description The id of the hero. An integer of any size that no hero has is 404.
         * @example 1
         */
        id: number
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The hero is gone. */
      204: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          [name: string]: unknown
        }
        content?: never
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The request lacks what authenticates it. */
      401: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'WWW-Authenticate': components['headers']['WWW-Authenticate']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The request is refused. */
      403: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'WWW-Authenticate': components['headers']['WWW-Authenticate']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description What the path names is not here. */
      404: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The request took too long to arrive. The connection ends. */
      408: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The body is too large. */
      413: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The body is of a kind that is not read here. */
      415: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The service failed. Its log says why. */
      500: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The service cannot answer right now. `Retry-After` says when to try again. */
      503: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getMetadata: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The metadata. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Metadata']
        }
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getSwaggerUiStyle: {
    parameters: {
      query?: {
        /**
         * @description The version of the file.
         * @example k0Yv3nQmZs8TfLr1
         */
        v?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The file. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          [name: string]: unknown
        }
        content: {
          'text/css': string
        }
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getSwaggerUi: {
    parameters: {
      query?: {
        /**
         * @description The version of the file.
         * @example k0Yv3nQmZs8TfLr1
         */
        v?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The file. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          [name: string]: unknown
        }
        content: {
          'text/javascript': string
        }
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getDocsStyle: {
    parameters: {
      query?: {
        /**
         * @description The version of the file.
         * @example k0Yv3nQmZs8TfLr1
         */
        v?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The file. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          [name: string]: unknown
        }
        content: {
          'text/css': string
        }
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getDocsScript: {
    parameters: {
      query?: {
        /**
         * @description The version of the file.
         * @example k0Yv3nQmZs8TfLr1
         */
        v?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The file. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          [name: string]: unknown
        }
        content: {
          'text/javascript': string
        }
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getDocsCallbackScript: {
    parameters: {
      query?: {
        /**
         * @description The version of the file.
         * @example k0Yv3nQmZs8TfLr1
         */
        v?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The file. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          [name: string]: unknown
        }
        content: {
          'text/javascript': string
        }
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  showDocs: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The page. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          'Content-Security-Policy': components['headers']['Content-Security-Policy']
          'Referrer-Policy': components['headers']['Referrer-Policy']
          'Cross-Origin-Resource-Policy': components['headers']['Cross-Origin-Resource-Policy']
          [name: string]: unknown
        }
        content: {
          'text/html': string
        }
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  returnToDocs: {
    parameters: {
      query?: {
        /**
         * @description The code.
         * @example Zk3Vq0pTn8LwYc5RbXs7HdJf2MgKa9Ue
         */
        code?: string
        /**
         * @description Why there is no code.
         * @example access_denied
         */
        error?: string
        /**
         * @description The same for a person.
         * @example state is missing
         */
        error_description?: string
        /**
         * @description The state of the request.
         * @example xyz
         */
        state?: string
        /**
         * @description The issuer.
         * @example https://heroes.example
         */
        iss?: string
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The page. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          'Content-Security-Policy': components['headers']['Content-Security-Policy']
          'Referrer-Policy': components['headers']['Referrer-Policy']
          'Cross-Origin-Resource-Policy': components['headers']['Cross-Origin-Resource-Policy']
          [name: string]: unknown
        }
        content: {
          'text/html': string
        }
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  goToDocs: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description To the interactive page. */
      302: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          Location: components['headers']['Location']
          'Content-Length': components['headers']['Content-Length']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content?: never
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description What the path names is not here. */
      404: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description Any other failure. */
      default: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  checkLiveness: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description It runs. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Health']
        }
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  checkReadiness: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description It is ready. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Health']
        }
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The service failed. Its log says why. */
      500: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The service cannot answer right now. `Retry-After` says when to try again. */
      503: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  getOpenApi: {
    parameters: {
      query?: never
      header?: {
        /**
         * @description The `ETag` of each document that the client has kept, or `*`.
         * @example W/"Nsd0HqPo"
         */
        'If-None-Match'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The document. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          ETag: components['headers']['ETag']
          'Cache-Control': components['headers']['Cache-Control']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OpenApi']
        }
      }
      /** @description The document that the client has kept is this one. */
      304: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          ETag: components['headers']['ETag']
          'Cache-Control': components['headers']['Cache-Control']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content?: never
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  registerUser: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/json': components['schemas']['Registration']
      }
    }
    responses: {
      /** @description The user with its id. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['User']
        }
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The request took too long to arrive. The connection ends. */
      408: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The name is taken. */
      409: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The body is too large. */
      413: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The body is of a kind that is not read here. */
      415: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description There were too many attempts. `Retry-After` says when the next one is served. */
      429: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The service failed. Its log says why. */
      500: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
      /** @description The service cannot answer right now. `Retry-After` says when to try again. */
      503: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Error']
        }
      }
    }
  }
  issueToken: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/x-www-form-urlencoded': {
          /**
           * @description How the client gets the token.
           * @enum {string}
           */
          grant_type: 'authorization_code' | 'client_credentials' | 'password' | 'refresh_token'
          /**
           * @description `password`: the name of the user.
           * @example ada
           */
          username?: string
          /**
           * Format: password
           * @description `password`: the password of the user.
           * @example correct horse
           */
          password?: string
          /**
           * @description `authorization_code`: the code that the login page gave.
           * @example Zk3Vq0pTn8LwYc5RbXs7HdJf2MgKa9Ue
           */
          code?: string
          /**
           * @description `authorization_code`: required when the authorization request had one, and the same.
           * @example https://shop.example/back
           */
          redirect_uri?: string
          /**
           * @description `authorization_code`: required when the authorization request had a `code_challenge` (RFC 7636).
           * @example dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk
           */
          code_verifier?: string
          /**
           * @description `refresh_token`: the refresh token.
           * @example B3nKx8QmWz5TfLr0JvHc7SdYp2GiEa6u
           */
          refresh_token?: string
          /**
           * @description The scopes that are wanted, with spaces between them. Those that the client is not allowed are left out. With `refresh_token`, a part of what was granted.
           * @example heroes:read heroes:write
           */
          scope?: string
          /**
           * @description The id of the client, where it does not authenticate by Basic.
           * @example shop
           */
          client_id?: string
          /**
           * Format: password
           * @description The secret of the client, where it does not authenticate by Basic. A public client has none.
           */
          client_secret?: string
        }
      }
    }
    responses: {
      /** @description The tokens. A refresh token is there for a client that has a secret and the refresh grant, and a user. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['TokenResponse']
        }
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The request lacks what authenticates it. */
      401: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          'WWW-Authenticate': components['headers']['WWW-Authenticate']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The request is refused. */
      403: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The request took too long to arrive. The connection ends. */
      408: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The body is too large. */
      413: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The body is of a kind that is not read here. */
      415: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description There were too many attempts. `Retry-After` says when the next one is served. */
      429: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The service failed. Its log says why. */
      500: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The service cannot answer right now. `Retry-After` says when to try again. */
      503: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
    }
  }
  showLoginPage: {
    parameters: {
      query: {
        /**
         * @description The id of a registered client that has a redirect URI.
         * @example shop
         */
        client_id: string
        /** @description Always `code`. */
        response_type: 'code'
        /** @description Always `query`. */
        response_mode?: 'query'
        /**
         * @description A text of the client, of up to 4,096 bytes, which comes back unchanged.
         * @example xyz
         */
        state: string
        /**
         * @description Where the browser returns to: exactly as it is registered, the port of this machine aside. Required where several are registered.
         * @example https://shop.example/back
         */
        redirect_uri?: string
        /**
         * @description The scopes that are wanted, with spaces between them.
         * @example heroes:read heroes:write
         */
        scope?: string
        /**
         * @description RFC 7636: base64url of the SHA-256 of the verifier. Required of clients that are registered so.
         * @example E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM
         */
        code_challenge?: string
        /** @description Always `S256`, and required with `code_challenge`. */
        code_challenge_method?: 'S256'
      }
      header?: {
        /**
         * @description The language of the page: English, German, French or Spanish.
         * @example de
         */
        'Accept-Language'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The login page. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          'Content-Security-Policy': components['headers']['Content-Security-Policy']
          'Referrer-Policy': components['headers']['Referrer-Policy']
          'Cross-Origin-Resource-Policy': components['headers']['Cross-Origin-Resource-Policy']
          'Origin-Agent-Cluster': components['headers']['Origin-Agent-Cluster']
          'X-DNS-Prefetch-Control': components['headers']['X-DNS-Prefetch-Control']
          'X-Download-Options': components['headers']['X-Download-Options']
          'X-Permitted-Cross-Domain-Policies': components['headers']['X-Permitted-Cross-Domain-Policies']
          'Content-Language': components['headers']['Content-Language']
          [name: string]: unknown
        }
        content: {
          'text/html': string
        }
      }
      /** @description Back to the client, with `state` and `iss` (RFC 9207), and with `error` and `error_description` where the request is wrong: `invalid_request`, `unsupported_response_type`, `unauthorized_client` or `invalid_scope`. */
      302: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Cache-Control': components['headers']['Cache-Control']
          'Content-Security-Policy': components['headers']['Content-Security-Policy']
          'Referrer-Policy': components['headers']['Referrer-Policy']
          'Cross-Origin-Resource-Policy': components['headers']['Cross-Origin-Resource-Policy']
          'Origin-Agent-Cluster': components['headers']['Origin-Agent-Cluster']
          'X-DNS-Prefetch-Control': components['headers']['X-DNS-Prefetch-Control']
          'X-Download-Options': components['headers']['X-Download-Options']
          'X-Permitted-Cross-Domain-Policies': components['headers']['X-Permitted-Cross-Domain-Policies']
          Location: components['headers']['Location']
          'Content-Length': components['headers']['Content-Length']
          [name: string]: unknown
        }
        content?: never
      }
      /**
       * @description Something in the request is wrong. For developers the page says one of these:
       *
       *     - the request has no Host header: send one
       *     - the Host header is not a host: send its name or address, and a port behind a colon
       *     - the request has more than one Host header: send one
       *     - this version of HTTP is not read here: use HTTP/1.1
       *     - HTTP/1.0 has no Transfer-Encoding: send Content-Length, or use HTTP/1.1
       *     - the body has a transfer coding that is not read here: send chunked alone
       *     - a parameter is repeated: send each one once
       *     - a parameter is longer than 16384 bytes: send a shorter one
       *     - there are more than 1000 parameters: send fewer
       *     - a parameter is not valid UTF-8: encode it as UTF-8
       *     - a parameter holds a NUL character: leave it out
       *     - a parameter has a broken percent-escape: write % as %25
       *     - the query string has characters that must be percent-encoded: encode all but printable ASCII
       *     - the parameters are longer than 16384 bytes together: send shorter ones
       *     - state is longer than 4096 bytes: send a shorter one
       *     - the application is not known here
       *     - the application has no address to return to
       *     - the application registered several addresses, and the request does not say to which of them to return
       *     - the address to return to is none that the application registered
       */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          'Content-Security-Policy': components['headers']['Content-Security-Policy']
          'Referrer-Policy': components['headers']['Referrer-Policy']
          'Cross-Origin-Resource-Policy': components['headers']['Cross-Origin-Resource-Policy']
          'Origin-Agent-Cluster': components['headers']['Origin-Agent-Cluster']
          'X-DNS-Prefetch-Control': components['headers']['X-DNS-Prefetch-Control']
          'X-Download-Options': components['headers']['X-Download-Options']
          'X-Permitted-Cross-Domain-Policies': components['headers']['X-Permitted-Cross-Domain-Policies']
          'Content-Language': components['headers']['Content-Language']
          [name: string]: unknown
        }
        content: {
          'text/html': string
        }
      }
      /** @description The service failed. Its log says why. */
      500: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          'Content-Security-Policy': components['headers']['Content-Security-Policy']
          'Referrer-Policy': components['headers']['Referrer-Policy']
          'Cross-Origin-Resource-Policy': components['headers']['Cross-Origin-Resource-Policy']
          'Origin-Agent-Cluster': components['headers']['Origin-Agent-Cluster']
          'X-DNS-Prefetch-Control': components['headers']['X-DNS-Prefetch-Control']
          'X-Download-Options': components['headers']['X-Download-Options']
          'X-Permitted-Cross-Domain-Policies': components['headers']['X-Permitted-Cross-Domain-Policies']
          'Content-Language': components['headers']['Content-Language']
          [name: string]: unknown
        }
        content: {
          'text/html': string
        }
      }
      /** @description The service cannot answer right now. `Retry-After` says when to try again. */
      503: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          'Content-Security-Policy': components['headers']['Content-Security-Policy']
          'Referrer-Policy': components['headers']['Referrer-Policy']
          'Cross-Origin-Resource-Policy': components['headers']['Cross-Origin-Resource-Policy']
          'Origin-Agent-Cluster': components['headers']['Origin-Agent-Cluster']
          'X-DNS-Prefetch-Control': components['headers']['X-DNS-Prefetch-Control']
          'X-Download-Options': components['headers']['X-Download-Options']
          'X-Permitted-Cross-Domain-Policies': components['headers']['X-Permitted-Cross-Domain-Policies']
          'Content-Language': components['headers']['Content-Language']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'text/html': string
        }
      }
    }
  }
  logIn: {
    parameters: {
      query?: {
        /**
         * @description The id of a registered client that has a redirect URI.
         * @example shop
         */
        client_id?: string
        /** @description Always `code`. */
        response_type?: 'code'
        /** @description Always `query`. */
        response_mode?: 'query'
        /**
         * @description A text of the client, of up to 4,096 bytes, which comes back unchanged.
         * @example xyz
         */
        state?: string
        /**
         * @description Where the browser returns to: exactly as it is registered, the port of this machine aside. Required where several are registered.
         * @example https://shop.example/back
         */
        redirect_uri?: string
        /**
         * @description The scopes that are wanted, with spaces between them.
         * @example heroes:read heroes:write
         */
        scope?: string
        /**
         * @description RFC 7636: base64url of the SHA-256 of the verifier. Required of clients that are registered so.
         * @example E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM
         */
        code_challenge?: string
        /** @description Always `S256`, and required with `code_challenge`. */
        code_challenge_method?: 'S256'
      }
      header?: {
        /**
         * @description The language of the page: English, German, French or Spanish.
         * @example de
         */
        'Accept-Language'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/x-www-form-urlencoded': {
          /**
           * @description The id of a registered client that has a redirect URI.
           * @example shop
           */
          client_id?: string
          /**
           * @description Always `code`.
           * @enum {string}
           */
          response_type?: 'code'
          /**
           * @description Always `query`.
           * @enum {string}
           */
          response_mode?: 'query'
          /**
           * @description A text of the client, of up to 4,096 bytes, which comes back unchanged.
           * @example xyz
           */
          state?: string
          /**
           * @description Where the browser returns to: exactly as it is registered, the port of this machine aside. Required where several are registered.
           * @example https://shop.example/back
           */
          redirect_uri?: string
          /**
           * @description The scopes that are wanted, with spaces between them.
           * @example heroes:read heroes:write
           */
          scope?: string
          /**
           * @description RFC 7636: base64url of the SHA-256 of the verifier. Required of clients that are registered so.
           * @example E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM
           */
          code_challenge?: string
          /**
           * @description Always `S256`, and required with `code_challenge`.
           * @enum {string}
           */
          code_challenge_method?: 'S256'
          /**
           * @description The name of the user.
           * @example ada
           */
          username?: string
          /**
           * Format: password
           * @description The password.
           * @example correct horse
           */
          password?: string
          /**
           * @description Of any value: the person goes back to the client without a login.
           * @example yes
           */
          cancel?: string
        }
      }
    }
    responses: {
      /** @description Back to the client, with `state` and `iss` (RFC 9207), and with `code`; or with `error` and `error_description` where the request is wrong: `invalid_request`, `unsupported_response_type`, `unauthorized_client` or `invalid_scope`, or `access_denied` where the person cancelled. */
      302: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Cache-Control': components['headers']['Cache-Control']
          'Content-Security-Policy': components['headers']['Content-Security-Policy']
          'Referrer-Policy': components['headers']['Referrer-Policy']
          'Cross-Origin-Resource-Policy': components['headers']['Cross-Origin-Resource-Policy']
          'Origin-Agent-Cluster': components['headers']['Origin-Agent-Cluster']
          'X-DNS-Prefetch-Control': components['headers']['X-DNS-Prefetch-Control']
          'X-Download-Options': components['headers']['X-Download-Options']
          'X-Permitted-Cross-Domain-Policies': components['headers']['X-Permitted-Cross-Domain-Policies']
          Location: components['headers']['Location']
          'Content-Length': components['headers']['Content-Length']
          [name: string]: unknown
        }
        content?: never
      }
      /**
       * @description Something in the request is wrong. For developers the page says one of these:
       *
       *     - the request has no Host header: send one
       *     - the Host header is not a host: send its name or address, and a port behind a colon
       *     - the request has more than one Host header: send one
       *     - this version of HTTP is not read here: use HTTP/1.1
       *     - HTTP/1.0 has no Transfer-Encoding: send Content-Length, or use HTTP/1.1
       *     - the body has a transfer coding that is not read here: send chunked alone
       *     - the request is malformed: send HTTP as RFC 9112 has it
       *     - the content type is not one that is read here: send application/x-www-form-urlencoded
       *     - the request has no form: send one as application/x-www-form-urlencoded
       *     - a parameter is repeated: send each one once
       *     - a parameter is longer than 16384 bytes: send a shorter one
       *     - there are more than 1000 parameters: send fewer
       *     - a parameter is not valid UTF-8: encode it as UTF-8
       *     - a parameter holds a NUL character: leave it out
       *     - a parameter has a broken percent-escape: write % as %25
       *     - the query string has characters that must be percent-encoded: encode all but printable ASCII
       *     - the parameters are longer than 16384 bytes together: send shorter ones
       *     - state is longer than 4096 bytes: send a shorter one
       *     - the form and the link contradict each other
       *     - the application is not known here
       *     - the application has no address to return to
       *     - the application registered several addresses, and the request does not say to which of them to return
       *     - the address to return to is none that the application registered
       */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          'Content-Security-Policy': components['headers']['Content-Security-Policy']
          'Referrer-Policy': components['headers']['Referrer-Policy']
          'Cross-Origin-Resource-Policy': components['headers']['Cross-Origin-Resource-Policy']
          'Origin-Agent-Cluster': components['headers']['Origin-Agent-Cluster']
          'X-DNS-Prefetch-Control': components['headers']['X-DNS-Prefetch-Control']
          'X-Download-Options': components['headers']['X-Download-Options']
          'X-Permitted-Cross-Domain-Policies': components['headers']['X-Permitted-Cross-Domain-Policies']
          'Content-Language': components['headers']['Content-Language']
          [name: string]: unknown
        }
        content: {
          'text/html': string
        }
      }
      /** @description The username or the password is wrong: the form again. Or a page: another website sent this form. */
      403: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          'Content-Security-Policy': components['headers']['Content-Security-Policy']
          'Referrer-Policy': components['headers']['Referrer-Policy']
          'Cross-Origin-Resource-Policy': components['headers']['Cross-Origin-Resource-Policy']
          'Origin-Agent-Cluster': components['headers']['Origin-Agent-Cluster']
          'X-DNS-Prefetch-Control': components['headers']['X-DNS-Prefetch-Control']
          'X-Download-Options': components['headers']['X-Download-Options']
          'X-Permitted-Cross-Domain-Policies': components['headers']['X-Permitted-Cross-Domain-Policies']
          'Content-Language': components['headers']['Content-Language']
          [name: string]: unknown
        }
        content: {
          'text/html': string
        }
      }
      /**
       * @description The request took too long to arrive. The connection ends. For developers the page says one of these:
       *
       *     - the request took too long to arrive: send its headers within 20 seconds and all of it within 120
       */
      408: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          'Content-Security-Policy': components['headers']['Content-Security-Policy']
          'Referrer-Policy': components['headers']['Referrer-Policy']
          'Cross-Origin-Resource-Policy': components['headers']['Cross-Origin-Resource-Policy']
          'Origin-Agent-Cluster': components['headers']['Origin-Agent-Cluster']
          'X-DNS-Prefetch-Control': components['headers']['X-DNS-Prefetch-Control']
          'X-Download-Options': components['headers']['X-Download-Options']
          'X-Permitted-Cross-Domain-Policies': components['headers']['X-Permitted-Cross-Domain-Policies']
          'Content-Language': components['headers']['Content-Language']
          [name: string]: unknown
        }
        content: {
          'text/html': string
        }
      }
      /**
       * @description The body is too large. For developers the page says one of these:
       *
       *     - the body is too large: send at most 10485760 bytes
       *     - the chunk extensions are too large: send chunks without extensions
       */
      413: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          'Content-Security-Policy': components['headers']['Content-Security-Policy']
          'Referrer-Policy': components['headers']['Referrer-Policy']
          'Cross-Origin-Resource-Policy': components['headers']['Cross-Origin-Resource-Policy']
          'Origin-Agent-Cluster': components['headers']['Origin-Agent-Cluster']
          'X-DNS-Prefetch-Control': components['headers']['X-DNS-Prefetch-Control']
          'X-Download-Options': components['headers']['X-Download-Options']
          'X-Permitted-Cross-Domain-Policies': components['headers']['X-Permitted-Cross-Domain-Policies']
          'Content-Language': components['headers']['Content-Language']
          [name: string]: unknown
        }
        content: {
          'text/html': string
        }
      }
      /**
       * @description The body is of a kind that is not read here. For developers the page says one of these:
       *
       *     - the body has a content coding: send it without Content-Encoding
       */
      415: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          'Content-Security-Policy': components['headers']['Content-Security-Policy']
          'Referrer-Policy': components['headers']['Referrer-Policy']
          'Cross-Origin-Resource-Policy': components['headers']['Cross-Origin-Resource-Policy']
          'Origin-Agent-Cluster': components['headers']['Origin-Agent-Cluster']
          'X-DNS-Prefetch-Control': components['headers']['X-DNS-Prefetch-Control']
          'X-Download-Options': components['headers']['X-Download-Options']
          'X-Permitted-Cross-Domain-Policies': components['headers']['X-Permitted-Cross-Domain-Policies']
          'Content-Language': components['headers']['Content-Language']
          [name: string]: unknown
        }
        content: {
          'text/html': string
        }
      }
      /** @description Too many logins were tried: the form again, which says when to come back. */
      429: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          'Content-Security-Policy': components['headers']['Content-Security-Policy']
          'Referrer-Policy': components['headers']['Referrer-Policy']
          'Cross-Origin-Resource-Policy': components['headers']['Cross-Origin-Resource-Policy']
          'Origin-Agent-Cluster': components['headers']['Origin-Agent-Cluster']
          'X-DNS-Prefetch-Control': components['headers']['X-DNS-Prefetch-Control']
          'X-Download-Options': components['headers']['X-Download-Options']
          'X-Permitted-Cross-Domain-Policies': components['headers']['X-Permitted-Cross-Domain-Policies']
          'Content-Language': components['headers']['Content-Language']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'text/html': string
        }
      }
      /** @description The service failed. Its log says why. */
      500: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          'Content-Security-Policy': components['headers']['Content-Security-Policy']
          'Referrer-Policy': components['headers']['Referrer-Policy']
          'Cross-Origin-Resource-Policy': components['headers']['Cross-Origin-Resource-Policy']
          'Origin-Agent-Cluster': components['headers']['Origin-Agent-Cluster']
          'X-DNS-Prefetch-Control': components['headers']['X-DNS-Prefetch-Control']
          'X-Download-Options': components['headers']['X-Download-Options']
          'X-Permitted-Cross-Domain-Policies': components['headers']['X-Permitted-Cross-Domain-Policies']
          'Content-Language': components['headers']['Content-Language']
          [name: string]: unknown
        }
        content: {
          'text/html': string
        }
      }
      /** @description The service cannot answer right now. `Retry-After` says when to try again. */
      503: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          'Content-Security-Policy': components['headers']['Content-Security-Policy']
          'Referrer-Policy': components['headers']['Referrer-Policy']
          'Cross-Origin-Resource-Policy': components['headers']['Cross-Origin-Resource-Policy']
          'Origin-Agent-Cluster': components['headers']['Origin-Agent-Cluster']
          'X-DNS-Prefetch-Control': components['headers']['X-DNS-Prefetch-Control']
          'X-Download-Options': components['headers']['X-Download-Options']
          'X-Permitted-Cross-Domain-Policies': components['headers']['X-Permitted-Cross-Domain-Policies']
          'Content-Language': components['headers']['Content-Language']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'text/html': string
        }
      }
      /** @description Any other failure: a page that says what is wrong. */
      default: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          'Content-Security-Policy': components['headers']['Content-Security-Policy']
          'Referrer-Policy': components['headers']['Referrer-Policy']
          'Cross-Origin-Resource-Policy': components['headers']['Cross-Origin-Resource-Policy']
          'Origin-Agent-Cluster': components['headers']['Origin-Agent-Cluster']
          'X-DNS-Prefetch-Control': components['headers']['X-DNS-Prefetch-Control']
          'X-Download-Options': components['headers']['X-Download-Options']
          'X-Permitted-Cross-Domain-Policies': components['headers']['X-Permitted-Cross-Domain-Policies']
          'Content-Language': components['headers']['Content-Language']
          [name: string]: unknown
        }
        content: {
          'text/html': string
        }
      }
    }
  }
  revokeToken: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/x-www-form-urlencoded': {
          /**
           * @description An access token or a refresh token.
           * @example q7XbLd2MfV9sRkT4hYwC6nJz1PgEaU8o
           */
          token: string
          /**
           * @description Ignored: the token is found without it.
           * @example refresh_token
           */
          token_type_hint?: string
          /**
           * @description The id of the client, where it does not authenticate by Basic.
           * @example shop
           */
          client_id?: string
          /**
           * Format: password
           * @description The secret of the client, where it does not authenticate by Basic. A public client has none.
           */
          client_secret?: string
        }
      }
    }
    responses: {
      /** @description The token is of no use any more. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': Record<string, never>
        }
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The request lacks what authenticates it. */
      401: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          'WWW-Authenticate': components['headers']['WWW-Authenticate']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The request is refused. */
      403: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The request took too long to arrive. The connection ends. */
      408: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The body is too large. */
      413: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The body is of a kind that is not read here. */
      415: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The service failed. Its log says why. */
      500: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The service cannot answer right now. `Retry-After` says when to try again. */
      503: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
    }
  }
  introspectToken: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        'application/x-www-form-urlencoded': {
          /**
           * @description An access token or a refresh token.
           * @example q7XbLd2MfV9sRkT4hYwC6nJz1PgEaU8o
           */
          token: string
          /**
           * @description Ignored: the token is found without it.
           * @example refresh_token
           */
          token_type_hint?: string
          /**
           * @description The id of the client, where it does not authenticate by Basic.
           * @example shop
           */
          client_id?: string
          /**
           * Format: password
           * @description The secret of the client, where it does not authenticate by Basic. A public client has none.
           */
          client_secret?: string
        }
      }
    }
    responses: {
      /** @description What is known of the token. Of one that is not active, nothing else is told. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['Introspection']
        }
      }
      /** @description Something in the request is wrong. */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The request lacks what authenticates it. */
      401: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          'WWW-Authenticate': components['headers']['WWW-Authenticate']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The request is refused. */
      403: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The request took too long to arrive. The connection ends. */
      408: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The body is too large. */
      413: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The body is of a kind that is not read here. */
      415: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The service failed. Its log says why. */
      500: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
      /** @description The service cannot answer right now. `Retry-After` says when to try again. */
      503: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Pragma: components['headers']['Pragma']
          'Retry-After': components['headers']['Retry-After']
          [name: string]: unknown
        }
        content: {
          'application/json': components['schemas']['OAuthError']
        }
      }
    }
  }
  showCode: {
    parameters: {
      query?: {
        /**
         * @description The code.
         * @example Zk3Vq0pTn8LwYc5RbXs7HdJf2MgKa9Ue
         */
        code?: string
        /**
         * @description Why there is no code (RFC 6749 section 4.1.2.1).
         * @example invalid_scope
         */
        error?: string
        /**
         * @description The same for a person.
         * @example the client is allowed none of the requested scopes: request others, or none
         */
        error_description?: string
        /**
         * @description Ignored.
         * @example xyz
         */
        state?: string
        /**
         * @description Ignored.
         * @example http://localhost:3000
         */
        iss?: string
      }
      header?: {
        /**
         * @description The language of the page: English, German, French or Spanish.
         * @example de
         */
        'Accept-Language'?: string
      }
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The code, or the error. */
      200: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          'Content-Security-Policy': components['headers']['Content-Security-Policy']
          'Referrer-Policy': components['headers']['Referrer-Policy']
          'Cross-Origin-Resource-Policy': components['headers']['Cross-Origin-Resource-Policy']
          'Origin-Agent-Cluster': components['headers']['Origin-Agent-Cluster']
          'X-DNS-Prefetch-Control': components['headers']['X-DNS-Prefetch-Control']
          'X-Download-Options': components['headers']['X-Download-Options']
          'X-Permitted-Cross-Domain-Policies': components['headers']['X-Permitted-Cross-Domain-Policies']
          'Content-Language': components['headers']['Content-Language']
          [name: string]: unknown
        }
        content: {
          'text/html': string
        }
      }
      /**
       * @description Something in the request is wrong. For developers the page says one of these:
       *
       *     - the request has no Host header: send one
       *     - the Host header is not a host: send its name or address, and a port behind a colon
       *     - the request has more than one Host header: send one
       *     - this version of HTTP is not read here: use HTTP/1.1
       *     - HTTP/1.0 has no Transfer-Encoding: send Content-Length, or use HTTP/1.1
       *     - the body has a transfer coding that is not read here: send chunked alone
       *     - a parameter is repeated: send each one once
       *     - a parameter is longer than 16384 bytes: send a shorter one
       *     - there are more than 1000 parameters: send fewer
       *     - a parameter is not valid UTF-8: encode it as UTF-8
       *     - a parameter holds a NUL character: leave it out
       *     - a parameter has a broken percent-escape: write % as %25
       *     - the query string has characters that must be percent-encoded: encode all but printable ASCII
       *     - the parameters are longer than 16384 bytes together: send shorter ones
       *     - the link has neither a code nor an error
       */
      400: {
        headers: {
          Server: components['headers']['Server']
          'X-Frame-Options': components['headers']['X-Frame-Options']
          'X-XSS-Protection': components['headers']['X-XSS-Protection']
          'X-Content-Type-Options': components['headers']['X-Content-Type-Options']
          'Content-Length': components['headers']['Content-Length']
          'Content-Encoding': components['headers']['Content-Encoding']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          'Content-Security-Policy': components['headers']['Content-Security-Policy']
          'Referrer-Policy': components['headers']['Referrer-Policy']
          'Cross-Origin-Resource-Policy': components['headers']['Cross-Origin-Resource-Policy']
          'Origin-Agent-Cluster': components['headers']['Origin-Agent-Cluster']
          'X-DNS-Prefetch-Control': components['headers']['X-DNS-Prefetch-Control']
          'X-Download-Options': components['headers']['X-Download-Options']
          'X-Permitted-Cross-Domain-Policies': components['headers']['X-Permitted-Cross-Domain-Policies']
          'Content-Language': components['headers']['Content-Language']
          [name: string]: unknown
        }
        content: {
          'text/html': string
        }
      }
    }
  }
}
