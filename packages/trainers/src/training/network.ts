import { createGenerator, fail, type Generator, type NamedArrays, type SavedState } from '@coplay/core';
import { checkGenerator } from '@coplay/core/checks';
import { type Variables, variables } from '@coplay/tensor';
import type { Takeover } from './restore';
import { checkSavedArrays } from './saved-arrays';

/** Updates between flushes of denormal numbers: it takes hundreds of steps without a gradient to get there. */
const FLUSH_EVERY = 8;

/** Compiled functions by name, or lists of them. */
export type Functions<Fns> = { readonly [Name in keyof Fns]: Disposable | readonly Disposable[] };

interface Disposable {
  dispose(): void;
}

/** The parts of a learner's network. */
export interface NetworkSpec<Group extends string, Fns extends Functions<Fns>> {
  /** For messages: `PPO (agent_0)`. */
  readonly name: string;
  /** First parameters and optimiser slots, by group: equal for generators in equal states. */
  init(generator: Generator): Readonly<Record<Group, NamedArrays>>;
  /** The groups of an optimiser's slots, in which denormal numbers come up. */
  readonly slots: readonly NoInfer<Group>[];
  /** Compiles the functions over these variables. */
  functions(groups: Readonly<Record<Group, Variables>>): Fns;
}

interface Live<Group extends string, Fns> {
  readonly groups: Readonly<Record<Group, Variables>>;
  functions: Fns;
}

/**
 * A learner's parameters and optimiser slots, and the compiled functions over them: acting and training see the same
 * weights. There are none until `initialise` or `takeOver`, and none after `dispose`.
 */
export class Network<Group extends string, Fns extends Functions<Fns>> {
  private live: Live<Group, Fns> | undefined;
  private isDisposed = false;

  constructor(private readonly spec: NetworkSpec<Group, Fns>) {}

  /** Whether there are parameters. */
  get isReady(): boolean {
    return this.live !== undefined;
  }

  /** The present variables by group. Others after each `takeOver`. */
  get groups(): Readonly<Record<Group, Variables>> {
    return this.ready().groups;
  }

  get functions(): Fns {
    return this.ready().functions;
  }

  /**
   * Returns this network.
   *
   * @throws CoplayError if it has no parameters
   */
  running(): this {
    this.ready();
    return this;
  }

  /**
   * Makes the first parameters, unless there are some.
   *
   * @throws CoplayError after `dispose`
   */
  initialise(generator: Generator): void {
    const { name } = this.spec;
    checkGenerator(`${name}.initialise`, generator);
    if (this.isDisposed) {
      const remedy = 'Make a new one, or give this one parameters with restore(saved).';
      fail(name, 'a learner in use', 'one that was disposed with its run', remedy);
    }
    this.live ??= this.start(this.spec.init(generator));
  }

  /** Replaces functions by others over the same parameters; functions that aren't kept are disposed of. */
  replace(functions: Fns): void {
    const live = this.ready();
    const kept = new Set(partsOf(functions));
    for (const one of partsOf(live.functions)) if (!kept.has(one)) one.dispose();
    live.functions = functions;
  }

  /** Copies of all groups. */
  async read(): Promise<Record<Group, NamedArrays>> {
    const reads = Object.entries<Variables>(this.groups).map(async ([name, group]) => [name, await group.read()]);
    return Object.fromEntries(await Promise.all(reads));
  }

  /**
   * After an update: in some of them, sets denormal numbers in the slots to 0, which slow down every operation that
   * meets them.
   *
   * @param updates  done so far
   * @param every    updates between two flushes
   */
  tidy(updates: number, every = FLUSH_EVERY): void {
    if (updates % every === 0) for (const name of this.spec.slots) this.groups[name].flushDenormals();
  }

  /**
   * Takes over saved groups. Nothing has changed where it throws.
   *
   * @param where  what restores it, for messages: `PPO (agent_0): restore`
   * @param path   where `saved` stands in the whole state: `saved`
   * @throws CoplayError that names the first array that is missing, of another shape, or not finite
   */
  takeOver(where: string, path: string, saved: SavedState): Takeover {
    const expected = this.spec.init(createGenerator(0));
    for (const [name, arrays] of Object.entries<NamedArrays>(expected)) {
      checkSavedArrays(where, `${path}.${name}`, arrays, saved[name] as unknown as NamedArrays | undefined);
    }
    const before = { live: this.live, isDisposed: this.isDisposed };
    const names = Object.keys(expected) as Group[];
    const live = this.start(Object.fromEntries(names.map((name) => [name, saved[name]])) as never);
    this.live = live;
    this.isDisposed = false;
    return {
      keep: () => before.live && free(before.live),
      undo: () => {
        free(live);
        Object.assign(this, before);
      },
    };
  }

  dispose(): void {
    if (this.live) free(this.live);
    this.live = undefined;
    this.isDisposed = true;
  }

  private ready(): Live<Group, Fns> {
    const remedy = 'Call initialise(generator) or restore(saved) first; selfPlay does.';
    return this.live ?? fail(this.spec.name, 'parameters', 'none yet', remedy);
  }

  private start(arrays: Readonly<Record<Group, NamedArrays>>): Live<Group, Fns> {
    const entries = Object.entries<NamedArrays>(arrays).map(([name, values]) => [name, variables(values)]);
    const groups = Object.fromEntries(entries) as Record<Group, Variables>;
    return { groups, functions: this.spec.functions(groups) };
  }
}

function partsOf<Fns extends Functions<Fns>>(functions: Fns): readonly Disposable[] {
  return Object.values<Disposable | readonly Disposable[]>(functions).flat();
}

function free<Fns extends Functions<Fns>>({ groups, functions }: Live<string, Fns>): void {
  for (const part of [...partsOf(functions), ...partsOf(groups)]) part.dispose();
}
