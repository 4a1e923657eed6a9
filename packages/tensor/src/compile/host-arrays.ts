import type { NamedArrays, NDArray } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { oneForAllCopies } from '@coplay/core/checks';

/** float32 and int32 are what variables hold. */
export type VariableData = Float32Array | Int32Array;

/** Names, shapes and dtypes of a group of variables. */
export interface GroupSpec {
  readonly names: readonly string[];
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  readonly dtypes: Readonly<Record<string, 'float32' | 'int32'>>;
}

/** How often memory was written to, also by another copy of this package. */
const revisions = oneForAllCopies('@coplay/tensor/revisions@1', () => new WeakMap<ArrayBufferLike, number>());

/** Notes that an array of variables has other numbers now. */
export function noteWrite({ buffer }: ArrayBufferView): void {
  revisions.set(buffer, (revisions.get(buffer) ?? 0) + 1);
}

/** How often that was noted. */
export function revisionOf({ buffer }: ArrayBufferView): number {
  return revisions.get(buffer) ?? 0;
}

/** The values of a group in memory that graphs read and write. */
export class HostArrays {
  /**
   * @param views  each variable
   * @param flat   [N] all float32 variables one after another in the order of their names, of which the views are
   *               parts; absent where they lie apart
   */
  constructor(
    readonly views: Readonly<Record<string, VariableData>>,
    readonly flat?: Float32Array,
  ) {}

  /** Zeros; all float32 variables in one vector, which may be given. */
  static allocate(spec: GroupSpec, flat = new Float32Array(floatCount(spec))): HostArrays {
    const views: Record<string, VariableData> = {};
    let offset = 0;
    for (const name of spec.names) {
      const size = sizeOf(spec.shapes[name]);
      if (spec.dtypes[name] === 'int32') views[name] = new Int32Array(size);
      else {
        views[name] = flat.subarray(offset, offset + size);
        offset += size;
      }
    }
    return new HostArrays(views, flat);
  }

  /** Takes over values by copying. */
  write(arrays: NamedArrays): void {
    for (const name in this.views) {
      this.views[name].set(arrays[name].data as VariableData);
      noteWrite(this.views[name]);
    }
  }

  /** The values as arrays over the same memory. */
  arrays({ names, shapes }: GroupSpec): NamedArrays {
    return Object.fromEntries(names.map((name) => [name, { data: this.views[name], shape: shapes[name] as number[] }]));
  }

  /** Copies. */
  read({ names, shapes }: GroupSpec): NamedArrays {
    const copy = (name: string): NDArray => ({ data: this.views[name].slice(), shape: shapes[name] as number[] });
    return Object.fromEntries(names.map((name) => [name, copy(name)]));
  }
}

/** The float32 variables of a group, in order. */
export function floatNames({ names, dtypes }: GroupSpec): string[] {
  return names.filter((name) => dtypes[name] === 'float32');
}

/** N, the numbers in all float32 variables of a group. */
export function floatCount(spec: GroupSpec): number {
  return floatNames(spec).reduce((sum, name) => sum + sizeOf(spec.shapes[name]), 0);
}

/** A group for messages, and to compare: `w float32 [2,3], b float32 [3]`. */
export function describeGroup({ names, shapes, dtypes }: GroupSpec): string {
  return names.map((name) => `${name} ${dtypes[name]} [${shapes[name]}]`).join(', ');
}
