import { join, posix } from 'node:path';
import ts from 'typescript';
import { root, type Workspace } from './workspaces';

/** A place that users import from, such as `@coplay/core/rows`, and its source file. */
export interface EntryPoint {
  readonly path: string;
  readonly file: string;
}

/** The entry points of a package. */
export function entryPoints({ name, folder, manifest }: Workspace): EntryPoint[] {
  const paths = Object.entries(manifest.exports as Record<string, Record<string, unknown> | string>);
  return paths.flatMap(([path, conditions]) => {
    const source = typeof conditions === 'string' ? undefined : conditions['@coplay/source'];
    return typeof source === 'string' ? [{ path: posix.join(name, path), file: join(folder, source) }] : [];
  });
}

/** A program of all entry points of some packages. Its types aren't checked. */
export function programOf(packages: readonly Workspace[]): ts.Program {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  return ts.createProgram(
    packages.flatMap((workspace) => entryPoints(workspace).map(({ file }) => file)),
    options,
  );
}

/** What an entry point exports, by name; aliases are followed to what they stand for. */
export function exportsOf(program: ts.Program, file: string): ReadonlyMap<string, ts.Symbol> {
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(file)!)!;
  const followed = (symbol: ts.Symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const exported = checker.getExportsOfModule(module).map((symbol) => [symbol.name, followed(symbol)] as const);
  return new Map(exported.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const printer = ts.createPrinter({ removeComments: true });

/**
 * The public API of a package as text: each exported name with its declaration, without bodies, private members and
 * comments. Names that a package passes on from others (`tf`) are listed by name alone.
 */
export function apiReport(program: ts.Program, workspace: Workspace): string {
  const sections = entryPoints(workspace).map(({ path, file }) => {
    const entries = [...exportsOf(program, file)].map(([name, symbol]) => describe(program, name, symbol));
    return `# ${path}: ${entries.length} names\n\n${entries.join('\n')}\n`;
  });
  return sections.join('\n');
}

function describe(program: ts.Program, name: string, symbol: ts.Symbol): string {
  const declarations = (symbol.declarations ?? []).filter(({ kind }) => kind !== ts.SyntaxKind.SourceFile);
  const isForeign = declarations.some((one) => one.getSourceFile().fileName.includes('/node_modules/'));
  if (isForeign || declarations.length === 0) return name;
  return declarations.map((declaration) => declared(program.getTypeChecker(), name, declaration)).join('\n');
}

function declared(checker: ts.TypeChecker, name: string, node: ts.Declaration): string {
  if (ts.isVariableDeclaration(node)) {
    const type = node.type ? printed(node.type, node) : checker.typeToString(checker.getTypeAtLocation(node));
    return `const ${name}: ${type}`;
  }
  const shown = ts.transform(node, [withoutBodies(checker)]);
  const text = printed(shown.transformed[0], node);
  shown.dispose();
  return text.replace(/^export /, '');
}

function printed(node: ts.Node, of: ts.Node): string {
  return printer.printNode(ts.EmitHint.Unspecified, node, of.getSourceFile());
}

/**
 * Takes bodies, default values and private members out, and writes a return type where the source leaves it to
 * inference.
 */
function withoutBodies(checker: ts.TypeChecker): ts.TransformerFactory<ts.Declaration> {
  const { factory } = ts;
  return (context) => (node) => {
    const visit = (child: ts.Node): ts.Node | undefined => {
      if (ts.canHaveModifiers(child) && isPrivate(child)) return undefined;
      if (ts.isParameter(child)) {
        const { dotDotDotToken, initializer, type } = child;
        const optional = child.questionToken ?? (initializer && factory.createToken(ts.SyntaxKind.QuestionToken));
        const name = ts.isIdentifier(child.name) ? child.name : factory.createIdentifier('given');
        return factory.updateParameterDeclaration(
          child,
          child.modifiers,
          dotDotDotToken,
          name,
          optional,
          type,
          undefined,
        );
      }
      if (ts.isFunctionDeclaration(child)) {
        const { modifiers, asteriskToken, name, typeParameters } = child;
        const parameters = ts.visitNodes(child.parameters, visit, ts.isParameter);
        const kept = modifiers?.filter(({ kind }) => kind !== ts.SyntaxKind.AsyncKeyword);
        return factory.updateFunctionDeclaration(
          child,
          kept,
          asteriskToken,
          name,
          typeParameters,
          parameters,
          returned(child),
          undefined,
        );
      }
      if (ts.isMethodDeclaration(child)) {
        const { modifiers, asteriskToken, name, questionToken, typeParameters } = child;
        const parameters = ts.visitNodes(child.parameters, visit, ts.isParameter);
        const kept = modifiers?.filter(({ kind }) => kind !== ts.SyntaxKind.AsyncKeyword);
        return factory.updateMethodDeclaration(
          child,
          kept,
          asteriskToken,
          name,
          questionToken,
          typeParameters,
          parameters,
          returned(child),
          undefined,
        );
      }
      if (ts.isConstructorDeclaration(child)) {
        return factory.updateConstructorDeclaration(
          child,
          child.modifiers,
          ts.visitNodes(child.parameters, visit, ts.isParameter),
          undefined,
        );
      }
      if (ts.isGetAccessorDeclaration(child)) {
        return factory.updateGetAccessorDeclaration(child, child.modifiers, child.name, [], returned(child), undefined);
      }
      if (ts.isPropertyDeclaration(child)) {
        const { modifiers, name, questionToken } = child;
        const type = child.type ?? typeNode(checker.getTypeAtLocation(child));
        return factory.updatePropertyDeclaration(child, modifiers, name, questionToken, type, undefined);
      }
      return ts.visitEachChild(child, visit, context);
    };
    return visit(node) as ts.Declaration;
  };

  function returned(node: ts.SignatureDeclaration): ts.TypeNode {
    if (node.type) return node.type;
    return typeNode(checker.getReturnTypeOfSignature(checker.getSignatureFromDeclaration(node)!));
  }

  function typeNode(type: ts.Type): ts.TypeNode {
    return factory.createTypeReferenceNode(checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation));
  }
}

function isPrivate(node: ts.HasModifiers): boolean {
  const hidden = [ts.SyntaxKind.PrivateKeyword, ts.SyntaxKind.ProtectedKeyword];
  return ts.getModifiers(node)?.some(({ kind }) => hidden.includes(kind)) ?? false;
}
