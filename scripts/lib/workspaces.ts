import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. */
export const root = resolve(fileURLToPath(import.meta.url), '../../..');

/** What these scripts read of a package.json. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: unknown;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** One package of the repository. */
export interface Workspace {
  /** `@coplay/core` */
  readonly name: string;
  /** `core` */
  readonly short: string;
  /** Absolute. */
  readonly folder: string;
  readonly manifest: Manifest;
}

/** All packages that have begun (those with a `src/index.ts`), by name. */
export function workspaces(): Workspace[] {
  const parent = join(root, 'packages');
  const folders = readdirSync(parent).filter((short) => existsSync(join(parent, short, 'src/index.ts')));
  return folders.sort().map((short) => {
    const folder = join(parent, short);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
    return { name: manifest.name, short, folder, manifest };
  });
}

/** The packages of ours that these need, themselves included. */
export function withSiblings(names: readonly string[], all: readonly Workspace[] = workspaces()): Workspace[] {
  const wanted = new Set(names);
  for (const name of wanted) {
    const found = all.find((workspace) => workspace.name === name);
    if (!found) throw new Error(`There is no package ${name} here.`);
    for (const dependency of Object.keys(found.manifest.dependencies ?? {})) {
      if (all.some((one) => one.name === dependency)) wanted.add(dependency);
    }
  }
  return all.filter((workspace) => wanted.has(workspace.name));
}

/** Every file below a folder, by default without installed and built files. */
export function filesUnder(folder: string, ending: string, skip = ['node_modules', 'dist']): string[] {
  if (!existsSync(folder)) return [];
  const skipped = new Set(skip);
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : filesUnder(path, ending, skip);
    return entry.name.endsWith(ending) ? [path] : [];
  });
}
