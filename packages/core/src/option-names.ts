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

/**
 * The name that is closest to a misspelt one: at most one letter of every four is missing, added, another one, or
 * swapped with the next. Undefined where none is so close.
 */
export function closestName(name: string, known: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(name.length / 4));
  const [closest] = known
    .map((other) => ({ other, distance: letterChanges(name, other) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance);
  return closest?.other;
}

/** Changes of single letters, and swaps of two neighbours, that make `b` of `a` (optimal string alignment distance). */
function letterChanges(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > a.length / 4 + 1) return Number.POSITIVE_INFINITY; // also keeps long names cheap
  // rows[i][j]: changes between the first i letters of a and the first j of b
  const rows = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_, j) => i + j));
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + same);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.length][b.length];
}
