import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer } from 'node:tls'
import t, { type Test } from 'tap'
import { type Authority, createAuthority } from '../support/certificates.js'
import { type Listening, startService } from '../support/listening-service.js'
import { freePort, listenUntilEnd } from '../support/ports.js'
import { temporaryFolder } from '../support/process.js'
import { bearer } from '../support/service.js'
import { ADA, addClient, blankRequest, SECRET } from '../support/world.js'

const guide = readFileSync(join(import.meta.dirname, '../../app/http/CLIENTS.md'), 'utf8')
// Dovecot changes to other users, so that only root starts it.
const withPrograms =
  process.getuid?.() === 0 &&
  spawnSync('sh', ['-c', 'command -v nginx && command -v apache2 && command -v dovecot']).status === 0
    ? {}
    : { skip: 'there are no servers of Debian' }

/** The lines of the guide in one language, for a service and a client. */
const linesOf = (language: string, url: string, id: string): string => {
  const [, lines = ''] = new RegExp(`\`\`\`${language}\n([^\`]+)\`\`\``).exec(guide) ?? []
  return lines.replaceAll('URL', url).replaceAll('SECRET', SECRET).replaceAll('my-app', id)
}

/** Those of Dovecot, which asks the service over plain HTTP here. */
const dovecotLines = (url: string): string => {
  const [, lines = ''] = /```ini\n(introspection_url[^`]+)```/.exec(guide) ?? []
  const secret = encodeURIComponent(SECRET)
  return lines.replace('https://my-app:SECRET@heroes.example', url.replace('http://', `http://server:${secret}@`))
}

/** A server that ends TLS in front of the service, with a certificate of this authority. Returns its URL. */
const startTls = async (t: Test, url: string, authority: Authority): Promise<string> => {
  const { certificate: cert, key } = authority.issue('127.0.0.1')
  const tls = createServer({ cert, key }, socket => {
    socket.pipe(connect(Number(new URL(url).port), '127.0.0.1')).pipe(socket)
    socket.on('error', () => {})
  })
  return `https://127.0.0.1:${await listenUntilEnd(t, tls)}`
}

/** The service, a client that asks about tokens, and an access token of {@link ADA}. */
const open = async (t: Test): Promise<Listening & { readonly token: string }> => {
  const service = await startService(t)
  const client = await addClient(service, 'server')
  const { accessToken } = await service.useCases.issueToken(client, {
    ...blankRequest,
    grantType: 'password',
    ...ADA
  })
  return { ...service, token: accessToken }
}

/** Starts a server in the foreground, with a configuration in a folder of its own. It ends with the test. */
const startServer = async (
  t: Test,
  command: string,
  args: (folder: string) => readonly string[],
  configuration: (folder: string) => Readonly<Record<string, string>>,
  port: number
): Promise<void> => {
  const folder = temporaryFolder(t)
  chmodSync(folder, 0o755)
  for (const [name, text] of Object.entries(configuration(folder))) writeFileSync(join(folder, name), text)
  const child = spawn(command, args(folder), { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const ended = once(child, 'close')
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
  })
  const listens = (): Promise<boolean> =>
    new Promise(resolve => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.on('connect', () => socket.destroy())
    })
  while (!(await listens())) {
    if (child.exitCode !== null) throw new Error(`${command} has ended: ${said}`)
    await sleep(20)
  }
}

const statusWith = async (port: number, token: string | undefined): Promise<number> =>
  (await fetch(`http://127.0.0.1:${port}/`, { headers: { ...(token !== undefined && bearer(token)) } })).status

t.test('nginx lets those in whose token is good', withPrograms, async t => {
  const { url, token } = await open(t)
  const port = await freePort()
  await startServer(
    t,
    'nginx',
    folder => ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')],
    folder => {
      mkdirSync(join(folder, 'temporary'))
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map(name => `${name}_temp_path ${folder}/temporary/${name};`)
        .join('\n')
      return {
        'index.html': 'the application',
        'nginx.conf': `daemon off; user root; pid ${folder}/pid; error_log stderr; events {}
          http { access_log off; ${temporary}
            server { listen 127.0.0.1:${port}; root ${folder}; index index.html;
              ${linesOf('nginx', url, 'server')} } }`
      }
    },
    port
  )
  t.strictSame([await statusWith(port, token), await statusWith(port, undefined)], [200, 401])
  t.equal(await statusWith(port, 'x'.repeat(32)), 401)
})

t.test('Apache with mod_auth_openidc lets those in whose token is active', withPrograms, async t => {
  const { url, token } = await open(t)
  const authority = createAuthority('Heroes')
  const https = await startTls(t, url, authority)
  const port = await freePort()
  const modules = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'dir', 'auth_openidc']
  await startServer(
    t,
    'apache2',
    folder => ['-D', 'FOREGROUND', '-f', join(folder, 'apache.conf')],
    folder => ({
      'index.html': 'the application',
      'authority.pem': authority.certificate,
      'apache.conf': `ServerName localhost
        ServerRoot ${folder}
        DefaultRuntimeDir ${folder}
        PidFile ${folder}/pid
        ErrorLog ${folder}/log
        ${modules.map(name => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
        Listen 127.0.0.1:${port}
        DocumentRoot ${folder}
        DirectoryIndex index.html
        ${linesOf('apache', https, 'server')}
        OIDCCABundlePath ${folder}/authority.pem
        <Location />
          AuthType oauth20
          Require valid-user
        </Location>`
    }),
    port
  )
  t.strictSame([await statusWith(port, token), await statusWith(port, undefined)], [200, 401])
  t.equal(await statusWith(port, 'x'.repeat(32)), 401)
})

t.test('Dovecot lets in whose token is active, under the name of the user', withPrograms, async t => {
  const { url, token } = await open(t)
  const port = await freePort()
  await startServer(
    t,
    'dovecot',
    folder => ['-F', '-c', join(folder, 'dovecot.conf')],
    folder => ({
      'oauth2.conf.ext': dovecotLines(url),
      'dovecot.conf': `base_dir = ${folder}/run
        log_path = /dev/stderr
        ssl = no
        listen = 127.0.0.1
        protocols = imap
        disable_plaintext_auth = no
        auth_mechanisms = oauthbearer
        mail_location = maildir:${folder}/mail
        service imap-login {
          inet_listener imap {
            port = ${port}
          }
        }
        passdb {
          driver = oauth2
          mechanisms = oauthbearer
          args = ${folder}/oauth2.conf.ext
        }
        userdb {
          driver = static
          args = uid=mail gid=mail home=${folder}
        }`
    }),
    port
  )
  const logIn = async (token: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1')
    const credentials = Buffer.from(`n,a=ada,\x01auth=Bearer ${token}\x01\x01`).toString('base64')
    socket.write(`a AUTHENTICATE OAUTHBEARER ${credentials}\r\n`)
    let said = ''
    for await (const part of socket.setEncoding('utf8')) {
      said += part
      if (/^\+ /m.test(said)) socket.write('\r\n')
      const [, verdict] = /^a (OK|NO) /m.exec(said) ?? []
      if (verdict !== undefined) return verdict
    }
    return said
  }
  t.strictSame([await logIn(token), await logIn('x'.repeat(32))], ['OK', 'NO'])
})
