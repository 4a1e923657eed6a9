import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { filesUnder, root, workspaces } from '../scripts/lib/workspaces';

/** Things that no file of a package may hold, in code or in comments. */
const inText: Readonly<Record<string, RegExp>> = {
  'a switched-off type check': /@ts-(ignore|nocheck|expect-error)|biome-ignore-all/,
  'a note to do something': /\b(TODO|FIXME|XXX)\b/,
  'a skipped or focused test': /\b(it|test|describe)\.(skip|only|todo)\b/,
};

/** Files of packages, and with them the scripts that show how packages are used. */
const files = [
  ...workspaces().map(({ folder }) => folder),
  ...['examples', 'bench', 'studies'].map((name) => join(root, name)),
]
  .flatMap((folder) => filesUnder(folder, '.ts'))
  // Bundles of pages hold code of others: zod's list of currencies has one called XXX.
  .filter((file) => !file.includes('/generated/'))
  .sort();
const sources = files.filter((file) => /packages\/[a-z-]+\/src\//.test(file) && !file.endsWith('.test.ts'));

/** Syntax that no published file may hold: what it is, and whether a node is one. */
const inSyntax: Readonly<Record<string, (node: ts.Node) => boolean>> = {
  'the type any': (node) => node.kind === ts.SyntaxKind.AnyKeyword,
  'a default export': (node) =>
    ts.isExportAssignment(node) || (ts.canHaveModifiers(node) && hasModifier(node, ts.SyntaxKind.DefaultKeyword)),
  // Tracing replaces it for a moment, to refuse calls of it: that is an assignment.
  'Math.random': (node) => isMember(node, 'Math', 'random') && !isAssigned(node),
  'Date.now': (node) => isMember(node, 'Date', 'now'),
  'new Date()': (node) =>
    ts.isNewExpression(node) && node.expression.getText() === 'Date' && (node.arguments?.length ?? 0) === 0,
};

function hasModifier(node: ts.HasModifiers, kind: ts.SyntaxKind): boolean {
  return ts.getModifiers(node)?.some((modifier) => modifier.kind === kind) ?? false;
}

function isAssigned(node: ts.Node): boolean {
  return ts.isBinaryExpression(node.parent) && node.parent.left === node;
}

function isMember(node: ts.Node, object: string, property: string): boolean {
  return ts.isPropertyAccessExpression(node) && node.expression.getText() === object && node.name.text === property;
}

/** `file:line` of what published files hold, by the names of {@link inSyntax}; each file is parsed once. */
const found: Record<string, string[]> = Object.fromEntries(Object.keys(inSyntax).map((name) => [name, []]));
for (const file of sources) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    for (const [name, matches] of Object.entries(inSyntax)) {
      if (!matches(node)) continue;
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      found[name].push(`${relative(root, file)}:${line + 1}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}

/** Files that may write by other means than `writeWhole` of `@coplay/core/node`, and why. */
const writers: Readonly<Record<string, string>> = {
  'packages/core/src/node/write-whole.ts': 'is the one writer',
  'packages/coplay/src/configuration/temporary-module.ts': 'writes a module that it deletes after its use',
  'scripts/check-sabotage.ts': 'breaks a copy that is thrown away',
  'scripts/check-pack.ts': 'fills a project that is thrown away',
};

/** Words that a reader has to decode; docs/style.md has better ones. This file and that page must name them. */
const decoded = /\b(whoever|whatever|alike|oneself|that which|what is told)\b/i;
const aboutWords = ['test/habits.test.ts', 'docs/style.md'];

/** Sources, tests and scripts. */
const everything = [...files, ...['scripts', 'test'].flatMap((name) => filesUnder(join(root, name), '.ts'))].filter(
  (file) => !file.includes('/generated/') && !aboutWords.includes(relative(root, file)),
);

/** Pages, without the results of benches and studies: these are records. */
const pages = [
  ...['README.md', 'CONTRIBUTING.md'].map((name) => join(root, name)),
  ...['packages', 'docs', 'bench', 'studies', 'examples'].flatMap((name) =>
    filesUnder(join(root, name), '.md', ['node_modules', 'dist', 'results']),
  ),
].filter((file) => !aboutWords.includes(relative(root, file)));

/** `file:line` of each line of some files for which `matches` holds. */
function linesWhere(of: readonly string[], matches: (line: string) => boolean): string[] {
  return of.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, i) => (matches(line) ? [`${relative(root, file)}:${i + 1}`] : [])),
  );
}

describe('habits', () => {
  it('looks at the packages', () => {
    expect(sources.length).toBeGreaterThan(workspaces().length);
  });

  it.each(Object.entries(inText))('no file holds %s', (_, pattern) => {
    expect(
      files.filter((file) => pattern.test(readFileSync(file, 'utf8'))).map((file) => relative(root, file)),
    ).toEqual([]);
  });

  it.each(Object.keys(inSyntax))('no published file holds %s', (name) => {
    expect(found[name]).toEqual([]);
  });

  it('writes whole files in one place', () => {
    const scripts = filesUnder(join(root, 'scripts'), '.ts');
    const ours = [...sources, ...scripts, ...files.filter((file) => /^(bench|studies)\//.test(relative(root, file)))];
    const writing = ours.filter((file) =>
      /\b(writeFile(Sync)?|createWriteStream|copyFile(Sync)?)\(/.test(readFileSync(file, 'utf8')),
    );
    const known = new Set(Object.keys(writers));
    expect(writing.map((file) => relative(root, file)).filter((file) => !known.has(file))).toEqual([]);
  });

  it('names no folder of the machine it was written on', () => {
    const pattern = /(^|[\s'"`(])\/(work|tmp|home|root)\//m;
    expect(
      files.filter((file) => pattern.test(readFileSync(file, 'utf8'))).map((file) => relative(root, file)),
    ).toEqual([]);
  });

  it('uses plain words', () => {
    expect(linesWhere([...everything, ...pages], (line) => decoded.test(line))).toEqual([]);
  });

  it('wraps comments at 120 characters', () => {
    const isWide = (line: string) => line.length > 120 && /^\s*(\/\/|\/?\*)|\s\/\/ /.test(line);
    expect(linesWhere(everything, isWide)).toEqual([]);
  });
});
