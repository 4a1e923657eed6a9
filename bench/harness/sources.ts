import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import ts from 'typescript';

/**
 * The version of an experiment's code: a hash of its file and of the files of benches and studies that it imports, the
 * harness left out. Types, comments, layout, and texts with a space in them, which are for people, don't count.
 *
 * @param file  path of the experiment's file
 * @param top   the folder that holds benches and studies: paths are hashed relative to it
 */
export function sourceVersion(file: string, top: string): string {
  const hash = createHash('sha256');
  for (const path of [...withImports(file, new Map())].sort(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(`${relative(top, path[0]).split(sep).join('/')}\n${tokensOf(path[1]).join('\n')}\n`);
  return hash.digest('hex').slice(0, 12);
}

/** Parsed files, by their text. */
const parsed = new Map<string, ts.SourceFile>();

/** The file and all that it imports by a relative path, as JavaScript without types. */
function withImports(file: string, found: Map<string, ts.SourceFile>): Map<string, ts.SourceFile> {
  if (found.has(file)) return found;
  const source = parse(readFileSync(file, 'utf8'));
  found.set(file, source);
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) continue;
    const target = statement.moduleSpecifier;
    if (!target || !ts.isStringLiteral(target) || !target.text.startsWith('.')) continue;
    const path = resolveModule(join(dirname(file), target.text));
    if (path && !path.split(sep).includes('harness')) withImports(path, found);
  }
  return found;
}

function parse(text: string): ts.SourceFile {
  const kept = parsed.get(text);
  if (kept) return kept;
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, removeComments: true },
  });
  const source = ts.createSourceFile('module.js', outputText, ts.ScriptTarget.ESNext, true);
  parsed.set(text, source);
  return source;
}

function resolveModule(path: string): string | undefined {
  return [path, `${path}.ts`, join(path, 'index.ts')].find((file) => file.endsWith('.ts') && existsSync(file));
}

function isText(node: ts.Node): boolean {
  return ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node);
}

function tokensOf(source: ts.SourceFile): string[] {
  const tokens: string[] = [];
  const visit = (node: ts.Node): void => {
    const parts = node.getChildren(source);
    for (const part of parts) visit(part);
    const text = parts.length > 0 ? '' : node.getText(source);
    if (text !== '') tokens.push(isText(node) && text.includes(' ') ? "''" : text);
  };
  visit(source);
  // A comma before a closing bracket is layout.
  return tokens.filter((token, i) => token !== ',' || !/^[\])}]$/.test(tokens[i + 1] ?? ''));
}
