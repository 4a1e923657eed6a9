import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';
import { afterAll, describe, expect, it } from 'vitest';
import { anchors, links } from '../scripts/lib/markdown';
import { pages, writeExamples } from '../scripts/lib/page-examples';
import { root } from '../scripts/lib/workspaces';

const { examples, folder, fileOf } = writeExamples();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Where a link of a page points to nothing; undefined if it's fine or leads out of the repository. */
function brokenLink(page: string, target: string): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? join(root, page) : resolve(root, dirname(page), path);
  if (file.startsWith(join(root, 'docs/api'))) return undefined;
  if (!existsSync(file)) return `${target}: no such file`;
  if (anchor === undefined || statSync(file).isDirectory()) return undefined;
  return anchors(readFileSync(file, 'utf8')).has(anchor) ? undefined : `${target}: no such heading`;
}

describe.each(pages())('%s', (page) => {
  it('is there, and its links lead somewhere', () => {
    const found = links(readFileSync(join(root, page), 'utf8'));
    const broken = found.map(({ target, line }) => [line, brokenLink(page, target)] as const);
    expect(broken.filter(([, reason]) => reason !== undefined)).toEqual([]);
  });
});

// `npm run examples` runs them.
describe('examples in pages', () => {
  it('are there', () => {
    expect(examples.length).toBeGreaterThan(0);
  });

  it('have no type errors', { tags: ['slow'] }, () => {
    const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
    const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
    const program = ts.createProgram(examples.map(fileOf), {
      ...options,
      noUnusedLocals: false,
    });
    const errors = examples.flatMap((example) => {
      const source = program.getSourceFile(fileOf(example))!;
      const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
      return found.map((error) => {
        const line = source.getLineAndCharacterOfPosition(error.start ?? 0).line;
        return `${example.place} + ${line}: ${ts.flattenDiagnosticMessageText(error.messageText, ' ')}`;
      });
    });
    expect(errors).toEqual([]);
  });
});
