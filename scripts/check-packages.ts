/**
 * Checks what would be published: publint and are-the-types-wrong on each built package, then knip on the repository.
 * Needs `npm run build` before it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { Checklist } from './lib/checklist';
import { mustRun } from './lib/run';
import { root, type Workspace, workspaces } from './lib/workspaces';

const checklist = new Checklist();
for (const workspace of workspaces()) {
  const { short, folder } = workspace;
  await checklist.check(`${short}: built`, () => {
    for (const file of ['index.js', 'index.cjs', 'index.d.ts', 'index.d.cts']) {
      if (!existsSync(join(folder, 'dist', file))) throw new Error(`dist/${file} is missing: npm run build first.`);
    }
  });
  await checklist.check(`${short}: types import what package.json names`, () => checkTypeImports(workspace));
  await checklist.check(`${short}: publint`, () => tool('publint', ['--strict'], folder));
  await checklist.check(`${short}: types`, () => tool('attw', ['--pack', '--profile', 'node16', '--no-emoji'], folder));
}
await checklist.check('knip', () => tool('knip', ['--no-progress'], root));
checklist.finish('packages');

async function tool(name: string, args: readonly string[], cwd: string): Promise<void> {
  await mustRun('npx', ['--no-install', name, ...args], { cwd, limit: 180 });
}

/** Examples in comments import what a user has. */
function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '');
}

/** Types that the compiler inferred may lead to packages that no source file imports: consumers would find `any` there. */
function checkTypeImports({ folder, manifest }: Workspace): void {
  const types = readFileSync(join(folder, 'dist/index.d.ts'), 'utf8');
  const modules = [...withoutComments(types).matchAll(/(?:from|import\()\s*'([^']+)'/g)].map((match) => match[1]!);
  const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  const missing = modules.filter((module) => !isBuiltin(module) && !declared.includes(module));
  if (missing.length > 0) throw new Error(`dist/index.d.ts imports ${missing.join(', ')}`);
}
