#!/usr/bin/env node
import { type OpenApi, runCommand, type Serve } from './cli/command-line.js'

// The server is imported only when it is to run, so that no other command loads Fastify.
const serve: Serve = async (settings, stdout) => (await import('./serve/serve.js')).serve(settings, stdout)
const openApi: OpenApi = async settings => (await import('./serve/openapi.js')).openApi(settings)

process.exitCode = await runCommand(process.argv.slice(2), process.env, process, serve, openApi)
