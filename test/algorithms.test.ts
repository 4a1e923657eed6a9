import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { filesUnder, root } from '../scripts/lib/workspaces';

const source = join(root, 'packages/trainers/src');
/**
 * The folders that folders of packages/trainers/src may import, in addition to `training` and their own files
 * (docs/architecture.md).
 */
const above: Readonly<Record<string, readonly string[]>> = {
  training: [],
  checkpoint: [],
  'self-play': ['checkpoint', 'exploration'],
  exploration: [],
  ppo: [],
  moa: [],
  omg: [],
  'world-model': [],
  dreamer: [],
  lola: [],
  hop: ['moa', 'world-model'],
  'hop-plus': ['ppo', 'moa', 'omg', 'world-model'],
  'social-influence': ['ppo', 'moa'],
  export: ['ppo'],
  'cross-play': [],
  load: ['checkpoint', 'ppo', 'social-influence', 'hop', 'hop-plus', 'dreamer', 'lola'],
};

/** Relative imports of a file, from the folder `src`: `ppo/learner`, or `ppo` for a folder's index. */
function importsOf(file: string): string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'));
  const relatives = importedFiles.map(({ fileName }) => fileName).filter((name) => name.startsWith('.'));
  return relatives.map((name) => relative(source, join(dirname(file), name)));
}

const imports = filesUnder(source, '.ts').flatMap((file) => {
  const from = relative(source, file);
  return importsOf(file).map((to) => ({ from, to, folder: from.split('/')[0], into: to.split('/')[0] }));
});
/** The entry points list what folders export; no folder may import them. */
const entries = ['index.ts', 'losses.ts'];
const crossing = imports.filter(({ from, folder, into }) => !entries.includes(from) && folder !== into);

it('folders of trainers import only those below them', () => {
  const wrong = crossing.filter(({ folder, into }) => into !== 'training' && !above[folder]?.includes(into));
  expect(wrong.map(({ from, to }) => `${from}: ${to}`)).toEqual([]);
  expect(new Set(crossing.map(({ folder }) => folder)).size).toBeGreaterThan(10);
});

it('and of another algorithm its index alone', () => {
  const below = ['training', 'checkpoint']; // no algorithms
  const inside = crossing.filter(({ into, to }) => !below.includes(into) && to !== into);
  expect(inside.map(({ from, to }) => `${from}: ${to}`)).toEqual([]);
});
