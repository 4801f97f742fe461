import { openServer } from '../../../adapters/postgres/database.js'
import { CHEAPEST } from '../data.js'
import { assemble } from './assembly.js'
import { readSettings } from './settings.js'

/** This service on PostgreSQL, with the cheapest hashes there are. */
const { port, databaseUrl } = readSettings()
const { stores } = await openServer(databaseUrl)
await assemble(port, stores, CHEAPEST).listen()
