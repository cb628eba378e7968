#!/usr/bin/env node
import { runCommand } from './runCommand.ts';

// `process.exit` would cut off what a pipe has not taken yet.
process.exitCode = await runCommand(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  error: (text) => process.stderr.write(text),
});
