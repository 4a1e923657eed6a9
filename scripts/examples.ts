/**
 * Runs every script of `examples/`, one after another: `npm run examples -- [--quick] [NAME...]`.
 * With `--quick` each gets COPLAY_QUICK=1 (a few updates instead of a training) and five minutes at most.
 */
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { Checklist } from './lib/checklist';
import { mustRun } from './lib/run';
import { filesUnder, root } from './lib/workspaces';

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const limit = values.quick ? 300 : 1800;
const env = { ...process.env, ...(values.quick && { COPLAY_QUICK: '1' }) };

const all = filesUnder(join(root, 'examples'), '.ts');
const chosen = all.filter((file) => positionals.length === 0 || positionals.includes(basename(file, '.ts')));
const checklist = new Checklist();
for (const file of chosen) {
  await checklist.check(basename(file), async () => {
    const args = ['--conditions=@coplay/source', '--import', 'tsx', file];
    const output = await mustRun(process.execPath, args, { cwd: root, env, limit });
    console.log(output.trimEnd().split('\n').slice(-12).join('\n'));
  });
}
checklist.finish('examples');
