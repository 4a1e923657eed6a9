/**
 * Runs every script of `examples/`, then the examples of all pages, one after another:
 *
 *   npm run examples                      all of them
 *   npm run examples -- --quick           with COPLAY_QUICK=1 (a few updates instead of a training), five minutes each
 *   npm run examples -- start README.md   some of them, by the name of a script or the path of a page
 */
import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { Checklist } from './lib/checklist';
import { resultOf } from './lib/module-results';
import { writeExamples } from './lib/page-examples';
import { mustRun, run } from './lib/run';
import { filesUnder, root } from './lib/workspaces';

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const limit = values.quick ? 300 : 1800;
const env = { ...process.env, ...(values.quick && { COPLAY_QUICK: '1' }) };

const all = filesUnder(join(root, 'examples'), '.ts');
const isChosen = (name: string) => positionals.length === 0 || positionals.includes(name);
const checklist = new Checklist();
for (const file of all.filter((file) => isChosen(basename(file, '.ts')))) {
  await checklist.check(basename(file), async () => {
    const args = ['--conditions=@coplay/source', '--import', 'tsx', file];
    const output = await mustRun(process.execPath, args, { cwd: root, env, limit });
    console.log(output.trimEnd().split('\n').slice(-12).join('\n'));
  });
}
const { examples, folder, fileOf } = writeExamples();
const running = examples.filter(({ runs, page }) => runs && isChosen(page));
try {
  for (const page of new Set(running.map(({ page }) => page))) await checkPage(page);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
checklist.finish('examples');

/** Runs a page's examples in one process: most of the time of a short example is its packages' loading. */
async function checkPage(page: string): Promise<void> {
  const own = running.filter((example) => example.page === page);
  await checklist.check(`${page}: ${own.length} ${own.length === 1 ? 'example' : 'examples'}`, async () => {
    const args = ['--conditions=@coplay/source', '--import', 'tsx', 'scripts/lib/run-modules.ts', ...own.map(fileOf)];
    const ended = await run(process.execPath, args, { cwd: root, env, limit });
    for (const example of own) {
      const { ok, output } = resultOf(fileOf(example), ended.output);
      if (!ok) throw new Error(`${example.place}: ${output}`);
    }
    if (!ended.ok) throw new Error(`It failed, or something kept its process alive:\n${ended.output.slice(-2000)}`);
  });
}
