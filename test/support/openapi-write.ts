// Writes the committed OpenAPI document: `npm run openapi`.

import { writeFileSync } from 'node:fs'
import { SNAPSHOT } from './openapi.js'
import { makeSnapshot } from './openapi-snapshots.js'

writeFileSync(SNAPSHOT, await makeSnapshot())
