import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createFile, createProject, templateKinds } from 'create-coplay';
import { describe, expect, it } from 'vitest';
import { root } from '../../../scripts/lib/workspaces';

const folder = mkdtempSync(join(tmpdir(), 'create-coplay-'));
const text = (path: string) => readFileSync(path, 'utf8');

describe('createFile', () => {
  it.each(templateKinds)('writes a file for a %s, with its name for all that is its own', (kind) => {
    const path = createFile({ kind, name: `red-${kind}`, directory: join(folder, 'files') });
    expect(relative(folder, path)).toBe(join('files', `red-${kind}.ts`));
    expect(text(path)).toContain(`npx tsx red-${kind}.ts`);
    expect(text(path)).not.toMatch(/template-?name/i);
  });

  it('makes one name of all its words', () => {
    const path = createFile({ kind: 'game', name: 'my-2-lakes', directory: folder });
    expect(text(path)).toContain('export function createMy2Lakes(');
    expect(text(path)).toContain("name: 'my-2-lakes',");
  });

  it('leaves a file that exists as it is', () => {
    const path = join(folder, 'mine.ts');
    writeFileSync(path, 'mine');
    expect(() => createFile({ kind: 'game', name: 'mine', directory: folder })).toThrow(`no ${path} yet`);
    expect(text(path)).toBe('mine');
  });

  it.each(['', 'My-Game', '../game', 'my_game', '2-games', 'my--game', 'my-game-', 'a/b', 'constructor\n'])(
    'refuses the name %j',
    (name) => {
      expect(() => createFile({ kind: 'game', name, directory: folder })).toThrow('createFile: option name');
    },
  );
});

describe('createProject', () => {
  it('writes a game, a training script, tests and settings, which find each other', () => {
    const directory = join(folder, 'my-hunt');
    const paths = createProject({ directory }).map((path) => relative(directory, path));
    expect(paths).toEqual([
      ...['package.json', 'README.md', 'tsconfig.json', '.gitignore'],
      ...[join('src', 'lake.ts'), join('src', 'train.ts'), join('test', 'lake.test.ts')],
    ]);
    expect(JSON.parse(text(join(directory, 'package.json'))).name).toBe('my-hunt');
    expect(text(join(directory, 'src/train.ts'))).toContain("import { createLake } from './lake';");
    expect(text(join(directory, 'test/lake.test.ts'))).toContain("import { createLake } from '../src/lake';");
    for (const path of paths) expect(text(join(directory, path))).not.toMatch(/template-?(name|project)/i);
  });

  it('refuses a folder with files in it, and writes nothing there', () => {
    const directory = join(folder, 'full');
    mkdirSync(directory);
    writeFileSync(join(directory, 'notes.txt'), 'mine');
    expect(() => createProject({ directory })).toThrow('one with files in it');
    expect(() => createProject({ directory: join(folder, 'My Hunt') })).toThrow('createProject: option name');
  });

  it('uses the versions of this repository', () => {
    const { version } = JSON.parse(text(join(root, 'packages/create-coplay/package.json')));
    const { devDependencies: ours } = JSON.parse(text(join(root, 'package.json')));
    const made = JSON.parse(text(join(root, 'packages/create-coplay/templates/project/package.json')));
    for (const [name, wanted] of Object.entries({ ...made.dependencies, ...made.devDependencies })) {
      expect([name, wanted]).toEqual([name, name.includes('coplay') ? version : ours[name]]);
    }
  });
});
