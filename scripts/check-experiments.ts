/**
 * Sees that every bench and every study runs: each with `--quick`, in which no bar is judged, and two minutes at most.
 * `npm run check:experiments`
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Checklist } from './lib/checklist';
import { mustRun } from './lib/run';
import { root } from './lib/workspaces';

const checklist = new Checklist();
for (const [script, folder] of [
  ['bench', 'bench'],
  ['study', 'studies'],
] as const) {
  for (const name of namesIn(folder)) {
    await checklist.check(`npm run ${script} -- ${name} --quick`, () => runQuickly(script, name));
  }
}
checklist.finish('benches and studies');

function namesIn(folder: string): string[] {
  const files = existsSync(join(root, folder)) ? readdirSync(join(root, folder)) : [];
  return files.filter((file) => file.endsWith('.ts') && file !== 'run.ts').map((file) => file.slice(0, -'.ts'.length));
}

/** The last line must be `RESULT ` and JSON that names what was run. */
async function runQuickly(script: string, name: string): Promise<void> {
  const output = await mustRun('npm', ['run', '--silent', script, '--', name, '--quick'], { cwd: root, limit: 120 });
  const last = output.trimEnd().split('\n').at(-1)!;
  if (!last.startsWith('RESULT ')) throw new Error(`Its last line is ${last}`);
  JSON.parse(last.slice('RESULT '.length));
}
