/**
 * Builds and packs every package into one folder, and prints the line that installs them in another project:
 * `npm run pack -- [FOLDER]`.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { mustRun } from './lib/run';
import { root, workspaces } from './lib/workspaces';

const folder = resolve(process.argv[2] ?? join(root, 'packed'));
mkdirSync(folder, { recursive: true });
await mustRun('npm', ['run', 'build'], { cwd: root, limit: 900 });
const tarballs: string[] = [];
for (const workspace of workspaces()) {
  const asked = ['pack', '--json', '--silent', '--pack-destination', folder];
  const [packed] = JSON.parse(await mustRun('npm', asked, { cwd: workspace.folder })) as { filename: string }[];
  tarballs.push(join(folder, packed!.filename));
}
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  devDependencies: Readonly<Record<string, string>>;
};
// It runs compiled functions; an optional peer, so npm doesn't install it by itself. Its install script would load
// files for CUDA from another host, and no other package needs one.
const runtime = `onnxruntime-node@${devDependencies['onnxruntime-node']}`;
console.log(
  `npm install --ignore-scripts ${[...tarballs, runtime].map((path) => (path.includes(' ') ? `"${path}"` : path)).join(' ')}`,
);
