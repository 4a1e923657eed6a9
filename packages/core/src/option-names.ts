/*
 * The names of options, read from a zod schema for error messages. A record of options may lie in another, behind
 * defaults, and as one branch of a union.
 */

/** The parts of zod schemas that are read here. */
interface Schema {
  readonly shape?: Readonly<Record<PropertyKey, Schema>>;
  readonly def?: {
    /** Of `optional`, `default` and the like. */
    readonly innerType?: Schema;
    /** The branches of a union. */
    readonly options?: readonly Schema[];
    /** Of a list. */
    readonly element?: Schema;
    /** Of a record with any names. */
    readonly valueType?: Schema;
  };
  safeParse(value: unknown): {
    readonly error?: { readonly issues: readonly { readonly code?: string; readonly path: readonly unknown[] }[] };
  };
}

/**
 * The names that the record at a path of the options may have. A union of several records gives the names of those in
 * which only the record's names are wrong, not its values.
 *
 * @param record  the record that was given
 */
export function namesAt(schema: unknown, path: readonly PropertyKey[], record: unknown): string[] {
  const found = path.reduce<Schema[]>(
    (schemas, key) => schemas.flatMap((part) => entry(part, key)),
    [schema as Schema],
  );
  const branches = found.flatMap(branchesOf).filter(({ shape }) => shape !== undefined);
  const fitting = branches.length > 1 ? branches.filter((branch) => refusesNamesOnly(branch, record)) : branches;
  return [...new Set((fitting.length > 0 ? fitting : branches).flatMap(({ shape }) => Object.keys(shape!)))];
}

/**
 * Paths of the records among the options that have an option `name`: `ppo`, or '' for the options themselves.
 *
 * @param levels  of records in records that are searched
 */
export function placesOf(name: string, schema: unknown, levels = 3): string[] {
  return branchesOf(schema as Schema).flatMap(({ shape }) => {
    if (!shape) return [];
    const own = Object.hasOwn(shape, name) ? [''] : [];
    if (levels === 0) return own;
    const inner = Object.entries(shape).flatMap(([key, part]) => {
      return placesOf(name, part, levels - 1).map((path) => (path ? `${key}.${path}` : key));
    });
    return [...own, ...inner];
  });
}

/** The schemas that a value may fit, without defaults around them. */
function branchesOf(schema: Schema | undefined): Schema[] {
  const { innerType, options } = schema?.def ?? {};
  if (innerType) return branchesOf(innerType);
  if (options) return options.flatMap(branchesOf);
  return schema ? [schema] : [];
}

/** The schemas of an entry of a record or list. */
function entry(schema: Schema, key: PropertyKey): Schema[] {
  return branchesOf(schema).flatMap(({ shape, def }) => shape?.[key] ?? def?.element ?? def?.valueType ?? []);
}

function refusesNamesOnly(branch: Schema, record: unknown): boolean {
  const { issues = [] } = branch.safeParse(record).error ?? {};
  return issues.every(({ code, path }) => code === 'unrecognized_keys' && path.length === 0);
}
