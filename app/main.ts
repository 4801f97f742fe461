#!/usr/bin/env node
import { type OpenApi, runCommand, type Serve } from './cli/command-line.js'
import { endAtInterrupt } from './cli/interrupt.js'

// The server is imported only when it is to run, so that no other command loads Fastify.
const serve: Serve = async (settings, stdout) => (await import('./serve/serve.js')).serve(settings, stdout)
const openApi: OpenApi = async settings => (await import('./serve/openapi.js')).openApi(settings)

const argv = process.argv.slice(2)
// The service ends in its own way.
if (argv[0] !== 'serve') endAtInterrupt(process)

process.exitCode = await runCommand(argv, process.env, process, serve, openApi)
