import { join, relative } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { root, type Workspace, workspaces } from '../scripts/lib/workspaces';

const packages = workspaces();
const entries = packages.flatMap(entriesOf);
const program = ts.createProgram(entries, {
  ...ts.convertCompilerOptionsFromJson(
    ts.readConfigFile(`${root}/tsconfig.json`, ts.sys.readFile).config.compilerOptions,
    root,
  ).options,
});
const checker = program.getTypeChecker();

/** The sources of the paths that a package can be imported by, `@coplay/core` and `@coplay/core/node`. */
function entriesOf({ folder, manifest }: Workspace): string[] {
  const paths = Object.values(manifest.exports as Record<string, Record<string, unknown> | string>);
  const sources = paths.map((path) => (typeof path === 'string' ? undefined : path['@coplay/source']));
  return sources.filter((source) => typeof source === 'string').map((source) => join(folder, source));
}

/** What a package exports of its own, with aliases followed to the declaration. */
function exportsOf(entry: string): ts.Symbol[] {
  const module = checker.getSymbolAtLocation(program.getSourceFile(entry)!)!;
  return checker.getExportsOfModule(module).map(followed).filter(isOurs);
}

/** Whole modules of others that a package passes on are documented by them. */
function isOurs(symbol: ts.Symbol): boolean {
  const file = symbol.declarations?.[0]?.getSourceFile().fileName;
  return file === undefined || !file.includes('/node_modules/');
}

function followed(symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

function isDocumented(symbol: ts.Symbol): boolean {
  return ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim().length > 0;
}

function placeOf(symbol: ts.Symbol): string {
  const declaration = symbol.declarations?.[0];
  return declaration ? `${relative(root, declaration.getSourceFile().fileName)}: ${symbol.name}` : symbol.name;
}

describe.each(packages)('$name', (workspace) => {
  const symbols = entriesOf(workspace).flatMap(exportsOf);

  it('exports something', () => {
    expect(symbols.length).toBeGreaterThan(0);
  });

  it('has a doc comment on every export', () => {
    expect(symbols.filter((symbol) => !isDocumented(symbol)).map(placeOf)).toEqual([]);
  });

  it('says of every option what it is, on the exported type', () => {
    const options = symbols.filter(({ name, flags }) => /Options$/.test(name) && flags & ts.SymbolFlags.Interface);
    const members = options.flatMap((symbol) => [...(symbol.members?.values() ?? [])]);
    const named = members.filter(({ flags }) => !(flags & ts.SymbolFlags.TypeParameter));
    expect(named.filter((member) => !isDocumented(member)).map(placeOf)).toEqual([]);
  });
});
