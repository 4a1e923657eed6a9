import { sizeOf } from './arrays';
import { fail, show } from './errors';
import type { DType, TypedArray } from './typed-arrays';

/**
 * The meaning of an observation field's numbers. Networks, likelihoods and exports go by it.
 *
 * - `planes`: zeros and ones, such as the planes [H, W, C] of a grid or a list of flags
 * - `one-hot`: codes of zeros and ones with at most one 1 each; all zeros say that there is none
 * - `indices`: whole numbers from 0 to `classes - 1`
 * - `image`: a picture [H, W, C] whose values go from 0 to `high`
 * - `vector`: any finite numbers
 */
export type ObservationKind = 'planes' | 'one-hot' | 'indices' | 'image' | 'vector';

/** One named part of an agent's observation. */
export interface ObservationField {
  /** Without any batch dimension; [] is one number. */
  readonly shape: readonly number[];
  readonly dtype: DType;
  /**
   * The meaning of the numbers. Values that don't fit are refused. Without it, whole numbers of shape [H, W, C] are
   * taken for `planes` and all else for a `vector`; a reader that relies on that (Dreamer, OMG) refuses other values.
   */
  readonly kind?: ObservationKind;
  /**
   * Of `indices`: how many values there are, at least 2. Of `one-hot`: the size of one code, where the last dimension
   * holds several of them one after another; by default it is one code.
   */
  readonly classes?: number;
  /** Of an `image`: the largest value, above 0. Default 255 for whole numbers, 1 for floats */
  readonly high?: number;
  /** Names of the last dimension's entries, for plots and tables: `['self', 'others', 'stags']`. */
  readonly channels?: readonly string[];
}

/** An agent's observation: the shape and dtype of each field, by name. */
export type ObservationSpec = Readonly<Record<string, ObservationField>>;

/** Observations of many rows: for each field of the spec one array `[rows, ...shape]`. */
export type ObservationArrays = Record<string, TypedArray>;

/** The kinds of observation fields. */
export const OBSERVATION_KINDS: readonly ObservationKind[] = ['planes', 'one-hot', 'indices', 'image', 'vector'];

/**
 * The kind of a field: the declared one, else `planes` for whole numbers of shape [H, W, C] and `vector` for all else.
 * That default is an assumption about whole numbers only: `vector` is true of every field.
 */
export function kindOf({ kind, shape, dtype }: ObservationField): ObservationKind {
  return kind ?? (shape.length === 3 && !isFloat(dtype) ? 'planes' : 'vector');
}

/** The largest value of an `image`. */
export function highOf({ high, dtype }: Pick<ObservationField, 'high' | 'dtype'>): number {
  return high ?? (isFloat(dtype) ? 1 : 255);
}

function isFloat(dtype: DType): boolean {
  return dtype === 'float32' || dtype === 'float64';
}

/** The fault in the kind of a field. */
export interface KindFault {
  readonly expected: string;
  /** The value itself */
  readonly got: unknown;
}

/** The fault in the `kind`, `classes` and `high` of a field; undefined where they are valid. */
export function kindFault({ kind, classes, high, shape }: ObservationField): KindFault | undefined {
  if (kind !== undefined && !OBSERVATION_KINDS.includes(kind)) {
    return { expected: `a kind of ${OBSERVATION_KINDS.join(', ')}`, got: kind };
  }
  if (kind === 'image' && shape.length !== 3) {
    return { expected: 'the shape [H, W, C] of an image', got: shape };
  }
  if (kind === 'indices' && classes === undefined) return { expected: 'classes for the kind indices', got: undefined };
  if (classes !== undefined) return classesFault(kind, classes, shape.at(-1) ?? 1);
  if (high === undefined) return undefined;
  if (kind !== 'image') return { expected: 'no high, which is for the kind image', got: high };
  return Number.isFinite(high) && high > 0 ? undefined : { expected: 'a high above 0', got: high };
}

function classesFault(kind: ObservationKind | undefined, classes: number, last: number): KindFault | undefined {
  if (kind !== 'indices' && kind !== 'one-hot') {
    return { expected: 'no classes, which are for the kinds indices and one-hot', got: classes };
  }
  if (!Number.isInteger(classes) || classes < (kind === 'indices' ? 2 : 1)) {
    return { expected: `a whole number of classes, at least ${kind === 'indices' ? 2 : 1}`, got: classes };
  }
  if (kind === 'indices' || last % classes === 0) return undefined;
  return { expected: `classes that divide the last dimension, ${last}`, got: classes };
}

/** What {@link checkObservations} is asked to look at. */
export interface ObservationCheck {
  readonly spec: ObservationSpec;
  /** Names of the fields that are looked at. Default: all of the spec */
  readonly fields?: readonly string[];
  readonly observations: ObservationArrays;
  /** Number of rows that are looked at: row i is row `offset + i * stride` of the arrays */
  readonly rows: number;
  /** Default 0 */
  readonly offset?: number;
  /** Default 1 */
  readonly stride?: number;
  /** For each row of the arrays: only rows with a 1 are looked at. Default: all */
  readonly active?: Uint8Array;
  /**
   * Whether fields that declare no kind have to fit the assumed kind; see {@link kindOf}. Otherwise they only have to
   * be finite. Default false
   */
  readonly assumed?: boolean;
}

/**
 * Refuses values that don't fit the kinds of their fields, and numbers that aren't finite.
 *
 * @param where   who reads them, for the message
 * @param nameOf  names a row: `agent_0 in environment 3, step 5`
 * @throws CoplayError that names the field, its kind, the value and the row
 */
export function checkObservations(where: string, check: ObservationCheck, nameOf: (row: number) => string): void {
  const { spec, observations, rows, offset = 0, stride = 1, active, assumed = false } = check;
  for (const name of check.fields ?? Object.keys(spec)) {
    const field = spec[name];
    const data = observations[name];
    const misfit = misfitOf(assumed || field.kind !== undefined ? field : { ...field, kind: 'vector' });
    if (!misfit) continue;
    const size = sizeOf(field.shape);
    for (let row = 0; row < rows; row++) {
      if (active?.[offset + row * stride] === 0) continue;
      const start = (offset + row * stride) * size;
      const index = misfit(data, start, start + size);
      if (index >= 0) refuse(where, name, field, data[index], `${nameOf(row)}, index ${index - start}`);
    }
  }
}

/** Finds the first value of a row that doesn't fit; -1 for none. */
type Misfit = (data: TypedArray, start: number, end: number) => number;

/** Undefined where every value of the dtype fits. */
function misfitOf(field: ObservationField): Misfit | undefined {
  const kind = kindOf(field);
  if (kind === 'vector') return isFloat(field.dtype) ? firstNonFinite : undefined;
  if (kind === 'planes') return firstNeitherZeroNorOne;
  if (kind === 'one-hot') return badCode(field.classes ?? field.shape.at(-1) ?? 1);
  if (kind === 'indices') return beyondClasses(field.classes as number);
  const high = highOf(field);
  if (field.dtype === 'uint8' && high >= 255) return undefined;
  return (data, start, end) => firstOutside(data, start, end, high);
}

function firstNonFinite(data: TypedArray, start: number, end: number): number {
  // Networks read float32, where large numbers of float64 are infinite. Only finite numbers have the difference 0 with
  // themselves.
  for (let i = start; i < end; i++) if (Math.fround(data[i]) - Math.fround(data[i]) !== 0) return i;
  return -1;
}

function firstNeitherZeroNorOne(data: TypedArray, start: number, end: number): number {
  for (let i = start; i < end; i++) if (data[i] !== 0 && data[i] !== 1) return i;
  return -1;
}

function firstOutside(data: TypedArray, start: number, end: number, high: number): number {
  for (let i = start; i < end; i++) if (!(data[i] >= 0 && data[i] <= high)) return i;
  return -1;
}

function beyondClasses(classes: number): Misfit {
  return (data, start, end) => {
    for (let i = start; i < end; i++) {
      if (!(data[i] >= 0 && data[i] < classes && Number.isInteger(data[i]))) return i;
    }
    return -1;
  };
}

/** Codes of `classes` numbers, one after another, with at most one 1 each. */
function badCode(classes: number): Misfit {
  return (data, start, end) => {
    let ones = 0;
    for (let i = start; i < end; i++) {
      if ((i - start) % classes === 0) ones = 0;
      if (data[i] === 1) ones++;
      if ((data[i] !== 0 && data[i] !== 1) || ones > 1) return i;
    }
    return -1;
  };
}

function refuse(where: string, name: string, field: ObservationField, value: number, place: string): never {
  if (!Number.isFinite(Math.fround(value))) {
    const limit = Number.isFinite(value) ? ', also as float32, which networks read' : '';
    const expected = `finite numbers in the observation field ${show(name)}${limit}`;
    fail(where, expected, `${value} for ${place}`, 'Look for it in observe() of the game.');
  }
  const kind = kindOf(field);
  const assumed = field.kind === undefined ? ', which is assumed where none is declared' : '';
  const expected = `${RANGES[kind](field)} in the observation field ${show(name)} of kind ${kind}${assumed}`;
  const remedy = `Declare kind ${others(field, kind)} in the game's observation, or mend observe().`;
  fail(where, expected, `${value} for ${place}`, remedy);
}

const RANGES: Readonly<Record<ObservationKind, (field: ObservationField) => string>> = {
  planes: () => 'zeros and ones',
  'one-hot': ({ classes, shape }) =>
    `at most one 1 in each code of ${classes ?? shape.at(-1) ?? 1} numbers, else zeros`,
  indices: ({ classes = 0 }) => `whole numbers from 0 to ${classes - 1}`,
  image: (field) => `values from 0 to ${highOf(field)}`,
  vector: () => 'finite numbers',
};

/** The kinds that would take other values. */
function others({ shape }: ObservationField, kind: ObservationKind): string {
  if (kind === 'image') return "'image' with a larger high, or 'vector'";
  return shape.length === 3 ? "'image' for a picture or 'vector' for other numbers" : "'vector'";
}
