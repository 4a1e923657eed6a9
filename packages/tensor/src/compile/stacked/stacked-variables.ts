import { fail } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { checkArgument, sharedAmongCopies } from '@coplay/core/checks';
import { z } from 'zod';
import { describeGroup, floatCount, floatNames, HostArrays, type VariableData } from '../host-arrays';
import { FLAT } from '../onnx/feeds';
import { storeOf, type VariableStore, type Variables } from '../variables';

/**
 * How the values of several members lie in memory. `flat`: all variables of the first member, then all of the second,
 * ...; a graph sees one array [A, N]. `apart`: the first variable of all members, then the second, ...; a graph sees an
 * array [A, ...] for each variable.
 */
export type StackLayout = 'flat' | 'apart';

/** The same group of variables of several members, for functions that work on all members at once. */
export interface StackedVariables {
  readonly members: readonly Variables[];
  readonly layout: StackLayout;
}

/**
 * Puts the variables of A members side by side, so that one graph can read and write them all. Each member's variables
 * stay usable by themselves, and see every change.
 *
 * @param members  groups of the same names, shapes and dtypes; at least one
 * @param layout   `flat` for parameters that an optimiser treats as one vector; `apart` for its slots. Default `flat`
 */
export function stackVariables(members: readonly Variables[], layout: StackLayout = 'flat'): StackedVariables {
  checkArgument('stackVariables', 'members', z.array(z.unknown()), members);
  checkArgument('stackVariables', 'layout', layoutSchema, layout);
  if (members.length === 0) fail('stackVariables', 'variables of at least one member', 'none', 'Give some.');
  const stores = members.map((member, i) => storeOf('stackVariables', `members[${i}]`, member));
  if (new Set(stores).size < stores.length) {
    fail('stackVariables', 'variables of its own for each member', 'the same ones twice', 'Make some for each.');
  }
  const kind = describeGroup(stores[0]);
  const odd = stores.findIndex((store) => describeGroup(store) !== kind);
  if (odd > 0) {
    fail(
      'stackVariables',
      `variables like the first member's: ${kind}`,
      describeGroup(stores[odd]),
      'Stack like with like.',
    );
  }
  return new StackedStore(stores, layout);
}

const layoutSchema = z.enum(['flat', 'apart']);

/** One of the two places where the members' values can be. */
interface Side {
  /** By variable, or FLAT for all float32 ones: [A, ...] */
  readonly arrays: Readonly<Record<string, VariableData>>;
  readonly hosts: readonly HostArrays[];
}

/** The implementation. */
export class StackedStore implements StackedVariables {
  private sides: [Side, Side] | undefined;
  /** Which side the members' present values are on. */
  private now: 0 | 1 = 0;

  constructor(
    readonly members: readonly VariableStore[],
    readonly layout: StackLayout,
  ) {}

  /** The present values of all members; a member whose values are elsewhere is brought in. */
  present(): Side {
    this.sides ??= [this.makeSide(), this.makeSide()];
    const [here, there] = [this.sides[this.now], this.sides[1 - this.now]];
    this.members.forEach((member, i) => {
      if (member.host() !== here.hosts[i]) member.adopt(here.hosts[i], there.hosts[i]);
    });
    return here;
  }

  /** Where the next values are written to. */
  spare(): Side {
    this.present();
    return this.sides![1 - this.now];
  }

  /** Makes the written values the present ones of the members that accept them. */
  swap(isAccepted: (member: number) => boolean): void {
    this.members.forEach((member, i) => {
      if (isAccepted(i)) member.swap();
    });
    this.now = this.now === 0 ? 1 : 0;
  }

  private makeSide(): Side {
    const [first] = this.members;
    const count = this.members.length;
    const arrays: Record<string, VariableData> = {};
    const floats = this.layout === 'flat' ? new Set(floatNames(first)) : new Set<string>();
    const flatSize = floatCount(first);
    if (this.layout === 'flat') arrays[FLAT] = new Float32Array(count * flatSize);
    for (const name of first.names) {
      const Kind = first.dtypes[name] === 'int32' ? Int32Array : Float32Array;
      if (!floats.has(name)) arrays[name] = new Kind(count * sizeOf(first.shapes[name]));
    }
    const part = (name: string, size: number, i: number) => arrays[name].subarray(i * size, (i + 1) * size);
    const hosts = this.members.map((member, i) => {
      const apart = first.names.filter((name) => !floats.has(name));
      const views = Object.fromEntries(apart.map((name) => [name, part(name, sizeOf(first.shapes[name]), i)]));
      if (this.layout === 'apart') return new HostArrays(views);
      const flat = part(FLAT, flatSize, i) as Float32Array<ArrayBuffer>;
      return new HostArrays({ ...HostArrays.allocate(member, flat).views, ...views }, flat);
    });
    return { arrays, hosts };
  }
}

sharedAmongCopies(StackedStore, '@coplay/tensor/StackedStore@0.1');
