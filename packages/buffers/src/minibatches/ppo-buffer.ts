import {
  type AgentId,
  checkOptions,
  fail,
  type Generator,
  type NamedArrays,
  type NDArray,
  ndarray,
  type SavedState,
  show,
} from '@coplay/core';
import { isArrayOf } from '@coplay/core/arrays';
import { checkArgument, checkCount, checkGenerator, checkText, namedArrays, restorePart } from '@coplay/core/checks';
import { allocateRows, checkRowSpec, gatherRows, type RowSpec, rowCount, rowSpecOf } from '@coplay/core/rows';
import { z } from 'zod';
import { checkMinibatchOptions, type MinibatchOptions, planMinibatches } from './plan';
import { RowStore } from './row-store';

/** Numbers of rows by kind. */
export interface RowCounts {
  readonly real: number;
  readonly imagined: number;
}

/** Which rows a minibatch has. */
export interface MinibatchRows {
  /** [P] places in the table; from `count` on, where it is filled up to `padTo`, that of the first one */
  readonly places: Int32Array;
  /** [P], or [P, L] of sequences; 0 from `count` on */
  readonly weights: NDArray<Float32Array>;
  /** Rows that are its own. */
  readonly count: number;
}

/**
 * The rows that one learner is updated on: steps or sequences of one agent, or of several that share weights. Real and
 * imagined rows are kept apart until they are mixed in minibatches.
 */
export interface PpoBuffer {
  /** Rows held now. */
  readonly rows: RowCounts;
  /** Rows pushed so far by each agent; `clear` doesn't touch them. */
  readonly pushed: Readonly<Record<AgentId, RowCounts>>;
  /**
   * Copies an agent's rows.
   *
   * @param agent  whose they are
   * @param rows   steps [B, ...] or sequences [B, L, ...]. `isImagined` uint8 [B] is 1 where a model made the row. If
   *               there are `weights`, float32 [B] or [B, L] and at least 0, they are kept (0 where a sequence is
   *               padded); otherwise a row weighs 1
   * @throws CoplayError for an agent that isn't the learner's, and for fields, dtypes or shapes unlike those before
   */
  push(agent: AgentId, rows: NamedArrays): void;
  /**
   * One pass over the rows in random order; every row that takes part comes exactly once, all its fields together.
   * Yields the pushed fields and `weights`, float32 [B] unless the rows had their own: losses are to be averaged as
   * sum(weights x loss) / sum(weights). The arrays are the caller's. How rows are divided is the rule of
   * {@link planMinibatches}; nothing comes where there are no rows.
   *
   * Weights by `realRatio` p: where the rows' own weights in a minibatch sum to r for the real ones and i for the
   * imagined ones, they are multiplied by p (r + i) / r and (1 - p) (r + i) / i: the real ones weigh p of the whole.
   */
  minibatches(generator: Generator, options?: MinibatchOptions): Iterable<NamedArrays>;
  /**
   * The same pass as {@link minibatches} with the same generator, as places in the {@link table}: for functions that
   * gather rows themselves.
   */
  plan(generator: Generator, options?: MinibatchOptions): MinibatchRows[];
  /**
   * All rows, the real ones first, and zeros after them up to `size` rows. The arrays are the caller's.
   *
   * @throws CoplayError for a size below the number of rows
   */
  table(size?: number): NamedArrays;
  /** Forgets the rows, not the counters. */
  clear(): void;
  /** Rows and counters. */
  state(): SavedState;
  restore(saved: SavedState): void;
}

/**
 * An empty buffer.
 *
 * @param options  `agents`: the agents whose rows it takes; rows of others are refused. Default: rows of all agents
 */
export function createPpoBuffer(options: { readonly agents?: readonly AgentId[] } = {}): PpoBuffer {
  const { agents } = checkOptions('createPpoBuffer', optionsSchema, options);
  return new TwoStores(agents);
}

const optionsSchema = z.strictObject({ agents: z.array(z.string()).readonly().optional() });
const savedSchema = z.looseObject({
  pushed: z.record(z.string(), z.looseObject({ real: z.int().min(0), imagined: z.int().min(0) })),
  real: namedArrays,
  imagined: namedArrays,
});

type Kind = 'real' | 'imagined';

function emptyStores(): Record<Kind, RowStore> {
  return { real: new RowStore('ppoBuffer.push'), imagined: new RowStore('ppoBuffer.push') };
}

class TwoStores implements PpoBuffer {
  private stores = emptyStores();
  private counts: Record<AgentId, Record<Kind, number>>;
  private spec: RowSpec | undefined;

  constructor(private readonly agents: readonly AgentId[] | undefined) {
    this.counts = Object.fromEntries((agents ?? []).map((agent) => [agent, { real: 0, imagined: 0 }]));
  }

  get rows(): RowCounts {
    return { real: this.stores.real.length, imagined: this.stores.imagined.length };
  }

  get pushed(): Readonly<Record<AgentId, RowCounts>> {
    return this.counts;
  }

  push(agent: AgentId, rows: NamedArrays): void {
    checkText('ppoBuffer.push', 'agent', agent);
    this.checkAgent(agent);
    const count = rowCount('ppoBuffer.push', rows);
    checkReserved('ppoBuffer.push', rows);
    const weighted = 'weights' in rows ? rows : { ...rows, weights: ndarray(new Float32Array(count).fill(1)) };
    this.spec ??= rowSpecOf(weighted);
    checkRowSpec('ppoBuffer.push', this.spec, weighted);
    if (!Object.hasOwn(this.counts, agent)) this.counts = { ...this.counts, [agent]: { real: 0, imagined: 0 } };
    const flags = rows['isImagined'].data;
    for (const kind of ['real', 'imagined'] as const) {
      const own = firstIntegers(count).filter((row) => (flags[row] !== 0) === (kind === 'imagined'));
      if (own.length === 0) continue;
      this.stores[kind].append(own.length === count ? weighted : gatherRows(weighted, own));
      this.counts[agent][kind] += own.length;
    }
  }

  minibatches(generator: Generator, options: MinibatchOptions = {}): Iterable<NamedArrays> {
    return this.gatherEach(this.planFor('ppoBuffer.minibatches', generator, options));
  }

  private *gatherEach(plan: readonly MinibatchRows[]): globalThis.Generator<NamedArrays> {
    for (const { places, weights } of plan) yield { ...this.gather(places), weights };
  }

  plan(generator: Generator, options: MinibatchOptions = {}): MinibatchRows[] {
    return this.planFor('ppoBuffer.plan', generator, options);
  }

  private planFor(where: string, generator: Generator, options: MinibatchOptions): MinibatchRows[] {
    checkGenerator(where, generator);
    const checked = checkMinibatchOptions(where, options);
    const plans = planMinibatches(this.rows, checked);
    // Real rows are shuffled first and imagined ones after: a run without imagined data draws the same numbers.
    const order = {
      real: generator.shuffle(firstIntegers(sum(plans.map((plan) => plan.real)))),
      imagined: generator.shuffle(firstIntegers(sum(plans.map((plan) => plan.imagined)))),
    };
    let real = 0;
    let imagined = 0;
    return plans.map((plan) => {
      const chosen = {
        real: order.real.subarray(real, real + plan.real),
        imagined: order.imagined.subarray(imagined, imagined + plan.imagined),
      };
      real += plan.real;
      imagined += plan.imagined;
      return this.choose(chosen, checked);
    });
  }

  table(size = this.rows.real + this.rows.imagined): NamedArrays {
    const { real, imagined } = this.rows;
    checkCount('ppoBuffer.table', 'size', size);
    if (size < real + imagined) {
      fail('ppoBuffer.table', `a size of at least ${real + imagined} rows`, show(size), 'Give a larger one.');
    }
    const table = allocateRows(this.spec ?? {}, size);
    this.stores.real.copyInto(table, 0);
    this.stores.imagined.copyInto(table, real);
    return table;
  }

  clear(): void {
    this.stores.real.clear();
    this.stores.imagined.clear();
  }

  state(): SavedState {
    const pushed = structuredClone(this.counts);
    return { pushed, real: this.stores.real.state(), imagined: this.stores.imagined.state() };
  }

  restore(saved: SavedState): void {
    checkArgument('ppoBuffer.restore', 'saved', savedSchema, saved);
    const { pushed, real, imagined } = saved as Record<string, SavedState>;
    const names = Object.keys(pushed ?? {});
    if (pushed === undefined || (this.agents !== undefined && names.join() !== this.agents.join())) {
      const expected = `a buffer of ${this.agents?.join(', ') ?? 'any agents'}`;
      fail(
        'ppoBuffer.restore: saved.pushed',
        expected,
        pushed ? names.join(', ') : show(saved),
        'Give the state of such a buffer.',
      );
    }
    const stores = emptyStores();
    restorePart('ppoBuffer.restore: saved.real', () => stores.real.restore(real));
    restorePart('ppoBuffer.restore: saved.imagined', () => stores.imagined.restore(imagined));
    for (const kind of ['real', 'imagined'] as const) {
      if (stores[kind].length === 0) continue;
      const [path, rows] = [`ppoBuffer.restore: saved.${kind}`, saved[kind] as NamedArrays];
      checkReserved(path, rows, true);
      checkRowSpec(path, this.spec ?? stores.real.spec ?? rowSpecOf(rows), rows);
    }
    this.counts = structuredClone(pushed) as typeof this.counts; // only now that all of it fits
    this.stores = stores;
    this.spec = stores.real.spec ?? stores.imagined.spec;
  }

  /** One minibatch: its real rows, its imagined rows, and the first one with weight 0 up to `padTo`. */
  private choose(chosen: Record<Kind, Int32Array>, { realRatio, padTo = 0 }: MinibatchOptions): MinibatchRows {
    const real = chosen.real.length;
    const count = real + chosen.imagined.length;
    const places = new Int32Array(Math.max(count, padTo));
    places.set(chosen.real);
    places.set(
      chosen.imagined.map((place) => this.rows.real + place),
      real,
    );
    places.fill(places[0], count);
    const { weights } = this.gather(places, ['weights']);
    weigh(weights, real, count, realRatio);
    return { places, weights: weights as NDArray<Float32Array>, count };
  }

  /** The rows at places of the table. */
  private gather(places: Int32Array, names = Object.keys(this.spec ?? {})): NamedArrays {
    const spec = Object.fromEntries(names.map((name) => [name, this.spec![name]]));
    const batch = allocateRows(spec, places.length);
    const { real } = this.rows;
    const isReal = (row: number) => places[row] < real;
    for (let start = 0, end = 0; start < places.length; start = end) {
      while (end < places.length && isReal(end) === isReal(start)) end++;
      const run = places.subarray(start, end);
      if (isReal(start)) this.stores.real.gatherInto(batch, start, run);
      else
        this.stores.imagined.gatherInto(
          batch,
          start,
          run.map((place) => place - real),
        );
    }
    return batch;
  }

  private checkAgent(agent: AgentId): void {
    if (this.agents === undefined || this.agents.includes(agent)) return;
    const remedy = "An agent only learns from its own rows: push them into its learner's buffer.";
    fail('ppoBuffer.push', `rows of ${this.agents.join(', ')}`, `rows of ${show(agent)}`, remedy);
  }
}

/** The two fields that the buffer itself reads. Rows that are held have weights. */
function checkReserved(where: string, { isImagined, weights }: NamedArrays, isHeld = false): void {
  if (isImagined?.shape.length !== 1) {
    const got = isImagined ? `[${isImagined.shape}]` : 'none';
    fail(where, 'a field isImagined of shape [B]', got, 'Say of each row whether a model made it: 0 or 1.');
  }
  if (isHeld && weights === undefined) fail(where, 'a field weights', 'none', 'Give what state() returned.');
  if (weights !== undefined && !(isArrayOf('float32', weights.data) && weights.data.every((weight) => weight >= 0))) {
    fail(where, 'weights of float32, at least 0', show(weights.data), 'Change them, or leave them out.');
  }
}

/**
 * Multiplies weights so that the first `real` of `filled` rows have the share `realRatio`; the rows after them get 0.
 */
function weigh(weights: NDArray, real: number, filled: number, realRatio: number | undefined): void {
  const { data, shape } = weights;
  const size = data.length / shape[0];
  const split = real * size;
  const end = filled * size;
  data.fill(0, end);
  const realSum = sum(data.subarray(0, split));
  const imaginedSum = sum(data.subarray(split, end));
  if (realRatio === undefined || realSum === 0 || imaginedSum === 0) return;
  const realFactor = (realRatio * (realSum + imaginedSum)) / realSum;
  const imaginedFactor = ((1 - realRatio) * (realSum + imaginedSum)) / imaginedSum;
  for (let i = 0; i < end; i++) data[i] *= i < split ? realFactor : imaginedFactor;
}

function firstIntegers(count: number): Int32Array {
  const integers = new Int32Array(count);
  for (let i = 0; i < count; i++) integers[i] = i;
  return integers;
}

function sum(values: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total;
}
