#!/usr/bin/env node
import type { OpenApi, Serve } from './cli/command-line.js'
import { askAtSignals, createStop } from './serve/stop.js'

const { node } = process.versions
// An older Node fails on what is imported below, and would tell of that by the trace of a stack. What is imported above needs
// none newer than 14.
if (node.localeCompare('20.19', 'en', { numeric: true }) < 0) {
  console.error(`heroes: Node ${node} is too old: install Node 20.19 or newer`)
  process.exit(1)
}

const argv = process.argv.slice(2)
const stop = createStop()
// The listeners come first, and then the rest is imported, which takes a part of a second: a signal would kill the process.
if (argv.find(word => !word.startsWith('-')) === 'serve') askAtSignals(stop)
else process.once('SIGINT', () => process.exit(130))

// The server is imported only when it is to run, so that no other command loads Fastify.
const serve: Serve = async (settings, stdout) => (await import('./serve/serve.js')).serve(settings, stdout, stop)
const openApi: OpenApi = async settings => (await import('./serve/service.js')).openApi(settings)

const { runCommand } = await import('./cli/command-line.js')
process.exitCode = await runCommand(argv, process.env, process, serve, openApi)
// Otherwise Node takes the listeners off some milliseconds before the process is gone, and a further signal would kill it. A
// worker would be kept alive by its channel to the first process.
if (stop.asked() || process.connected) process.exit()
