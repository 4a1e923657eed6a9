import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { codeBlocks } from './markdown';
import { filesUnder, root, workspaces } from './workspaces';

/** A TypeScript block of a page. */
export interface PageExample {
  /** `docs/testing.md:12` */
  readonly place: string;
  readonly code: string;
  /** Whether it's run and not only type-checked. */
  readonly runs: boolean;
}

/** All pages that people read, as paths from the root; generated ones are left out. */
export function pages(): string[] {
  const top = filesUnder(join(root, 'docs'), '.md').filter((file) => !file.includes('/docs/api/'));
  const other = ['examples', 'bench', 'studies'].flatMap((folder) => filesUnder(join(root, folder), '.md'));
  const readmes = workspaces().map(({ folder }) => join(folder, 'README.md'));
  return [join(root, 'README.md'), join(root, 'CONTRIBUTING.md'), ...top, ...other, ...readmes].map((file) =>
    relative(root, file),
  );
}

/**
 * The `ts` blocks of a page. Each stands alone. Examples in packages' READMEs run; elsewhere examples marked `ts run`
 * do, and examples marked `ts fragment` are excerpts, which are neither run nor checked.
 */
export function examplesOf(page: string): PageExample[] {
  const blocks = codeBlocks(readFileSync(join(root, page), 'utf8'));
  return blocks
    .filter(({ language, words }) => language === 'ts' && !words.includes('fragment'))
    .map(({ code, line, words }) => ({
      place: `${page}:${line}`,
      code,
      runs: page.startsWith('packages/') || words.includes('run'),
    }));
}
