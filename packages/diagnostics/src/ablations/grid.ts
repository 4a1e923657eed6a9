import { checkOptions, fail, show } from '@coplay/core';
import { checkArgument } from '@coplay/core/checks';
import { z } from 'zod';

/** Which modules are on. */
export type Switches<Name extends string = string> = Readonly<Record<Name, boolean>>;

/** One setting of all switches. */
export interface AblationCell<Name extends string = string> {
  /** `all`, `none`, `without moa`, `only moa`, or `moa + omg` for the modules that are on. */
  readonly label: string;
  readonly switches: Switches<Name>;
}

/** Options of {@link ablationGrid}. */
export interface AblationGridOptions<Name extends string = string> {
  /**
   * `one-off`: all on, and each module off in turn. `one-on`: all off, and each on in turn. `full`: every combination.
   * Default `one-off`
   */
  readonly design?: 'one-off' | 'one-on' | 'full';
  /**
   * The modules that a module needs: `{ imagined: ['worldModel'] }`. Switching off a module then also switches off its
   * dependents, switching one on also switches on its dependencies, and impossible combinations are left out. Default:
   * nothing
   */
  readonly requires?: Readonly<Partial<Record<Name, readonly Name[]>>>;
}

const schema = z.strictObject({
  design: z.enum(['one-off', 'one-on', 'full']).default('one-off'),
  requires: z.record(z.string(), z.array(z.string()).readonly()).default({}),
});

type Requirements = Readonly<Record<string, readonly string[]>>;

/**
 * The cells of an ablation over module switches. Running them, each over several seeds, is the caller's; see
 * `ablationSummary`. Cells that requirements make equal come once, under the first label.
 *
 * @param names  of the modules, each once; at most 16 for `full`
 * @throws CoplayError for no or doubled names, or requirements of or on others
 */
export function ablationGrid<Name extends string>(
  names: readonly Name[],
  options: AblationGridOptions<Name> = {},
): AblationCell<Name>[] {
  checkArgument('ablationGrid', 'names', z.array(z.string().min(1)), names);
  const { design, requires } = checkOptions('ablationGrid', schema, options);
  checkNames(names, requires, design);
  const cells = {
    'one-off': () => oneOff(names, requires),
    'one-on': () => oneOn(names, requires),
    full: () => everyCombination(names, requires),
  }[design]();
  const seen = new Set<string>();
  return cells.flatMap(({ label, on }) => {
    const switches = Object.fromEntries(names.map((name) => [name, on.has(name)])) as Record<Name, boolean>;
    const key = JSON.stringify(switches);
    if (seen.has(key)) return [];
    seen.add(key);
    return [{ label, switches }];
  });
}

interface Draft {
  readonly label: string;
  readonly on: ReadonlySet<string>;
}

function oneOff(names: readonly string[], requires: Requirements): Draft[] {
  const cells = names.map((name) => {
    const on = names.filter((other) => other !== name && !needed(other, requires).has(name));
    return { label: `without ${name}`, on: new Set(on) };
  });
  return [{ label: 'all', on: new Set(names) }, ...cells];
}

function oneOn(names: readonly string[], requires: Requirements): Draft[] {
  const cells = names.map((name) => ({ label: `only ${name}`, on: new Set([name, ...needed(name, requires)]) }));
  return [{ label: 'none', on: new Set<string>() }, ...cells];
}

/** From none to all, counting in binary. */
function everyCombination(names: readonly string[], requires: Requirements): Draft[] {
  const drafts = Array.from({ length: 2 ** names.length }, (_, bits) => {
    const on = names.filter((_, i) => (bits >> i) % 2 === 1);
    const label = on.length === 0 ? 'none' : on.length === names.length ? 'all' : on.join(' + ');
    return { label, on: new Set(on) };
  });
  return drafts.filter(({ on }) => [...on].every((name) => [...needed(name, requires)].every((need) => on.has(need))));
}

/** All direct and indirect dependencies of a module. */
function needed(name: string, requires: Requirements, found = new Set<string>()): Set<string> {
  for (const need of requires[name] ?? []) {
    if (found.has(need)) continue;
    found.add(need);
    needed(need, requires, found);
  }
  return found;
}

function checkNames(names: readonly string[], requires: Requirements, design: string): void {
  if (names.length === 0 || new Set(names).size !== names.length) {
    fail('ablationGrid', 'one name or more, each once', show(names), 'Name the modules to be switched.');
  }
  if (design === 'full' && names.length > 16) {
    fail('ablationGrid', 'at most 16 modules for a full grid', String(names.length), 'Use one-off or one-on.');
  }
  const stranger = Object.entries(requires)
    .flatMap(([name, needs]) => [name, ...needs])
    .find((name) => !names.includes(name));
  if (stranger !== undefined) {
    fail(
      'ablationGrid: option requires',
      `names among ${names.join(', ')}`,
      show(stranger),
      'Name it as a module too.',
    );
  }
}
