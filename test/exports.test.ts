import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { apiReport, entryPoints, exportsOf, programOf } from '../scripts/lib/api-report';
import { root, workspaces } from '../scripts/lib/workspaces';

const packages = workspaces();
const program = programOf(packages);
const checker = program.getTypeChecker();

/** Whole modules of others that a package passes on are documented by them. */
function isOurs(symbol: ts.Symbol): boolean {
  const file = symbol.declarations?.[0]?.getSourceFile().fileName;
  return file === undefined || !file.includes('/node_modules/');
}

function isDocumented(symbol: ts.Symbol): boolean {
  return ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim().length > 0;
}

function placeOf(symbol: ts.Symbol): string {
  const declaration = symbol.declarations?.[0];
  return declaration ? `${relative(root, declaration.getSourceFile().fileName)}: ${symbol.name}` : symbol.name;
}

describe.each(packages)('$name', (workspace) => {
  const symbols = entryPoints(workspace).flatMap(({ file }) => [...exportsOf(program, file).values()].filter(isOurs));

  it('exports something', () => {
    expect(symbols.length).toBeGreaterThan(0);
  });

  it('exports what its api.txt says: `npm run generate` writes a change of the API there', () => {
    expect(apiReport(program, workspace)).toBe(readFileSync(join(workspace.folder, 'api.txt'), 'utf8'));
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
