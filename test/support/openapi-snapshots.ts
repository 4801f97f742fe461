// What is committed of the OpenAPI document, and the types of a client that openapi-typescript makes of it.

import { spawnSync } from 'node:child_process'
import openapiTypescript, { astToString } from 'openapi-typescript'
// Loaded here, so that the first request for the document does not take so long that the service gives up on it.
import '../../app/http/openapi/document.js'
import { SNAPSHOT, WHOLE } from './openapi.js'
import { createService } from './service.js'

const makeDocument = async (): Promise<string> => (await createService(WHOLE).http.inject('/openapi.json')).payload

/** The text of the file, as the present service makes it. */
export const makeSnapshot = async (): Promise<string> =>
  spawnSync('node_modules/.bin/biome', ['format', `--stdin-file-path=${SNAPSHOT}`], {
    input: await makeDocument(),
    encoding: 'utf8'
  }).stdout

/** A TypeScript module with the types of every path. */
export const makeTypes = async (): Promise<string> => astToString(await openapiTypescript(await makeDocument()))
