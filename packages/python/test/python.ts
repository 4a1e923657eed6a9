import { execFileSync } from 'node:child_process';
import { describe } from 'vitest';
import { findPython } from '../../../bench/harness/python';

/** The Python with the modules, or why there is none. */
export function pythonWith(...modules: readonly string[]) {
  const python = findPython(modules);
  const command = 'command' in python ? python.command : undefined;
  if ('missing' in python) console.warn(`skipped: ${python.missing}; set PYTHON to an interpreter that has them`);
  return {
    command: command ?? '',
    /** `describe`, skipped with the reason in its name where there is no such Python. */
    describe: (name: string, tests: () => void) =>
      describe.skipIf(command === undefined)(
        'missing' in python ? `${name} (skipped: ${python.missing})` : name,
        tests,
      ),
    /** What a script prints as JSON. */
    run: (script: string, ...args: readonly string[]): unknown =>
      JSON.parse(
        execFileSync(command ?? '', ['-c', script, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
      ),
  };
}
