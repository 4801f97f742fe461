import t from 'tap'
import { openEmbedded, openServer } from '../../../adapters/postgres/database.js'
import { madeFolder } from '../../support/embedded.js'
import { createDatabase } from '../../support/postgres.js'

t.test('a database that is closed again is closed once, and each call waits for the end', async t => {
  const { url, drop } = await createDatabase()
  t.teardown(drop)
  const folder = await madeFolder(t)
  for (const open of [() => openServer(url), () => openEmbedded(folder)]) {
    const { inspect, close } = await open()
    await inspect()
    const first = close()
    t.equal(close(), first)
    await first
    await close()
  }
  await (await openEmbedded(folder)).close()
})
