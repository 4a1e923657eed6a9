import { type NamedArrays, type NDArray, sizeOf } from '@coplay/core';

/** float32 and int32 are what variables hold. */
export type VariableData = Float32Array | Int32Array;

/** Names, shapes and dtypes of a group of variables. */
export interface GroupSpec {
  readonly names: readonly string[];
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  readonly dtypes: Readonly<Record<string, 'float32' | 'int32'>>;
}

/** The values of a group in memory that graphs read and write: all float32 ones lie in one vector, in the order of their names. */
export class HostArrays {
  /** [N] all float32 variables one after another */
  readonly flat: Float32Array;
  /** Each variable; the float32 ones are views of `flat`. */
  readonly views: Readonly<Record<string, VariableData>>;

  constructor(spec: GroupSpec) {
    const floats = floatNames(spec);
    this.flat = new Float32Array(floats.reduce((sum, name) => sum + sizeOf(spec.shapes[name]), 0));
    const views: Record<string, VariableData> = {};
    let offset = 0;
    for (const name of spec.names) {
      const size = sizeOf(spec.shapes[name]);
      if (spec.dtypes[name] === 'int32') views[name] = new Int32Array(size);
      else {
        views[name] = this.flat.subarray(offset, offset + size);
        offset += size;
      }
    }
    this.views = views;
  }

  /** Takes over values by copying. */
  write(arrays: NamedArrays): void {
    for (const name in this.views) this.views[name].set(arrays[name].data as VariableData);
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
