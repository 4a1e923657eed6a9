#!/usr/bin/env node
import { interruptSignal } from '@coplay/trainers';
import { runCommand } from './main';
import { watchedOutput } from './output';

// Of a configuration that is code: traces name its own lines.
process.setSourceMapsEnabled(true);

// `npm run coplay` of the repository starts in its root; paths are meant from where the command was typed.
const { INIT_CWD: typedIn, npm_lifecycle_event: script } = process.env;
const isScript = import.meta.url.endsWith('.ts') && (script === 'coplay' || script === 'play');
if (isScript && typedIn !== undefined) process.chdir(typedIn);

const err = (line: string) => console.error(line);
const output = watchedOutput(err);

void runCommand(process.argv.slice(2), {
  out: output.line,
  err,
  interrupt: () => interruptSignal(() => console.error('\nStopping in good order (once more to stop at once) ...')),
})
  .then(output.end)
  .then((code) => {
    process.exitCode = code;
  });
