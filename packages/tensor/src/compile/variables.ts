import { fail, type NamedArrays } from '@coplay/core';
import * as tf from '@tensorflow/tfjs-core';
import { type TensorRecord, toArray, toTensor } from './convert';

/**
 * Named arrays that live on the backend (parameters, optimiser slots), shared by all compiled functions that are given
 * them: when one of them writes, the others see it. Names, shapes and dtypes are fixed.
 */
export interface Variables {
  readonly names: readonly string[];
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  /** Copies of the present values. */
  read(): Promise<NamedArrays>;
  /**
   * Replaces all values, by copying.
   * @throws CoplayError if a name is missing or unknown, or a shape differs; nothing is changed then
   */
  write(arrays: NamedArrays): void;
  /** The present tensors, for eager use. They're valid until the next write or compiled call; don't dispose them. */
  tensors(): TensorRecord;
  /** Frees the memory. The variables can't be used afterwards. */
  dispose(): void;
}

/** Puts arrays onto the backend as {@link Variables}. float32 and int32 stay what they are, other dtypes become float32. */
export function variables(arrays: NamedArrays): Variables {
  return new VariableStore(arrays);
}

/** The implementation; `replace` is for the executors alone. */
export class VariableStore implements Variables {
  readonly names: readonly string[];
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  private current: TensorRecord | undefined;

  constructor(arrays: NamedArrays) {
    this.names = Object.keys(arrays);
    this.shapes = Object.fromEntries(this.names.map((name) => [name, [...arrays[name].shape]]));
    this.current = upload('variables', arrays);
  }

  async read(): Promise<NamedArrays> {
    const tensors = this.tensors();
    return Object.fromEntries(this.names.map((name) => [name, toArray(tensors[name])]));
  }

  write(arrays: NamedArrays): void {
    this.tensors();
    checkRecord('variables.write', this, arrays);
    this.replace(upload('variables.write', arrays));
  }

  tensors(): TensorRecord {
    return this.current ?? fail('variables', 'variables in use', 'disposed ones', 'Make new ones with variables().');
  }

  /** Takes over `next`, which outlives any tidy, and disposes what it replaces. */
  replace(next: TensorRecord): void {
    const previous = this.tensors();
    const replaced: TensorRecord = {};
    for (const name of this.names) {
      replaced[name] = next[name];
      if (next[name] !== previous[name]) previous[name].dispose();
    }
    this.current = replaced;
  }

  dispose(): void {
    if (this.current) tf.dispose(this.current);
    this.current = undefined;
  }
}

/** Refuses a record whose names or shapes aren't those of the variables. */
export function checkRecord(
  where: string,
  { names, shapes }: Pick<Variables, 'names' | 'shapes'>,
  record: Readonly<Record<string, { readonly shape: readonly number[] }>>,
): void {
  for (const name of names) {
    const given = record[name];
    if (!given)
      fail(
        where,
        `an array named ${name}`,
        `only ${Object.keys(record).join(', ') || 'nothing'}`,
        'Give every variable.',
      );
    if (!tf.util.arraysEqual(given.shape as number[], shapes[name] as number[])) {
      fail(where, `${name} of shape [${shapes[name]}]`, `[${given.shape}]`, 'Shapes of variables are fixed.');
    }
  }
  const unknown = Object.keys(record).find((name) => !Object.hasOwn(shapes, name));
  if (unknown !== undefined) fail(where, `only ${names.join(', ')}`, `also ${unknown}`, 'Leave it out.');
}

function upload(where: string, arrays: NamedArrays): TensorRecord {
  return Object.fromEntries(
    Object.entries(arrays).map(([name, array]) => [name, tf.keep(toTensor(where, name, array))]),
  );
}
