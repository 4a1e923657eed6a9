import { z } from 'zod';
import { sizeOf } from './arrays';
import { checkNumbers } from './check-values';
import { checkOptions, fail, show } from './errors';
import type { Generator } from './generator';

/** Real numbers, bounded or not; `box()` makes one. */
export interface BoxSpace {
  readonly kind: 'box';
  /** Of one action; [] for a single number */
  readonly shape: readonly number[];
  /** The least value of each number, in row-major order; -Infinity where there is none */
  readonly low: readonly number[];
  /** The greatest value of each number; Infinity where there is none */
  readonly high: readonly number[];
}

/** Several discrete choices at once; `multiDiscrete()` makes one. */
export interface MultiDiscreteSpace {
  readonly kind: 'multi-discrete';
  /** The number of options of each choice */
  readonly counts: readonly number[];
}

/** The actions of one agent: a number K of discrete actions 0..K-1, a box, or several choices. */
export type ActionSpace = number | BoxSpace | MultiDiscreteSpace;

/** The actions of a game: one space for all agents, or one for each id. */
export type ActionSpaces = ActionSpace | Readonly<Record<string, ActionSpace>>;

/** The typed arrays that hold actions. */
export type ActionArray = Int32Array | Float32Array;

/** The array of a game's actions: Int32Array, and Float32Array where an agent has a box. */
export type ActionsOf<Spaces extends ActionSpaces> = Spaces extends number | MultiDiscreteSpace
  ? Int32Array
  : Spaces extends BoxSpace
    ? Float32Array
    : ActionArray;

/** Options of {@link box}. */
export interface BoxOptions {
  /** Of one action, such as [2]; [] for a single number. All of its dimensions are at least 1. */
  readonly shape: readonly number[];
  /** The least value, for all numbers or for each in row-major order. Default -Infinity: no bound */
  readonly low?: number | readonly number[];
  /** The greatest value, as `low`; above it. Default Infinity */
  readonly high?: number | readonly number[];
}

const bound = z.custom<number | readonly number[]>((value) => typeof value === 'number' || Array.isArray(value), {
  error: 'a number, or one for each value',
});
const boxSchema = z.strictObject({
  shape: z.array(z.int().min(1)),
  low: bound.default(-Infinity),
  high: bound.default(Infinity),
});

/** The most values, or options in all, of an action: arrays of a batch of actions must fit into memory. */
const MOST_VALUES = 2 ** 20;

/**
 * A space of real numbers. Bounds are rounded to float32, as actions are.
 *
 * @throws CoplayError for unknown options, a bad shape, or a lower bound that isn't below the upper one
 */
export function box(options: BoxOptions): BoxSpace {
  const { shape, low, high } = checkOptions('box', boxSchema, options);
  const size = sizeOf(shape);
  if (size > MOST_VALUES) fail('box: option shape', `at most ${MOST_VALUES} values`, show(shape), 'Make it smaller.');
  const lows = boundsOf('low', low, size);
  const highs = boundsOf('high', high, size);
  const wrong = lows.findIndex((value, i) => !(value < highs[i]));
  if (wrong >= 0) {
    const got = `${lows[wrong]} and ${highs[wrong]} for value ${wrong}`;
    fail('box', 'options low and high with low < high', got, 'Exchange or change them.');
  }
  return { kind: 'box', shape: [...shape], low: lows, high: highs };
}

function boundsOf(name: string, given: number | readonly number[], size: number): number[] {
  const values = typeof given === 'number' ? new Array<number>(size).fill(given) : given;
  checkNumbers('box', `option ${name}`, values, { length: size, infinite: true });
  return Array.from(values, Math.fround);
}

const countsSchema = z.array(z.int().min(1)).min(1);

/**
 * A space of several choices at once: an action is a list of whole numbers, number i in 0..counts[i]-1.
 *
 * @param counts  options of each choice, at least 1
 * @throws CoplayError for anything but a list of whole numbers
 */
export function multiDiscrete(counts: readonly number[]): MultiDiscreteSpace {
  const fault = countsSchema.safeParse(counts).success ? undefined : show(counts);
  if (fault)
    fail('multiDiscrete: counts', 'a list of whole numbers of at least 1', fault, 'Give the options of each choice.');
  if (counts.reduce((sum, count) => sum + count, 0) > MOST_VALUES) {
    fail('multiDiscrete: counts', `at most ${MOST_VALUES} options in all`, show(counts), 'Give fewer.');
  }
  return { kind: 'multi-discrete', counts: [...counts] };
}

/** The number of options of each discrete choice of a space: [K] for discrete actions, none for a box. */
export function choicesOf(space: ActionSpace): readonly number[] {
  if (typeof space === 'number') return [space];
  return space.kind === 'box' ? [] : space.counts;
}

/** How many values an action of a space has: 1 for discrete actions. */
export function widthOf(space: ActionSpace): number {
  return isBox(space) ? sizeOf(space.shape) : choicesOf(space).length;
}

/** How many bytes a mask of a space has: one for each option of each choice; none for a box. */
export function maskSizeOf(space: ActionSpace): number {
  return choicesOf(space).reduce((sum, count) => sum + count, 0);
}

/** Whether a space is a box. */
export function isBox(space: ActionSpace): space is BoxSpace {
  return typeof space !== 'number' && space.kind === 'box';
}

/** How many numbers describe an action to a network: the one-hots of its choices, or the values of a box. */
export function codeSizeOf(space: ActionSpace): number {
  return isBox(space) ? widthOf(space) : maskSizeOf(space);
}

/**
 * Writes an action as networks read it: each choice as a one-hot, the values of a box as they are. Allocates nothing.
 *
 * @param actions  the action's values from `from` on; what isn't an option, and NaN, say that there was none
 * @param out      zeros from `at` on; stays so where there was no action
 */
export function writeActionCode(
  space: ActionSpace,
  actions: ArrayLike<number>,
  from: number,
  out: { [index: number]: number },
  at: number,
): void {
  if (typeof space === 'number') {
    writeOption(actions[from], space, out, at);
  } else if (space.kind === 'box') {
    for (let i = 0; i < space.low.length; i++) {
      const value = actions[from + i];
      out[at + i] = Number.isNaN(value) ? 0 : value;
    }
  } else {
    let start = at;
    for (let i = 0; i < space.counts.length; i++) {
      writeOption(actions[from + i], space.counts[i], out, start);
      start += space.counts[i];
    }
  }
}

function writeOption(option: number, count: number, out: { [index: number]: number }, at: number): void {
  if (option >= 0 && option < count) out[at + option] = 1;
}

/** Of a game: whose actions are how. */
export interface ActionSpec {
  readonly agents: readonly string[];
  readonly actions: ActionSpaces;
}

/** How arrays of a game's actions and masks are laid out: [rows, A, W] of the dtype, and [rows, A, K] bytes. */
export interface ActionLayout {
  /** By seat */
  readonly spaces: readonly ActionSpace[];
  /** W, the values of the widest action; 1 for a discrete game. Values that an agent's space lacks are 0 */
  readonly width: number;
  /** K, the bytes of the longest mask. Bytes that an agent's space lacks are 0 */
  readonly maskSize: number;
  /** float32 where an agent has a box */
  readonly dtype: 'int32' | 'float32';
}

/** The spaces of a game by seat, and the sizes that follow from them. */
export function actionLayout({ agents, actions }: ActionSpec): ActionLayout {
  const spaces = agents.map((id) => (isSpace(actions) ? actions : actions[id]));
  return {
    spaces,
    width: Math.max(...spaces.map(widthOf)),
    maskSize: Math.max(...spaces.map(maskSizeOf)),
    dtype: spaces.some(isBox) ? 'float32' : 'int32',
  };
}

/** Whether these are the actions of every agent, not a record by id. */
function isSpace(actions: ActionSpaces): actions is ActionSpace {
  return typeof actions === 'number' || typeof (actions as { readonly kind?: unknown }).kind === 'string';
}

/** Actions of `rows` rows of all agents [rows, A, W] that say "none": -1, NaN where an agent has a box. */
export function allocateActions({ spaces, width, dtype }: ActionLayout, rows: number): ActionArray {
  const size = rows * spaces.length * width;
  return dtype === 'int32' ? new Int32Array(size).fill(-1) : new Float32Array(size).fill(Number.NaN);
}

/**
 * Draws an action uniformly: among the legal options of each choice; in a box between the bounds of each value, from
 * the exponential distribution where one bound is missing, and from the standard normal one where both are.
 *
 * @param masks   1 where an option is legal, the bytes of the space from `maskAt` on; of a choice without a legal
 *                option all count
 * @param target  the action's values are written from `at` on
 */
export function drawAction(
  space: ActionSpace,
  masks: ArrayLike<number>,
  maskAt: number,
  generator: Generator,
  target: ActionArray | number[],
  at: number,
): void {
  if (isBox(space)) {
    space.low.forEach((low, i) => {
      target[at + i] = drawBetween(low, space.high[i], generator);
    });
    return;
  }
  let start = maskAt;
  choicesOf(space).forEach((count, i) => {
    target[at + i] = drawOption(masks, start, count, generator);
    start += count;
  });
}

function drawBetween(low: number, high: number, generator: Generator): number {
  if (low === -Infinity && high === Infinity) return Math.fround(generator.normal());
  const exponential = () => -Math.log(1 - generator.uniform());
  if (low === -Infinity) return Math.fround(high - exponential());
  if (high === Infinity) return Math.fround(low + exponential());
  return Math.min(high, Math.max(low, Math.fround(low + generator.uniform() * (high - low))));
}

function drawOption(masks: ArrayLike<number>, start: number, count: number, generator: Generator): number {
  let legal = 0;
  for (let k = 0; k < count; k++) if (masks[start + k] === 1) legal++;
  if (legal === 0) return generator.integer(count);
  let skip = legal > 1 ? generator.integer(legal) : 0;
  for (let k = 0; k < count; k++) if (masks[start + k] === 1 && skip-- === 0) return k;
  return 0;
}

/** An action that doesn't lie in its space. */
interface ActionFault {
  readonly expected: string;
  readonly got: string;
  readonly remedy: string;
}

/**
 * The fault of one action; undefined for an action that lies in its space.
 *
 * @param actions  with the action's values from `at` on
 */
export function actionFault(space: ActionSpace, actions: ArrayLike<number>, at: number): ActionFault | undefined {
  const width = widthOf(space);
  for (let i = 0; i < width; i++) {
    const value = actions[at + i];
    if (isWithin(space, i, value)) continue;
    const place = typeof space === 'number' ? '' : ` as value ${i}`;
    return { expected: `${describeValue(space, i)}${place}`, got: show(value), remedy: remedyFor(space) };
  }
  return undefined;
}

function isWithin(space: ActionSpace, i: number, value: number): boolean {
  if (isBox(space)) {
    return value >= space.low[i] && value <= space.high[i] && Number.isFinite(value);
  }
  const count = typeof space === 'number' ? space : space.counts[i];
  return value >= 0 && value < count && Number.isInteger(value);
}

function describeValue(space: ActionSpace, i: number): string {
  if (typeof space === 'number') return `an action from 0 to ${space - 1}`;
  if (space.kind === 'multi-discrete') return `a whole number from 0 to ${space.counts[i] - 1}`;
  const [low, high] = [space.low[i], space.high[i]];
  if (low === -Infinity) return high === Infinity ? 'a finite number' : `a finite number of at most ${high}`;
  return high === Infinity ? `a finite number of at least ${low}` : `a number from ${low} to ${high}`;
}

function remedyFor(space: ActionSpace): string {
  if (isBox(space)) return 'Clip actions to the bounds of the box.';
  return 'Count options from 0.';
}

/** Spaces in words, for messages: `a box of shape [2]`. */
export function describeSpaces(actions: ActionSpaces): string {
  if (typeof actions === 'number') return `${actions} discrete actions`;
  if (!isSpace(actions)) {
    return Object.entries(actions)
      .map(([id, space]) => `${id}: ${describeSpaces(space)}`)
      .join(', ');
  }
  return actions.kind === 'box' ? `a box of shape [${actions.shape}]` : `choices among ${actions.counts.join(', ')}`;
}

/** Whether two games' actions are the same. */
export function haveSameSpaces(first: ActionSpec, second: ActionSpec): boolean {
  const [own, others] = [actionLayout(first).spaces, actionLayout(second).spaces];
  return own.length === others.length && own.every((space, seat) => isSameSpace(space, others[seat]));
}

/** Whether two spaces are the same. */
export function isSameSpace(first: ActionSpace, second: ActionSpace): boolean {
  const text = (space: ActionSpace) => {
    if (typeof space === 'number') return String(space);
    return isBox(space) ? [space.shape, space.low, space.high].join(';') : `choices ${space.counts}`;
  };
  return text(first) === text(second);
}

/** A space as JSON, which has no infinity: null for a bound that isn't there. */
export type SavedSpace =
  | number
  | MultiDiscreteSpace
  | (Omit<BoxSpace, 'low' | 'high'> & Readonly<Record<'low' | 'high', readonly (number | null)[]>>);

/** A space for files. */
export function saveSpace(space: ActionSpace): SavedSpace {
  const bounds = (values: readonly number[]) => values.map((value) => (Number.isFinite(value) ? value : null));
  return isBox(space) ? { ...space, low: bounds(space.low), high: bounds(space.high) } : space;
}

/** The space that {@link saveSpace} saved. */
export function readSpace(saved: SavedSpace): ActionSpace {
  if (typeof saved === 'number' || saved.kind === 'multi-discrete') return saved;
  const { low, high } = saved;
  return { ...saved, low: low.map((value) => value ?? -Infinity), high: high.map((value) => value ?? Infinity) };
}

/** The part of a description's actions that is wrong, and its value; undefined where none is. */
export function spacesFault(actions: unknown, agents: readonly string[]): { part: string; got: unknown } | undefined {
  if (isSpaceSound(actions)) return undefined;
  const isRecord = typeof actions === 'object' && actions !== null && !Array.isArray(actions) && !('kind' in actions);
  const record = actions as Readonly<Record<string, unknown>>;
  if (!isRecord || !Array.isArray(agents) || !agents.every((id) => Object.hasOwn(record, id))) {
    return { part: 'actions', got: actions };
  }
  const wrong = Object.keys(record).find((id) => !agents.includes(id) || !isSpaceSound(record[id]));
  return wrong === undefined ? undefined : { part: `actions.${wrong}`, got: record[wrong] };
}

function isSpaceSound(space: unknown): space is ActionSpace {
  const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 1;
  if (typeof space === 'number') return isCount(space);
  if (typeof space !== 'object' || space === null) return false;
  const { kind, shape, low, high, counts } = space as Partial<BoxSpace> & { counts?: readonly number[] };
  if ((kind as string) === 'multi-discrete') return Array.isArray(counts) && counts.length > 0 && counts.every(isCount);
  if (kind !== 'box' || !Array.isArray(shape) || !Array.isArray(low) || !Array.isArray(high)) return false;
  const size = sizeOf(shape);
  const isInOrder = low.every((value, i) => value < high[i]);
  const isRounded = [...low, ...high].every((value) => Math.fround(value) === value);
  return shape.every(isCount) && low.length === size && high.length === size && isInOrder && isRounded;
}
