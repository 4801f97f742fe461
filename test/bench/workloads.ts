import type { Workload } from './bench.js'
import { before } from './workloads/before.js'
import { clients } from './workloads/clients.js'
import { code } from './workloads/code.js'
import { create } from './workloads/create.js'
import { growth } from './workloads/growth.js'
import { gzip } from './workloads/gzip.js'
import { housekeeping } from './workloads/housekeeping.js'
import { list } from './workloads/list.js'
import { login } from './workloads/login.js'
import { lone } from './workloads/lone.js'
import { metrics } from './workloads/metrics.js'
import { password } from './workloads/password.js'
import { inProcess } from './workloads/process.js'
import { read } from './workloads/read.js'
import { refresh } from './workloads/refresh.js'
import { revocation } from './workloads/revocation.js'
import { startup } from './workloads/startup.js'
import { storm } from './workloads/storm.js'
import { tail } from './workloads/tail.js'
import { throttled } from './workloads/throttled.js'
import { timing } from './workloads/timing.js'
import { workers } from './workloads/workers.js'

/** The workloads by their names on the command line, in the order of a whole run. */
export const WORKLOADS: Readonly<Record<string, Workload>> = {
  read,
  lone,
  clients,
  create,
  refresh,
  code,
  list,
  tail,
  gzip,
  login,
  password,
  storm,
  throttled,
  timing,
  metrics,
  workers,
  revocation,
  housekeeping,
  startup,
  process: inProcess,
  growth,
  before
}
