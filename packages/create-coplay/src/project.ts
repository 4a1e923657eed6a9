import { existsSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { checkOptions, fail } from '@coplay/core';
import { writeWholeSync } from '@coplay/core/node';
import { z } from 'zod';
import { named, nameSchema } from './names';
import { template } from './templates';

/** Options of {@link createProject}. */
export interface ProjectOptions {
  /** Of the project: a new folder or an empty one. Its name is that of the project: `my-project`. */
  readonly directory: string;
}

const schema = z.strictObject({ directory: z.string().min(1) });

/** The game of a project. */
const GAME = 'lake';

/** Files of a project, by the templates that they are made of. */
const FILES: Readonly<Record<string, string>> = {
  'project/package.json': 'package.json',
  'project/README.md': 'README.md',
  'project/tsconfig.json': 'tsconfig.json',
  'project/gitignore': '.gitignore', // npm leaves files of that name out of packages
  'game.ts': `src/${GAME}.ts`,
  'project/train.ts': 'src/train.ts',
  'project/game.test.ts': `test/${GAME}.test.ts`,
};

/**
 * Begins a project: a game, a training script, tests, and what npm and TypeScript need. Installs nothing.
 *
 * @returns the paths of its files
 * @throws CoplayError for a folder that isn't empty, or whose name isn't made of small letters, digits and dashes
 */
export function createProject(options: ProjectOptions): readonly string[] {
  const { directory } = checkOptions('createProject', schema, options);
  const folder = resolve(directory);
  const { name } = checkOptions('createProject', z.object({ name: nameSchema }), { name: basename(folder) });
  if (existsSync(folder) && readdirSync(folder).length > 0) {
    fail('createProject', `an empty folder ${directory}, or none`, 'one with files in it', 'Choose another name.');
  }
  return Object.entries(FILES).map(([from, to]) => {
    const path = join(folder, to);
    writeWholeSync(path, filled(template(from), name, to), { where: 'createProject', makeFolder: true });
    return path;
  });
}

/** A template's text with the names of the project and of its game. */
function filled(text: string, project: string, to: string): string {
  const module = to.startsWith('test/') ? `../src/${GAME}` : `./${GAME}`;
  return named(text, GAME).replaceAll('template-project', project).replaceAll("'../game'", `'${module}'`);
}
