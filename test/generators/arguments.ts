import { join } from 'node:path';
import ts from 'typescript';
import { root, workspaces } from '../../scripts/lib/workspaces';

/**
 * The exported functions, and the methods of exported interfaces and classes, that are given a generator, by itself, in
 * a list, or as the field `generator` of an argument: `core: imagine`, `buffers: ReplayBuffer.sample`.
 */
export function takersOfGenerators(): string[] {
  const entries = workspaces().flatMap(({ folder, manifest }) => {
    const paths = Object.values(manifest.exports as Record<string, Record<string, string> | string>);
    const sources = paths.flatMap((path) => (typeof path === 'string' ? [] : [path['@coplay/source']]));
    return sources.map((source) => ({ name: manifest.name.replace('@coplay/', ''), file: join(folder, source) }));
  });
  const { config } = ts.readConfigFile(`${root}/tsconfig.json`, ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    options,
  );
  const checker = program.getTypeChecker();
  return entries.flatMap(({ name, file }) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file)!)!;
    const exported = checker.getExportsOfModule(module).map((symbol) => followed(checker, symbol));
    return exported.filter(isOurs).flatMap((symbol) => takersIn(checker, symbol).map((taker) => `${name}: ${taker}`));
  });
}

function followed(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/** A function by its name, methods by those of their owner and their own. */
function takersIn(checker: ts.TypeChecker, symbol: ts.Symbol): string[] {
  if (symbol.flags & (ts.SymbolFlags.Function | ts.SymbolFlags.Variable)) {
    return isGiven(checker, checker.getTypeOfSymbol(symbol)) ? [symbol.name] : [];
  }
  if (!(symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class | ts.SymbolFlags.TypeAlias))) return [];
  const methods = checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol)).filter((method) => {
    const isPrivate = method.declarations?.some(
      (one) => ts.getCombinedModifierFlags(one) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected),
    );
    const type = checker.getNonNullableType(checker.getTypeOfSymbol(method));
    return isOurs(method) && !isPrivate && isGiven(checker, type);
  });
  return methods.map((method) => `${symbol.name}.${method.name}`);
}

/** Whether a function of the type has a parameter that is a generator or holds one. */
function isGiven(checker: ts.TypeChecker, type: ts.Type): boolean {
  return type.getCallSignatures().some(({ parameters }) =>
    parameters.some((parameter) => {
      const given = checker.getTypeOfSymbol(parameter);
      return isGenerator(checker, given) || partsOf(given).some((part) => holdsGenerator(checker, part));
    }),
  );
}

function holdsGenerator(checker: ts.TypeChecker, type: ts.Type): boolean {
  const field =
    isOurs(type.symbol) && type.getCallSignatures().length === 0 ? type.getProperty('generator') : undefined;
  return field !== undefined && isGenerator(checker, checker.getTypeOfSymbol(field));
}

function isGenerator(checker: ts.TypeChecker, type: ts.Type): boolean {
  return partsOf(type).some((part) => {
    if (checker.isArrayType(part)) {
      return isGenerator(checker, checker.getTypeArguments(part as ts.TypeReference)[0]);
    }
    return part.symbol?.name === 'Generator' && isOurs(part.symbol);
  });
}

function partsOf(type: ts.Type): readonly ts.Type[] {
  return type.isUnionOrIntersection() ? type.types : [type];
}

/** JavaScript has generators, too. */
function isOurs(symbol: ts.Symbol | undefined): boolean {
  const file = symbol?.declarations?.[0]?.getSourceFile().fileName;
  return file !== undefined && !file.includes('/node_modules/');
}
