import { chmodSync, chownSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import t from 'tap'
import { createAuthority } from '../support/certificates.js'
import { heroes } from '../support/command.js'
import { execute, startServer } from '../support/postgres.js'
import { ask, serveProcess, temporaryFolder } from '../support/process.js'

const folder = temporaryFolder(t)
chmodSync(folder, 0o755)
const write = (name: string, content: string): string => {
  const path = join(folder, name)
  writeFileSync(path, content, { mode: 0o600 })
  return path
}
const authority = createAuthority('the authority of this test')
const ca = encodeURIComponent(write('ca.pem', authority.certificate))
const other = encodeURIComponent(write('other.pem', createAuthority('another one').certificate))

const server = await startServer()
t.teardown(() => server.remove())

/** Gives the server a certificate for this host, or takes TLS away. */
const setCertificate = async (host: string | undefined): Promise<void> => {
  const sql = postgres(server.url, { max: 1, ssl: false, onnotice: () => {} })
  if (host === undefined) await sql`alter system set ssl = off`
  else {
    const { certificate, key } = authority.issue(host)
    const [directory] = await sql`show data_directory`
    const { uid, gid } = statSync(directory?.data_directory)
    const files = { ssl_cert_file: write('server.pem', certificate), ssl_key_file: write('server.key', key) }
    for (const [setting, path] of Object.entries(files)) {
      chownSync(path, uid, gid)
      await sql.unsafe(`alter system set ${setting} = '${path}'`)
    }
    await sql`alter system set ssl = on`
  }
  await sql.end()
  await server.stop()
  await server.start()
}

const urlWith = (query: string, hostname = '127.0.0.1'): string => {
  const url = new URL(server.url)
  url.search = query
  url.hostname = hostname
  return url.href
}

/** Whether the connections of a service with this URL are encrypted, or what its start is refused with. */
const outcomeOf = async (DATABASE_URL: string): Promise<boolean | string> => {
  const { code, stdout, stderr } = await heroes('doctor --json', { DATABASE_URL, DATABASE_POOL: '1' })
  const { code: listed, stderr: reason } = await heroes('client list', { DATABASE_URL, DATABASE_POOL: '1' })
  if (listed !== 0) {
    t.equal(code, 1, stderr)
    return reason
  }
  const found: { check: string; message: string; verdict: string }[] = JSON.parse(stdout)
  t.match(
    found.find(({ check }) => check === 'server'),
    { verdict: 'fine' }
  )
  const sql = postgres(server.url, { max: 1, ssl: false })
  await sql.end()
  const service = await serveProcess(t, { DATABASE_URL })
  const admin = postgres(server.url, { max: 1, ssl: false })
  t.match(await ask(`${service.url}/health/ready`), { status: 200 })
  const rows = await admin`
    select bool_and(ssl) as all, bool_or(ssl) as some from pg_stat_ssl join pg_stat_activity using (pid)
    where application_name = 'heroes'`
  t.equal(rows[0]?.all, rows[0]?.some)
  await admin.end()
  t.equal(await service.stop(), 0)
  return rows[0]?.all
}

t.test('a server with a certificate for its address', async t => {
  await setCertificate('127.0.0.1')
  t.equal(await outcomeOf(urlWith('')), true, 'prefer, unless said otherwise')
  t.equal(await outcomeOf(urlWith('sslmode=disable')), false)
  t.equal(await outcomeOf(urlWith('sslmode=allow')), false)
  t.equal(await outcomeOf(urlWith('sslmode=require')), true)
  t.equal(await outcomeOf(urlWith(`sslmode=verify-full&sslrootcert=${ca}`)), true)
  const refused = /^heroes: DATABASE_URL cannot be used: the database cannot be reached: [^\n]+\n$/
  t.match(await outcomeOf(urlWith(`sslmode=verify-ca&sslrootcert=${other}`)), refused, 'an unknown authority')
  t.match(await outcomeOf(urlWith(`sslmode=require&sslrootcert=${other}`)), refused)
  t.match(await outcomeOf(urlWith('sslmode=verify-full&sslrootcert=system')), refused)
  t.match(await outcomeOf(urlWith(`sslmode=verify-full&sslrootcert=${ca}`, 'localhost')), refused, 'another name')
  t.equal(await outcomeOf(urlWith(`sslmode=verify-ca&sslrootcert=${ca}`, 'localhost')), true)
})

t.test('a server with a certificate for its name', async t => {
  await setCertificate('localhost')
  t.equal(await outcomeOf(urlWith(`sslmode=verify-full&sslrootcert=${ca}`, 'localhost')), true)
  t.match(await outcomeOf(urlWith(`sslmode=verify-full&sslrootcert=${ca}`)), /cannot be reached/)
})

t.test('a server that insists on TLS, or refuses it', async t => {
  const [{ hba_file } = { hba_file: '' }] = await (async () => {
    const sql = postgres(server.url, { max: 1 })
    const rows = await sql<{ hba_file: string }[]>`show hba_file`
    await sql.end()
    return rows
  })()
  const rule = async (type: string): Promise<void> => {
    writeFileSync(hba_file, `${type} all all 127.0.0.1/32 scram-sha-256\n`)
    await server.stop()
    await server.start()
  }
  await rule('hostssl')
  const insisting = await heroes('client list', { DATABASE_URL: urlWith('sslmode=disable') })
  t.match(insisting, { code: 1, stderr: /no pg_hba\.conf entry/ })
  for (const mode of ['allow', 'prefer', 'require']) {
    t.match(await heroes('client list', { DATABASE_URL: urlWith(`sslmode=${mode}`) }), { code: 0 }, mode)
  }
  await rule('hostnossl')
  for (const mode of ['disable', 'allow', 'prefer']) {
    t.match(await heroes('client list', { DATABASE_URL: urlWith(`sslmode=${mode}`) }), { code: 0 }, mode)
  }
  t.match(await heroes('client list', { DATABASE_URL: urlWith('sslmode=require') }), { code: 1 })
  await rule('host')
})

t.test('a server without TLS', async t => {
  await execute(server.url, 'select 1')
  await setCertificate(undefined)
  t.equal(await outcomeOf(urlWith('')), false)
  for (const mode of ['require', 'verify-ca', 'verify-full']) {
    t.match(await outcomeOf(urlWith(`sslmode=${mode}`)), /the server offers no TLS\n$/, mode)
  }
})
