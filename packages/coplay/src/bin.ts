#!/usr/bin/env node
import { interruptSignal } from '@coplay/trainers';
import { runCommand } from './main';

// Of a configuration that is code: traces name its own lines.
process.setSourceMapsEnabled(true);

void runCommand(process.argv.slice(2), {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
  interrupt: () => interruptSignal(() => console.error('\nStopping in good order (once more to stop at once) ...')),
}).then((code) => {
  process.exitCode = code;
});
