import type { Generator, NamedArrays, SavedState } from '@coplay/core';
import type { Variables } from '@coplay/tensor';
import { type Functions, Network } from './network';
import type { Takeover } from './restore';

/** A value for a network's parameters, and one for its optimiser's slots. */
export type PerGroup<Value> = Readonly<Record<'params' | 'slots', Value>>;

/** The parts of several networks of one form. */
export interface NetworksSpec<Fns extends Functions<Fns>> {
  /** For messages: `moa (agent_0)`. */
  readonly name: string;
  /** A name for each network: its key in the saved state. */
  readonly names: readonly string[];
  /** First parameters and slots of one network: called once for each, in the order of the names. */
  init(generator: Generator): PerGroup<NamedArrays>;
  /** Compiles the functions over the variables of all networks. */
  functions(members: readonly PerGroup<Variables>[]): Fns;
}

/**
 * Several networks of one form that one learner holds: one for each co-player, or the members of an ensemble. They are
 * made, saved, restored and disposed of together, as one {@link Network} whose groups are `NAME.params` and
 * `NAME.slots`.
 */
export class Networks<Fns extends Functions<Fns>> extends Network<string, Fns> {
  private readonly names: readonly string[];

  constructor({ name, names, init, functions }: NetworksSpec<Fns>) {
    super({
      name,
      init: (generator) =>
        byGroup(
          names,
          names.map(() => init(generator)),
        ),
      slots: names.map((one) => `${one}.slots`),
      functions: (groups) => functions(byMember(names, groups)),
    });
    this.names = names;
  }

  /** The present variables of each network. */
  get members(): PerGroup<Variables>[] {
    return byMember(this.names, this.groups);
  }

  /** Copies of each network's arrays, by its name. */
  async readMembers(): Promise<Record<string, PerGroup<NamedArrays>>> {
    const members = byMember(this.names, await this.read());
    return Object.fromEntries(this.names.map((name, i) => [name, members[i]]));
  }

  /** @param saved  as `readMembers` gave it */
  override takeOver(where: string, path: string, saved: SavedState): Takeover {
    const members = this.names.map((name) => (saved[name] ?? {}) as PerGroup<SavedState>);
    return super.takeOver(where, path, byGroup(this.names, members));
  }
}

function byGroup<Value>(names: readonly string[], members: readonly PerGroup<Value>[]): Record<string, Value> {
  return Object.fromEntries(
    names.flatMap((name, i) => [
      [`${name}.params`, members[i].params],
      [`${name}.slots`, members[i].slots],
    ]),
  );
}

function byMember<Value>(names: readonly string[], groups: Readonly<Record<string, Value>>): PerGroup<Value>[] {
  return names.map((name) => ({ params: groups[`${name}.params`], slots: groups[`${name}.slots`] }));
}
