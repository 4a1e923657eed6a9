/**
 * Sees that every bench and every study runs: each with `--quick`, in which no bar is judged, and 15 minutes at most,
 * as many at once as there are processors, with a thread each.
 * `npm run check:experiments`
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Checklist } from './lib/checklist';
import { mustRun } from './lib/run';
import { sideBySide } from './lib/side-by-side';
import { root } from './lib/workspaces';

const checklist = new Checklist();
for (const [script, folder] of [
  ['bench', 'bench'],
  ['study', 'studies'],
] as const) {
  await sideBySide(namesIn(folder), (name) =>
    checklist.check(`npm run ${script} -- ${name} --quick`, () => runQuickly(folder, name)),
  );
}
checklist.finish('benches and studies');

function namesIn(folder: string): string[] {
  const files = existsSync(join(root, folder)) ? readdirSync(join(root, folder)) : [];
  return files.filter((file) => file.endsWith('.ts') && file !== 'run.ts').map((file) => file.slice(0, -'.ts'.length));
}

/** The last line must be `RESULT ` and JSON that names the experiment. */
async function runQuickly(folder: string, name: string): Promise<void> {
  const args = ['--conditions=@coplay/source', '--import', 'tsx', `${folder}/run.ts`, name, '--quick'];
  const env = { ...process.env, COPLAY_THREADS: '1' };
  const output = await mustRun(process.execPath, args, { cwd: root, env, limit: 900 });
  const last = output.trimEnd().split('\n').at(-1)!;
  if (!last.startsWith('RESULT ')) throw new Error(`Its last line is ${last}`);
  JSON.parse(last.slice('RESULT '.length));
}
