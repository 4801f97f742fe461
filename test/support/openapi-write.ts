// Writes the committed OpenAPI document and the types of its client: `npm run openapi`.

import { writeFileSync } from 'node:fs'
import { SNAPSHOT, TYPES } from './openapi.js'
import { makeSnapshots } from './openapi-snapshots.js'

const { document, types } = await makeSnapshots()
writeFileSync(SNAPSHOT, document)
writeFileSync(TYPES, types)
