/**
 * Checks what would be published: publint and are-the-types-wrong on each built package, then knip on the repository.
 * Needs `npm run build` before it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { Checklist } from './lib/checklist';
import { mustRun } from './lib/run';
import { sideBySide } from './lib/side-by-side';
import { filesUnder, root, type Workspace, workspaces } from './lib/workspaces';

const checklist = new Checklist();
await sideBySide(workspaces(), async (workspace) => {
  const { short, folder } = workspace;
  await checklist.check(`${short}: built`, () => {
    for (const file of builtFiles(workspace)) {
      if (!existsSync(join(folder, file))) throw new Error(`${file} is missing: npm run build first.`);
    }
  });
  await checklist.check(`${short}: types import what package.json names`, () => checkTypeImports(workspace));
  await checklist.check(`${short}: publint`, () => tool('publint', ['--strict'], folder));
  await checklist.check(`${short}: types`, () => tool('attw', ['--pack', '--profile', 'node16', '--no-emoji'], folder));
});
await checklist.check('knip', () => tool('knip', ['--no-progress', '--config', 'scripts/knip.json'], root));
checklist.finish('packages');

async function tool(name: string, args: readonly string[], cwd: string): Promise<void> {
  await mustRun('npx', ['--no-install', name, ...args], { cwd, limit: 180 });
}

/** Every file that `exports` of package.json names, by its path in the package. */
function builtFiles({ manifest }: Workspace): string[] {
  const found = new Set<string>();
  const visit = (entry: unknown): void => {
    if (typeof entry === 'string' && entry.startsWith('./dist/')) found.add(entry);
    else if (entry !== null && typeof entry === 'object') Object.values(entry).forEach(visit);
  };
  visit(manifest.exports);
  return [...found];
}

/** Examples in comments import the packages as a user does. */
function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '');
}

/**
 * Types that the compiler inferred may lead to packages that no source file imports: consumers would find `any` there.
 */
function checkTypeImports({ folder, manifest }: Workspace): void {
  const files = filesUnder(join(folder, 'dist'), '.d.ts', []);
  const types = files.map((file) => readFileSync(file, 'utf8')).join('\n');
  const modules = [...withoutComments(types).matchAll(/(?:from|import\()\s*'([^']+)'/g)].map((match) => match[1]!);
  const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  const isDeclared = (module: string) => declared.some((name) => module === name || module.startsWith(`${name}/`));
  const missing = modules.filter((module) => !module.startsWith('.') && !isBuiltin(module) && !isDeclared(module));
  if (missing.length > 0) throw new Error(`The types import ${missing.join(', ')}`);
}
