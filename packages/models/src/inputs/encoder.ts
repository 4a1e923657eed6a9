import {
  allocate,
  checkExperienceSpec,
  dtypeOf,
  fail,
  type Game,
  type NamedArrays,
  type ObservationArrays,
  sizeOf,
  type TypedArray,
} from '@coplay/core';
import { centredEncoder } from './centred';

/** What a network reads, without the batch dimension: images `[H, W, C]` by field name, and everything else in `vector` `[F]`. */
export type InputShapes = Readonly<Record<string, readonly number[]>>;

/** Options of {@link inputEncoder}. */
export interface InputOptions {
  /** Which observation fields are read. Default: all of the game's */
  readonly fields?: readonly string[];
  /** Adds everyone's previous action as one-hots, oneself first, then in cyclic order of seats. Default false */
  readonly previousActions?: boolean;
  /** Adds the seat as a one-hot: needed where several agents share weights but should differ. Default false */
  readonly agentId?: boolean;
  /** Moves images so that the agent itself is in the middle ({@link centredEncoder}): learned from with far fewer rows, four times as many inputs. Default false */
  readonly centred?: boolean;
  /** Adds the legal actions [K]. Default false: the mask is applied to the policy's logits in any case */
  readonly mask?: boolean;
  /**
   * Adds named numbers of the experience, such as subgoals: the count of each, n. They are divided by the root of n: a few dozen
   * latents about as large as 1 would drown the handful of ones in a grid. Default none
   */
  readonly extras?: Readonly<Record<string, number>>;
}

/** Where rows come from: one seat's rows of a larger array. Row i of the batch is `offset + i * stride` of the arrays. */
export interface RowSource {
  readonly rows: number;
  readonly seat: number;
  readonly offset: number;
  readonly stride: number;
  readonly observations: ObservationArrays;
  readonly masks: Uint8Array;
  /** [rows, A] */
  readonly previousActions: Int32Array;
  readonly extras: NamedArrays;
}

/** Turns what agents see into what networks read. */
export interface InputEncoder {
  readonly shapes: InputShapes;
  /** @returns for each of `shapes` an array [rows, ...shape]; images keep their dtype, `vector` is float32 */
  encode(source: RowSource): NamedArrays;
}

/** A part of the vector: writes `size` numbers of row i from `at` on. */
interface VectorPart {
  readonly size: number;
  write(source: RowSource, row: number, out: Float32Array, at: number): void;
}

/**
 * The encoder of one agent's own view. Fields of rank 3 are images; all others are flattened into one vector.
 */
export function inputEncoder(game: Game, options: InputOptions = {}): InputEncoder {
  checkExperienceSpec('inputEncoder', game);
  const names = options.fields ?? Object.keys(game.observation);
  const images = names.filter((name) => game.observation[name].shape.length === 3);
  const parts = vectorParts(game, names, options);
  const vectorSize = parts.reduce((sum, part) => sum + part.size, 0);
  const shapes: Record<string, readonly number[]> = {};
  for (const name of images) shapes[name] = game.observation[name].shape;
  if (vectorSize > 0) shapes['vector'] = [vectorSize];
  const plain: InputEncoder = {
    shapes,
    encode: (source) => {
      checkSource(game, names, source);
      const encoded: NamedArrays = {};
      for (const name of images) encoded[name] = takeRows(source.observations[name], source, shapes[name]);
      if (vectorSize > 0) encoded['vector'] = writeVector(parts, vectorSize, source);
      return encoded;
    },
  };
  return options.centred ? centredEncoder(game, plain) : plain;
}

/** Refuses what another game gave to see: it would be read as noise. */
function checkSource(game: Game, names: readonly string[], { rows, stride, observations }: RowSource): void {
  for (const name of names) {
    const { shape } = game.observation[name];
    const expected = rows * stride * sizeOf(shape);
    const got = observations[name]?.length ?? 0;
    if (got === expected) continue;
    const remedy = `Make the agent with the game that it plays; this one was made with ${game.name}.`;
    fail('inputEncoder', `${name} [${shape}] in ${rows * stride} rows, ${expected} numbers`, String(got), remedy);
  }
}

function vectorParts(game: Game, names: readonly string[], options: InputOptions): VectorPart[] {
  const parts: VectorPart[] = [];
  for (const name of names) {
    const { shape } = game.observation[name];
    if (shape.length !== 3) parts.push(fieldPart(name, sizeOf(shape)));
  }
  if (options.mask) parts.push(maskPart(game.actions));
  if (options.previousActions) parts.push(previousActionsPart(game.agents.length, game.actions));
  if (options.agentId) parts.push(agentIdPart(game.agents.length));
  for (const [name, size] of Object.entries(options.extras ?? {})) parts.push(extraPart(name, size));
  return parts;
}

function fieldPart(name: string, size: number): VectorPart {
  return {
    size,
    write: (source, row, out, at) => {
      const start = (source.offset + row * source.stride) * size;
      const from = source.observations[name];
      for (let i = 0; i < size; i++) out[at + i] = from[start + i];
    },
  };
}

function maskPart(actions: number): VectorPart {
  return {
    size: actions,
    write: (source, row, out, at) => {
      const start = (source.offset + row * source.stride) * actions;
      for (let k = 0; k < actions; k++) out[at + k] = source.masks[start + k];
    },
  };
}

function previousActionsPart(agents: number, actions: number): VectorPart {
  return {
    size: agents * actions,
    write: (source, row, out, at) => {
      for (let i = 0; i < agents; i++) {
        const action = source.previousActions[row * agents + ((source.seat + i) % agents)];
        if (action >= 0) out[at + i * actions + action] = 1;
      }
    },
  };
}

function agentIdPart(agents: number): VectorPart {
  return {
    size: agents,
    write: (source, _row, out, at) => {
      out[at + source.seat] = 1;
    },
  };
}

function extraPart(name: string, size: number): VectorPart {
  const scale = 1 / Math.sqrt(size);
  return {
    size,
    write: (source, row, out, at) => {
      const extra = source.extras[name] ?? fail('inputEncoder', `the extra ${name}`, 'none', 'Give it with the rows.');
      const { data } = extra;
      const start = (source.offset + row * source.stride) * size;
      for (let i = 0; i < size; i++) out[at + i] = scale * (data[start + i] as number);
    },
  };
}

function writeVector(parts: readonly VectorPart[], size: number, source: RowSource): NamedArrays[string] {
  const data = new Float32Array(source.rows * size);
  let at = 0;
  for (const part of parts) {
    for (let row = 0; row < source.rows; row++) part.write(source, row, data, row * size + at);
    at += part.size;
  }
  return { data, shape: [source.rows, size] };
}

function takeRows(from: TypedArray, source: RowSource, shape: readonly number[]): NamedArrays[string] {
  const size = sizeOf(shape);
  const data = allocate(dtypeOf(from), source.rows * size);
  for (let row = 0; row < source.rows; row++) {
    const start = (source.offset + row * source.stride) * size;
    data.set(from.subarray(start, start + size), row * size);
  }
  return { data, shape: [source.rows, ...shape] };
}
