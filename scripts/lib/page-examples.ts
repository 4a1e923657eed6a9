import { existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { writeWholeSync } from '../../packages/core/src/node';
import { codeBlocks } from './markdown';
import { filesUnder, root, workspaces } from './workspaces';

/** A TypeScript block of a page. */
export interface PageExample {
  /** `docs/testing.md` */
  readonly page: string;
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
function examplesOf(page: string): PageExample[] {
  const blocks = codeBlocks(readFileSync(join(root, page), 'utf8'));
  return blocks
    .filter(({ language, words }) => language === 'ts' && !words.includes('fragment'))
    .map(({ code, line, words }) => ({
      page,
      place: `${page}:${line}`,
      code,
      runs: page.startsWith('packages/') || words.includes('run'),
    }));
}

/** The examples of all pages, each in a file of its own. */
interface WrittenExamples {
  readonly examples: readonly PageExample[];
  /** To be removed when they are no longer needed. */
  readonly folder: string;
  readonly fileOf: (example: PageExample) => string;
}

/** Writes all examples inside the repository, so that they find its packages, in a folder that git ignores. */
export function writeExamples(): WrittenExamples {
  mkdirSync(join(root, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(root, '.cache/pages-'));
  const fileOf = ({ place }: PageExample) => join(folder, `${place.replace(/[/:.]/g, '-')}.ts`);
  const examples = pages()
    .filter((page) => existsSync(join(root, page)))
    .flatMap(examplesOf);
  for (const example of examples) writeWholeSync(fileOf(example), `${example.code}export {};\n`);
  return { examples, folder, fileOf };
}
