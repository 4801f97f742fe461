// What is committed of the OpenAPI document: the document, and the types of a client that openapi-typescript makes of it.

import { spawnSync } from 'node:child_process'
import openapiTypescript, { astToString } from 'openapi-typescript'
// Loaded here, so that the first request for the document does not take so long that the service gives up on it.
import '../../app/http/openapi/document.js'
import { SNAPSHOT, TYPES, WHOLE } from './openapi.js'
import { createService } from './service.js'

/** The texts of the two files, as the present service makes them. */
export const makeSnapshots = async (): Promise<{ readonly document: string; readonly types: string }> => {
  const { payload } = await createService(WHOLE).http.inject('/openapi.json')
  const types = astToString(await openapiTypescript(payload))
  return { document: formatted(payload, SNAPSHOT), types: formatted(types, TYPES) }
}

const formatted = (text: string, file: string): string =>
  spawnSync('node_modules/.bin/biome', ['format', `--stdin-file-path=${file}`], { input: text, encoding: 'utf8' })
    .stdout
