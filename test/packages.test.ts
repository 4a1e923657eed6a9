import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { relative } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { filesUnder, root, type Workspace, workspaces } from '../scripts/lib/workspaces';

/** Who may import whom (docs/architecture.md). Everything else points the wrong way. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  core: [],
  tensor: ['core'],
  envs: ['core'],
  buffers: ['core'],
  models: ['core', 'tensor'],
  planning: ['core'],
  trainers: ['core', 'tensor', 'buffers', 'models', 'planning'],
  diagnostics: ['core', 'buffers'],
  viewer: ['core', 'envs', 'planning'],
  python: ['core'],
  'create-coplay': ['core'],
  zoo: ['core', 'envs', 'trainers'],
  coplay: ['create-coplay', 'core', 'tensor', 'envs', 'models', 'trainers', 'diagnostics', 'viewer', 'zoo'],
};

/** Packages that must run in a browser: no module of Node. */
const portable = ['core', 'envs', 'planning', 'viewer', 'zoo'];
/** The part of core that is for Node; a bundle for browsers gets another file in its place. */
const forNode = `${root}/packages/core/src/node/`;

/**
 * The modules that a file imports, re-exports, loads with `import()` or `require()`, or whose files it looks up with
 * `resolve()`.
 */
function modulesOf(file: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const module = textOf(nameOfModule(node));
    if (module !== undefined) found.push(module);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest));
  return found;
}

function nameOfModule(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal;
  if (!ts.isCallExpression(node)) return undefined;
  const [first] = node.arguments;
  if (node.expression.kind === ts.SyntaxKind.ImportKeyword) return first;
  if (!ts.isIdentifier(node.expression)) return undefined;
  // `resolve` is also the name of a function for paths; only a scope shows that a package is meant.
  const isPackage = node.expression.text === 'resolve' && textOf(first)?.startsWith('@');
  return node.expression.text === 'require' || isPackage ? first : undefined;
}

/** The text of a string, or of a template up to its first `${`. */
function textOf(node: ts.Node | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (ts.isStringLiteralLike(node)) return node.text;
  return ts.isTemplateExpression(node) ? node.head.text : undefined;
}

/** `@scope/name/deep/file` -> `@scope/name`; undefined for files of the package and modules of Node. */
function packageOf(module: string): string | undefined {
  if (module.startsWith('.') || isBuiltin(module)) return undefined;
  return module
    .split('/')
    .slice(0, module.startsWith('@') ? 2 : 1)
    .join('/');
}

/** The packages that a package's published code imports. */
function importsOf({ folder }: Workspace): string[] {
  const files = filesUnder(`${folder}/src`, '.ts').filter((file) => !file.endsWith('.test.ts'));
  const packages = files.flatMap(modulesOf).map(packageOf);
  return [...new Set(packages.filter((name) => name !== undefined))].sort();
}

/** Whether a package works without a peer of its own. */
function isOptional({ manifest }: Workspace, name: string): boolean {
  return manifest.peerDependenciesMeta?.[name]?.optional === true;
}

/** The packages that a package needs. */
function declaredBy(workspace: Workspace): string[] {
  const { dependencies = {}, peerDependencies = {} } = workspace.manifest;
  const all = Object.keys({ ...dependencies, ...peerDependencies });
  return all.filter((name) => !isOptional(workspace, name)).sort();
}

const isOurs = (name: string) => workspaces().some((one) => one.name === name);

describe.each(workspaces())('$name', (workspace) => {
  it('declares exactly the packages that it imports', () => {
    // Optional peers are left out: they are loaded on use, some by a name that no bundler sees.
    const needed = importsOf(workspace).filter((name) => !isOptional(workspace, name));
    expect(needed).toEqual(declaredBy(workspace));
  });

  it('imports only packages below it', () => {
    const siblings = importsOf(workspace).filter((name) => isOurs(name));
    expect(Object.keys(allowed)).toContain(workspace.short);
    const below = workspaces().flatMap(({ name, short }) => (allowed[workspace.short]!.includes(short) ? [name] : []));
    expect(siblings.filter((name) => !below.includes(name))).toEqual([]);
  });

  it('pins its siblings to the version they have', () => {
    for (const { name, manifest } of workspaces()) {
      const asked = workspace.manifest.dependencies?.[name];
      if (asked !== undefined) expect(`${name}@${asked}`).toBe(`${name}@${manifest.version}`);
    }
  });

  it('imports files of its own only by relative paths, and others only by package name', () => {
    const wrong = [...filesUnder(`${workspace.folder}/src`, '.ts')].flatMap((file) =>
      modulesOf(file)
        .filter((module) => module === workspace.name || /^(\.\.\/)+(packages|core|tensor|envs|buffers)\//.test(module))
        .map((module) => `${relative(root, file)}: ${module}`),
    );
    expect(wrong).toEqual([]);
  });

  it.runIf(portable.includes(workspace.short))('uses no module of Node', () => {
    const all = filesUnder(`${workspace.folder}/src`, '.ts').filter((file) => !file.endsWith('.test.ts'));
    const files = all.filter((file) => !file.startsWith(forNode));
    expect(files.flatMap(modulesOf).filter((module) => isBuiltin(module))).toEqual([]);
  });
});

describe('docs/dependencies.md', () => {
  const page = readFileSync(`${root}/docs/dependencies.md`, 'utf8');
  const { devDependencies } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  const ofPackages = workspaces().flatMap(({ manifest }) =>
    Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
  );
  const all = new Set([...ofPackages, ...Object.keys(devDependencies)]);

  it('has a line for each dependency of others', () => {
    const foreign = [...all].filter((name) => !isOurs(name));
    expect(foreign.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('and each tool is pinned', () => {
    const loose = Object.entries(devDependencies).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
    expect(loose).toEqual([]);
  });
});
