/**
 * Releases all packages together, with one version.
 *
 * - `npm run release -- --bump 0.2.0` writes the version into every package and the changelog; commit the result.
 * - `npm run release -- --dry-run` checks everything that a release needs: a clean tree, versions, changelog, builds,
 *   packages as users get them. It prints what would be published, in order.
 * - `npm run release` does the same and publishes, to the registry that npm is set to, with provenance.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeWholeSync } from '@coplay/core/node';
import { mustRun } from './lib/run';
import { root, type Workspace, workspaces } from './lib/workspaces';

const VERSION = /^\d+\.\d+\.\d+(-[0-9a-z.]+)?$/;
const CHANGELOG = join(root, 'CHANGELOG.md');
/** Other files with the version: code that can't read a package.json where it runs, and the citation. */
const ALSO = [
  'packages/tensor/src/export/version.ts',
  'packages/trainers/src/checkpoint/version.ts',
  'packages/create-coplay/templates/project/package.json',
  'CITATION.cff',
];

const { values } = parseArgs({ options: { bump: { type: 'string' }, 'dry-run': { type: 'boolean' } } });
if (values.bump !== undefined) await bump(values.bump);
else await release(values['dry-run'] === true);

/** Sets the version of all packages and of what they need of each other, and gives the changelog's changes to it. */
async function bump(version: string): Promise<void> {
  if (!VERSION.test(version)) throw new Error(`--bump: expected a version such as 0.2.0, got ${version}.`);
  const all = workspaces();
  for (const { folder } of all) {
    const path = join(folder, 'package.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8'));
    manifest.version = version;
    for (const kind of ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']) {
      for (const { name } of all) if (manifest[kind]?.[name] !== undefined) manifest[kind][name] = version;
    }
    writeWholeSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
  }
  const [{ version: before }] = all.map(({ manifest }) => manifest);
  for (const path of ALSO.map((file) => join(root, file))) {
    const text = readFileSync(path, 'utf8');
    if (!text.includes(before)) throw new Error(`${path}: expected the version ${before}, which the packages have.`);
    writeWholeSync(path, text.replaceAll(before, version));
  }
  const date = (await mustRun('git', ['log', '-1', '--format=%cs'], { cwd: root })).trim();
  const text = readFileSync(CHANGELOG, 'utf8');
  writeWholeSync(CHANGELOG, text.replace('## Unreleased\n', `## Unreleased\n\n## ${version} - ${date}\n`));
  await mustRun('npm', ['install', '--package-lock-only', '--ignore-scripts'], { cwd: root });
  console.log(`All packages have version ${version}. Check the changelog, and commit.`);
}

async function release(isDryRun: boolean): Promise<void> {
  const order = inOrder(workspaces());
  const [{ version }] = order.map(({ manifest }) => manifest);
  const faults = [
    ...order.filter(({ manifest }) => manifest.version !== version).map(({ name }) => `${name} has another version`),
    ...order.flatMap(({ name, manifest }) =>
      Object.entries(manifest.dependencies ?? {})
        .filter(([other, wanted]) => order.some((one) => one.name === other) && wanted !== version)
        .map(([other, wanted]) => `${name} needs ${other} ${wanted}`),
    ),
    ...(readFileSync(CHANGELOG, 'utf8').includes(`\n## ${version} - `) ? [] : [`the changelog has no ${version}`]),
  ];
  const changed = await mustRun('git', ['status', '--porcelain'], { cwd: root });
  if (changed.trim() !== '') faults.push('files have uncommitted changes');
  if (faults.length > 0 && !isDryRun) throw new Error(`Not released: ${faults.join('; ')}.`);
  for (const script of ['build', 'check:packages', 'check:pack']) {
    console.log(`npm run ${script} ...`);
    await mustRun('npm', ['run', script], { cwd: root, limit: 1800 });
  }
  for (const { name, folder } of order) {
    console.log(`${isDryRun ? 'would publish' : 'publishes'} ${name} ${version}`);
    if (!isDryRun) await mustRun('npm', ['publish', '--access', 'public', '--provenance'], { cwd: folder });
  }
  for (const fault of faults) console.log(`Before a release: ${fault}.`);
}

/** Packages in an order in which each comes after those that it needs. */
function inOrder(all: readonly Workspace[]): Workspace[] {
  const placed: Workspace[] = [];
  const place = (one: Workspace): void => {
    if (placed.includes(one)) return;
    const needed = Object.keys(one.manifest.dependencies ?? {});
    for (const other of all) if (needed.includes(other.name)) place(other);
    placed.push(one);
  };
  for (const one of all) place(one);
  return placed;
}
