import t from 'tap'
import { serveDatabase } from '../support/database-service.js'
import { createFaults } from '../support/fault.js'
import { type Member, missingPrograms, startCluster } from '../support/patroni.js'

const missing = missingPrograms()
const withPatroni = missing.length === 0 ? {} : { skip: `there is no ${missing.join(' and no ')}` }

t.test('a service on two servers under Patroni, with a synchronous standby', withPatroni, async t => {
  const cluster = await startCluster()
  t.teardown(() => cluster.remove())
  const service = await serveDatabase(t, { DATABASE_URL: cluster.url })
  const { stage } = await createFaults(service, () => cluster.leader().url)

  const faults: readonly [title: string, fault: (leader: Member) => Promise<void>][] = [
    ['the leader is killed with its Patroni, and the standby is promoted', leader => leader.kill()],
    ['Patroni alone is killed, and its server is left for the one that is promoted', leader => leader.killPatroni()]
  ]
  for (const [title, fault] of faults) {
    const [leader, standby] = [cluster.leader(), cluster.standby()]
    await t.test(title, async t => {
      const refused = await stage(t, 'the fault', async () => {
        await fault(leader)
        const begun = performance.now()
        await cluster.promoted()
        t.comment(`promoted after ${((performance.now() - begun) / 1000).toFixed(1)} s`)
      })
      t.ok(refused > 0, 'the fault is noticed')
      t.equal(cluster.leader(), standby)
    })
    await t.test('the member that failed comes back as the standby, which no client notices', async t => {
      t.equal(await stage(t, 'the way back', () => leader.comeBack()), 0)
      t.equal(cluster.standby(), leader)
    })
  }

  await t.test('a planned switchover, and the leader of before follows', async t => {
    const standby = cluster.standby()
    await stage(t, 'the switchover', () => cluster.switchOver())
    t.equal(cluster.leader(), standby)
    await cluster.inStep()
  })
})
