import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anchors, links } from '../scripts/lib/markdown';
import { resultOf } from '../scripts/lib/module-results';
import { examplesOf, type PageExample, pages } from '../scripts/lib/page-examples';
import { type Ended, run } from '../scripts/lib/run';
import { root } from '../scripts/lib/workspaces';

/** Inside the repository, so that examples find its packages; ignored by git. */
mkdirSync(join(root, '.cache'), { recursive: true });
const folder = mkdtempSync(join(root, '.cache/pages-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const examples = pages()
  .filter((page) => existsSync(join(root, page)))
  .flatMap(examplesOf);
const running = examples.filter(({ runs }) => runs);
const pageOf = ({ place }: PageExample) => place.slice(0, place.lastIndexOf(':'));
const fileOf = (place: string) => join(folder, `${place.replace(/[/:.]/g, '-')}.ts`);
for (const { place, code } of examples) writeFileSync(fileOf(place), `${code}export {};\n`);

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

describe('examples in pages', () => {
  it('are there', () => {
    expect(examples.length).toBeGreaterThan(0);
  });

  it('have no type errors', () => {
    const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
    const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
    const program = ts.createProgram(
      examples.map(({ place }) => fileOf(place)),
      {
        ...options,
        noUnusedLocals: false,
      },
    );
    const errors = examples.flatMap(({ place }) => {
      const source = program.getSourceFile(fileOf(place))!;
      const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
      return found.map((error) => {
        const line = source.getLineAndCharacterOfPosition(error.start ?? 0).line;
        return `${place} + ${line}: ${ts.flattenDiagnosticMessageText(error.messageText, ' ')}`;
      });
    });
    expect(errors).toEqual([]);
  });

  // A page's examples share a process: most of the time of a short one is its packages' loading.
  describe.each([...new Set(running.map(pageOf))])('of %s', (page) => {
    const places = running.filter((example) => pageOf(example) === page).map(({ place }) => place);
    let ended: Ended;
    beforeAll(async () => {
      const runner = 'scripts/lib/run-modules.ts';
      const args = ['--conditions=@coplay/source', '--import', 'tsx', runner, ...places.map(fileOf)];
      ended = await run(process.execPath, args, { cwd: root, limit: 110 });
    });

    it.each(places)('%s runs', (place) => {
      const { ok, output } = resultOf(fileOf(place), ended.output);
      expect(ok, output).toBe(true);
    });

    it('leave nothing behind that keeps a process alive, or fails later', () => {
      expect(ended.ok, ended.output.slice(-2000)).toBe(true);
    });
  });
});
