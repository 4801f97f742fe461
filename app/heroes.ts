#!/usr/bin/env node
import { runCommand } from './cli.js'

process.exitCode = await runCommand(process.argv.slice(2), process.env, process)
