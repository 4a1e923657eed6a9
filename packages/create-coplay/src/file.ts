import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkOptions, fail } from '@coplay/core';
import { writeWholeSync } from '@coplay/core/node';
import { z } from 'zod';
import { named, nameSchema } from './names';
import { template } from './templates';

/** The kinds of files that {@link createFile} writes. */
export const templateKinds = ['game', 'agent', 'learner', 'study'] as const;

/** One of {@link templateKinds}. */
export type TemplateKind = (typeof templateKinds)[number];

/** Options of {@link createFile}. */
export interface FileOptions {
  /** Of which kind it is. */
  readonly kind: TemplateKind;
  /** Of the game, agent, learner or study, and of its file: `my-game` for `my-game.ts`. */
  readonly name: string;
  /** The folder of the file, which is made where there is none. Default: the working directory */
  readonly directory?: string;
}

const schema = z.strictObject({
  kind: z.enum(templateKinds),
  name: nameSchema,
  directory: z.string().min(1).default('.'),
});

/**
 * Writes a TypeScript file that runs: a game, an agent, a learner or a study to start from. An existing file stays as
 * it is.
 *
 * @returns the path of the file
 * @throws CoplayError for a name that isn't made of small letters, digits and dashes, and for a file that exists
 */
export function createFile(options: FileOptions): string {
  const { kind, name, directory } = checkOptions('createFile', schema, options);
  const path = join(directory, `${name}.ts`);
  if (existsSync(path)) fail('createFile', `no ${path} yet`, 'a file of this name', 'Choose another name, or move it.');
  writeWholeSync(path, named(template(`${kind}.ts`), name), { where: 'createFile', makeFolder: true });
  return path;
}
