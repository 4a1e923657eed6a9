import { fail, type NamedArrays, type NDArray, show } from '@coplay/core';
import { dtypeOf, isArrayOf, isTypedArray, sizeOf } from '@coplay/core/arrays';
import { sharedAmongCopies } from '@coplay/core/checks';
import * as tf from '@tensorflow/tfjs-core';
import { checkDtype, isArray, type TensorRecord, toArray, toTensor } from './convert';
import { type GroupSpec, HostArrays, noteWrite } from './host-arrays';
import { leavesOf } from './tree';

/**
 * Named arrays (parameters, optimiser slots) shared by all compiled functions that are given them: when one of them
 * writes, the others see it at once. Names, shapes and dtypes are fixed.
 */
export interface Variables {
  readonly names: readonly string[];
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  /** Copies of the present values; nothing is run for it. */
  read(): Promise<NamedArrays>;
  /**
   * Replaces all values, by copying.
   * @throws CoplayError if a name is missing or unknown, or a shape differs; nothing is changed then
   */
  write(arrays: NamedArrays): void;
  /**
   * Sets float32 numbers below 1.2e-38 to 0. Such denormal numbers (the means of an optimiser whose gradient has
   * vanished decay into them) slow down every operation that meets them, several times over.
   */
  flushDenormals(): void;
  /** The present tensors, for eager use. They're valid until the next write or compiled call; don't dispose them. */
  tensors(): TensorRecord;
  /** Frees the memory. The variables can't be used afterwards. */
  dispose(): void;
}

/**
 * Makes {@link Variables} of arrays. float32 and int32 keep their dtype, other dtypes become float32.
 *
 * @throws CoplayError if they aren't a record of arrays
 */
export function variables(arrays: NamedArrays): Variables {
  checkArrays('variables', arrays);
  return new VariableStore(arrays);
}

/**
 * The implementation. Values live in host arrays (for graphs) or in tensors (for eager use): on the side that was
 * written last; the other side is made on demand. A graph reads one set of host arrays and writes into the other, so
 * that a step that is refused changes nothing.
 */
export class VariableStore implements Variables, GroupSpec {
  readonly names: readonly string[];
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  readonly dtypes: Readonly<Record<string, 'float32' | 'int32'>>;
  private present: HostArrays | undefined;
  private other: HostArrays | undefined;
  /** Whether `present` holds the newest values; otherwise the tensors do. */
  private isHostNewest = true;
  private current: TensorRecord | undefined;

  constructor(arrays: NamedArrays) {
    this.names = Object.keys(arrays);
    for (const name of this.names) checkDtype('variables', name, arrays[name]);
    this.shapes = Object.fromEntries(this.names.map((name) => [name, [...arrays[name].shape]]));
    this.dtypes = Object.fromEntries(
      this.names.map((name) => [name, isArrayOf('int32', arrays[name].data) ? 'int32' : 'float32']),
    );
    this.present = HostArrays.allocate(this);
    this.present.write(arrays);
  }

  async read(): Promise<NamedArrays> {
    return this.host().read(this);
  }

  write(arrays: NamedArrays): void {
    this.check();
    checkArrays('variables.write', arrays);
    checkRecord('variables.write', this, arrays);
    for (const name of this.names) checkWhole('variables.write', name, this.dtypes[name], arrays[name]);
    this.present!.write(arrays);
    this.tookHost();
  }

  flushDenormals(): void {
    const flushed = Object.values(this.host().views).filter((view) => view instanceof Float32Array && flush(view));
    flushed.forEach(noteWrite);
    if (flushed.length > 0) this.tookHost();
  }

  tensors(): TensorRecord {
    const host = this.check();
    if (this.current) return this.current;
    const copies = host.read(this);
    this.current = Object.fromEntries(
      this.names.map((name) => [name, tf.keep(toTensor('variables', name, copies[name]))]),
    );
    return this.current;
  }

  /** The present values for a graph to read. */
  host(): HostArrays {
    const host = this.check();
    if (!this.isHostNewest) {
      const tensors = this.current!;
      host.write(Object.fromEntries(this.names.map((name) => [name, toArray(tensors[name])])));
      this.isHostNewest = true;
    }
    return host;
  }

  /** Where a graph writes the next values; {@link swap} makes them the present ones. */
  spare(): HostArrays {
    this.check();
    this.other ??= HostArrays.allocate(this);
    return this.other;
  }

  /** The values in {@link spare} become the present ones. */
  swap(): void {
    const next = this.spare();
    this.other = this.present;
    this.present = next;
    this.tookHost();
  }

  /** The present values with all float32 variables in one vector: moved, if they lie apart. */
  flatHost(): HostArrays {
    if (!this.host().flat) this.adopt(HostArrays.allocate(this), HostArrays.allocate(this));
    return this.host();
  }

  /** Moves the values into `present`; from now on they live there, and the next ones are written into `spare`. */
  adopt(present: HostArrays, spare: HostArrays): void {
    present.write(this.host().arrays(this));
    this.present = present;
    this.other = spare;
  }

  /** Takes over tensors, which outlive any tidy, and disposes the old ones. For eager use. */
  replace(next: TensorRecord): void {
    const previous = this.tensors();
    const replaced: TensorRecord = {};
    for (const name of this.names) {
      replaced[name] = next[name];
      if (next[name] !== previous[name]) previous[name].dispose();
    }
    this.current = replaced;
    this.isHostNewest = false;
  }

  dispose(): void {
    if (this.current) tf.dispose(this.current);
    this.current = undefined;
    this.present = undefined;
    this.other = undefined;
  }

  private check(): HostArrays {
    return this.present ?? fail('variables', 'variables in use', 'disposed ones', 'Make new ones with variables().');
  }

  private tookHost(): void {
    if (this.current) tf.dispose(this.current);
    this.current = undefined;
    this.isHostNewest = true;
  }
}

sharedAmongCopies(VariableStore, '@coplay/tensor/VariableStore@0.1');

/**
 * Variables as this copy of the package can use them.
 *
 * @throws CoplayError for anything that `variables` didn't make, or that another version's `variables` made
 */
export function storeOf(where: string, name: string, group: unknown): VariableStore {
  if (group instanceof VariableStore) return group;
  const isOther = (group as object | null)?.constructor?.name === VariableStore.name;
  const remedy = isOther
    ? 'Install one version of @coplay/tensor: `npm ls @coplay/tensor` lists the installed ones.'
    : 'Wrap the arrays: variables(arrays).';
  return fail(where, `${name} made by variables()`, show(group), remedy);
}

/**
 * Refuses a value that isn't a record of arrays with names that graphs can have, and with as many numbers as their
 * shapes need.
 */
function checkArrays(where: string, arrays: NamedArrays): void {
  const words = { root: 'arrays', kind: 'an array { data, shape }', remedy: 'Wrap it: ndarray(data, shape).' };
  for (const [path, array] of leavesOf(where, arrays, isArray, words)) {
    if (path === '' || arrays[path] !== array)
      fail(where, 'arrays by name, in no records', `"${path}"`, 'Name each one.');
    if (!isTypedArray(array.data)) fail(where, `${path} to be float32 or int32`, show(array.data), 'Convert it first.');
    if (sizeOf(array.shape) === array.data.length) continue;
    const got = `${array.data.length} numbers for shape [${array.shape}]`;
    fail(where, `${path} to have as many numbers as its shape says`, got, 'Use ndarray(data, shape).');
  }
}

/** int32 variables take no fractions. */
function checkWhole(where: string, name: string, dtype: string, { data }: NDArray): void {
  if (dtype !== 'int32' || !dtypeOf(data).startsWith('float')) return;
  fail(where, `${name} of whole numbers, as it was made`, dtypeOf(data), 'Give an Int32Array.');
}

/** Refuses a record whose names or shapes differ from the variables'. */
export function checkRecord(
  where: string,
  { names, shapes }: Pick<Variables, 'names' | 'shapes'>,
  record: Readonly<Record<string, { readonly shape: readonly number[] }>>,
): void {
  for (const name of names) {
    const given = record[name];
    const others = Object.keys(record).join(', ') || 'nothing';
    if (!given) fail(where, `an array named ${name}`, `only ${others}`, 'Give every variable.');
    if (!tf.util.arraysEqual(given.shape as number[], shapes[name] as number[])) {
      fail(where, `${name} of shape [${shapes[name]}]`, `[${given.shape}]`, 'Shapes of variables are fixed.');
    }
  }
  const unknown = Object.keys(record).find((name) => !Object.hasOwn(shapes, name));
  if (unknown !== undefined) fail(where, `only ${names.join(', ')}`, `also ${unknown}`, 'Leave it out.');
}

/** A float32 is denormal where its exponent is 0 and its fraction isn't. Says whether there was one. */
function flush(values: Float32Array): boolean {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  let isFound = false;
  for (let i = 0; i < bits.length; i++) {
    if ((bits[i] & 0x7f800000) !== 0 || (bits[i] & 0x007fffff) === 0) continue;
    bits[i] &= 0x80000000;
    isFound = true;
  }
  return isFound;
}
