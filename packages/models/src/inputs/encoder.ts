import {
  type ActionSpaces,
  type AgentInput,
  allocate,
  type DType,
  type Experience,
  fail,
  type NamedArrays,
  type NDArray,
  type ObservationField,
  type TypedArray,
} from '@coplay/core';
import {
  actionLayout,
  choicesOf,
  codeSizeOf,
  dtypeOf,
  highOf,
  kindOf,
  sizeOf,
  writeActionCode,
} from '@coplay/core/arrays';
import { checkArgument, checkCount, checkExperienceSpec, checkObservations, checkRecord } from '@coplay/core/checks';
import { z } from 'zod';
import { centredEncoder } from './centred';
import {
  checkRoom,
  type InputEncoder,
  type InputKind,
  type InputOptions,
  type InputReading,
  type RowSource,
  type SeenGame,
} from './input-encoder';

/** A part of the vector: writes `size` numbers of row i from `at` on. */
interface VectorPart {
  readonly size: number;
  /** Whether it is a field of the kind `vector`. */
  readonly isMeasured?: boolean;
  write(source: RowSource, row: number, out: Float32Array, at: number): void;
}

const plainRecord = z.record(z.string(), z.unknown());
const inputSchema = plainRecord.pipe(
  z.looseObject({
    fields: z.array(z.string()).optional(),
    extras: z.record(z.string(), z.int().min(0)).optional(),
  }),
);
const readingSchema = plainRecord.pipe(
  z.looseObject({
    images: z.enum(['scaled', 'raw']).optional(),
    flags: z.enum(['joined', 'apart']).optional(),
  }),
);

/**
 * The encoder of one agent's own view. Fields of shape [H, W, C] stay apart, all others are flattened into one vector.
 * Images are scaled to 0 to 1, indices become one-hot codes ([H, W, C] of them C codes behind one another).
 */
export function inputEncoder(game: SeenGame, options: InputOptions = {}, reading: InputReading = {}): InputEncoder {
  checkExperienceSpec('inputEncoder', game, 'any');
  checkArgument('inputEncoder', 'options', inputSchema, options);
  checkArgument('inputEncoder', 'reading', readingSchema, reading);
  const names = options.fields ?? Object.keys(game.observation);
  const isApart = ({ shape, kind = 'vector' }: ObservationField) =>
    shape.length === 3 || (reading.flags === 'apart' && kind !== 'vector');
  const apart = names.filter((name) => isApart(game.observation[name]));
  const flat = names.filter((name) => !apart.includes(name));
  const parts = vectorParts(game, flat, options);
  const vectorSize = parts.reduce((sum, part) => sum + part.size, 0);
  const isScaled = reading.images !== 'raw';
  const shapes: Record<string, readonly number[]> = {};
  const kinds: Record<string, InputKind> = {};
  for (const name of apart) {
    shapes[name] = shapeApart(game.observation[name]);
    kinds[name] = kindApart(game.observation[name], isScaled);
  }
  if (vectorSize > 0) {
    if (apart.includes('vector')) {
      const remedy = 'Rename the field: all flat numbers together are the input of that name.';
      fail('inputEncoder', 'no field named vector next to flat fields', `one in ${game.name}`, remedy);
    }
    shapes['vector'] = [vectorSize];
    kinds['vector'] = { kind: 'vector' };
  }
  const measured: Record<string, NDArray<Uint8Array>> = {};
  for (const name of apart) {
    if (kindOf(game.observation[name]) !== 'vector') continue;
    measured[name] = { data: new Uint8Array(sizeOf(shapes[name])).fill(1), shape: shapes[name] };
  }
  if (parts.some(({ isMeasured }) => isMeasured)) {
    const flags = parts.flatMap(({ size, isMeasured }) => new Array<number>(size).fill(isMeasured ? 1 : 0));
    measured['vector'] = { data: Uint8Array.from(flags), shape: [vectorSize] };
  }
  const zeros = (rows: number, dtypeIn: (name: string) => DType): NamedArrays => {
    const arrays: Record<string, NDArray> = {};
    for (const name in shapes) {
      const shape = [rows, ...shapes[name]];
      const dtype = name === 'vector' ? 'float32' : dtypeApart(game.observation[name], isScaled, dtypeIn(name));
      arrays[name] = { data: allocate(dtype, sizeOf(shape)), shape };
    }
    return arrays;
  };
  const plain: InputEncoder = {
    shapes,
    kinds,
    measured,
    allocate: (rows) => {
      checkCount('inputEncoder.allocate', 'rows', rows);
      return zeros(rows, (name) => game.observation[name].dtype);
    },
    encode: (source, into) => {
      checkSource(game, names, options, source);
      checkValues(game, names, source, reading.assumed ?? false);
      if (into !== undefined) checkRoom('inputEncoder.encode', shapes, into, source.rows);
      const encoded = into ?? zeros(source.rows, (name) => dtypeOf(source.observations[name]));
      for (const name of apart) writeApart(game.observation[name], isScaled, name, source, encoded[name].data);
      if (vectorSize > 0) writeVector(parts, vectorSize, source, encoded['vector'].data as Float32Array);
      return encoded;
    },
  };
  return options.centred ? centredEncoder(game, plain) : plain;
}

/** Refuses what another game gave to see: it would be read as noise. */
function checkSource(game: SeenGame, names: readonly string[], options: InputOptions, source: RowSource): void {
  const where = 'inputEncoder.encode';
  checkRecord(where, 'source', source);
  const { rows, seat, offset, stride, observations } = source;
  for (const [name, count] of Object.entries({ rows, seat, offset })) checkCount(where, `source.${name}`, count);
  checkCount(where, 'source.stride', stride, 1);
  checkRecord(where, 'source.observations', observations);
  for (const name of names) {
    const { shape } = game.observation[name];
    const expected = rows * stride * sizeOf(shape);
    const got = observations[name]?.length ?? 0;
    if (got === expected) continue;
    const remedy = `Make the agent with the game that it plays; this one was made with ${game.name}.`;
    fail('inputEncoder', `${name} [${shape}] in ${rows * stride} rows, ${expected} numbers`, String(got), remedy);
  }
  checkOthers(game, options, source);
}

/** Refuses legal actions, previous actions and extras that are read, but of another number of rows. */
function checkOthers(game: SeenGame, options: InputOptions, source: RowSource): void {
  const { rows, stride, masks, previousActions, extras } = source;
  if (rows === 0) return; // an experience without cuts has no extras there
  const A = game.agents.length;
  const check = (name: string, given: ArrayLike<number> | undefined, shape: readonly number[]) => {
    const expected = sizeOf(shape);
    if (given?.length === expected) return;
    const got = given === undefined ? 'none' : `${given.length}`;
    const where = `inputEncoder.encode: source.${name}`;
    fail(where, `${expected} numbers [${shape.join(', ')}]`, got, 'Give a number for each row, also of absent agents.');
  };
  if (options.mask) check('masks', masks, [rows * stride, maskSizeOf(game)]);
  if (options.previousActions) {
    const { width } = actionLayout(game);
    check('previousActions', previousActions, width === 1 ? [rows, A] : [rows, A, width]);
  }
  for (const [name, size] of Object.entries(options.extras ?? {})) {
    const extra = extras?.[name] ?? fail('inputEncoder', `the extra ${name}`, 'none', 'Give it with the rows.');
    check(`extras.${name}`, extra.data as ArrayLike<number>, [rows * stride, size]);
  }
}

/** Refuses numbers that aren't finite, and values that don't fit the kinds of their fields. */
function checkValues(game: SeenGame, fields: readonly string[], source: RowSource, assumed: boolean): void {
  const { rows, seat, offset, stride, observations, active, nameRow = (row) => `row ${row}` } = source;
  const who = game.agents[seat];
  const check = {
    spec: game.observation,
    fields,
    observations,
    rows,
    offset,
    stride,
    assumed,
    ...(active && { active }),
  };
  checkObservations(`inputEncoder of ${game.name}`, check, (row) => `${who} in ${nameRow(row)}`);
}

/** The shape of a field that is an input of its own: flat ones end to end, the codes of indices along the last axis. */
function shapeApart(field: ObservationField): readonly number[] {
  const shape = field.shape.length === 3 ? field.shape : [sizeOf(field.shape)];
  if (kindOf(field) !== 'indices') return shape;
  return [...shape.slice(0, -1), shape[shape.length - 1] * (field.classes as number)];
}

function kindApart(field: ObservationField, isScaled: boolean): InputKind {
  const kind = kindOf(field);
  if (kind === 'image') return { kind, high: isScaled ? 1 : highOf(field) };
  if (kind === 'indices') return { kind: 'codes', classes: field.classes as number };
  return { kind: kind === 'vector' ? 'vector' : 'planes' };
}

/** uint8 takes a quarter of the memory; every network takes float32. */
function dtypeApart(field: ObservationField, isScaled: boolean, given: DType): DType {
  const kind = kindOf(field);
  if (kind === 'indices') return 'uint8';
  return given === 'uint8' && !(kind === 'image' && isScaled) ? 'uint8' : 'float32';
}

/** Writes a field that is an input of its own, as the network reads it, into zeros. */
function writeApart(
  field: ObservationField,
  isScaled: boolean,
  name: string,
  { rows, offset, stride, observations }: RowSource,
  out: TypedArray,
): void {
  const kind = kindOf(field);
  const size = sizeOf(field.shape);
  const from = observations[name];
  const classes = kind === 'indices' ? (field.classes as number) : 1;
  const high = kind === 'image' && isScaled ? highOf(field) : 1;
  for (let row = 0; row < rows; row++) {
    const start = (offset + row * stride) * size;
    const at = row * size;
    if (kind === 'indices') for (let i = 0; i < size; i++) out[(at + i) * classes + from[start + i]] = 1;
    else if (high === 1) out.set(from.subarray(start, start + size), at);
    else for (let i = 0; i < size; i++) out[at + i] = from[start + i] / high;
  }
}

function vectorParts(game: SeenGame, names: readonly string[], options: InputOptions): VectorPart[] {
  const parts: VectorPart[] = [];
  for (const name of names) {
    const field = game.observation[name];
    const size = sizeOf(field.shape);
    const kind = kindOf(field);
    if (kind === 'indices') parts.push(indicesPart(name, size, field.classes as number));
    else parts.push({ ...fieldPart(name, size), isMeasured: kind === 'vector' });
  }
  if (options.mask) parts.push(maskPart(maskSizeOf(game)));
  if (options.previousActions) parts.push(previousPart(game));
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

/** Each index as a code of zeros and ones. */
function indicesPart(name: string, count: number, classes: number): VectorPart {
  return {
    size: count * classes,
    write: (source, row, out, at) => {
      const start = (source.offset + row * source.stride) * count;
      const from = source.observations[name];
      for (let i = 0; i < count; i++) out[at + i * classes + from[start + i]] = 1;
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

/** The size of the masks of a game whose agents all have the same choices. */
function maskSizeOf(game: SeenGame): number {
  const { spaces, maskSize } = actionLayout(game);
  const [first] = spaces.map((space) => choicesOf(space).join());
  if (maskSize > 0 && spaces.every((space) => choicesOf(space).join() === first)) return maskSize;
  const got = maskSize === 0 ? 'boxes, which have no masks' : 'agents with different choices';
  return fail('inputEncoder: option mask', 'a game whose agents have the same choices', got, 'Leave mask out.');
}

function previousPart(game: SeenGame): VectorPart {
  const { agents, actions } = game;
  return typeof actions === 'number' ? previousActionsPart(agents.length, actions) : previousSpacesPart(game);
}

/** The previous actions of spaces that aren't one number: boxes as they are, choices as one-hots; zeros for none. */
function previousSpacesPart(game: SeenGame): VectorPart {
  const { spaces, width } = actionLayout(game);
  const sizes = spaces.map(codeSizeOf);
  return {
    size: sum(sizes),
    write: ({ previousActions, seat }, row, out, start) => {
      let at = start;
      for (let i = 0; i < spaces.length; i++) {
        const other = (seat + i) % spaces.length;
        writeActionCode(spaces[other], previousActions, (row * spaces.length + other) * width, out, at);
        at += sizes[other];
      }
    },
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function previousActionsPart(agents: number, actions: number): VectorPart {
  return {
    size: agents * actions,
    write: (source, row, out, at) => {
      for (let i = 0; i < agents; i++) {
        const action = source.previousActions[row * agents + ((source.seat + i) % agents)];
        if (action >= actions) {
          const remedy = 'Give the actions of the game, -1 for none.';
          fail('inputEncoder.encode: source.previousActions', `actions below ${actions}`, `${action}`, remedy);
        }
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
      const { data } = source.extras[name];
      const start = (source.offset + row * source.stride) * size;
      for (let i = 0; i < size; i++) out[at + i] = scale * (data[start + i] as number);
    },
  };
}

function writeVector(parts: readonly VectorPart[], size: number, source: RowSource, out: Float32Array): void {
  let at = 0;
  for (const part of parts) {
    for (let row = 0; row < source.rows; row++) part.write(source, row, out, row * size + at);
    at += part.size;
  }
}

/** The rows of one agent who is about to act. */
export function actingRows(input: AgentInput<ActionSpaces>, seat: number, extras: NamedArrays = {}): RowSource {
  const { rows, observations, masks, previousActions, active } = input;
  const nameRow = (row: number) => `environment ${row}`;
  return { rows, seat, offset: 0, stride: 1, observations, masks, previousActions, extras, active, nameRow };
}

/** One seat's rows `[E * T]` of an experience, padding and steps after its end included. */
export function experienceRows(experience: Experience<ActionSpaces>, seat: number): RowSource {
  const { envs, steps, agents, observations, masks, previousActions, extras, active } = experience;
  const rows = envs * steps;
  const nameRow = (row: number) => `environment ${Math.floor(row / steps)}, step ${row % steps}`;
  const places = { offset: seat, stride: agents.length };
  return { rows, seat, ...places, observations, masks, previousActions, extras, active, nameRow };
}

/** One seat's rows `[N]` of the places where an experience was cut. */
export function cutRows(experience: Experience<ActionSpaces>, seat: number): RowSource {
  const { cuts, agents } = experience;
  const { observations, masks, previousActions, extras = {} } = cuts;
  return {
    rows: cuts.env.length,
    seat,
    offset: seat,
    stride: agents.length,
    observations,
    masks,
    previousActions,
    extras,
    active: activeAtCuts(experience),
    nameRow: (row) => `environment ${cuts.env[row]}, after step ${cuts.step[row]}`,
  };
}

/** [N, A] 1 for agents that played in the step before a cut and were not ended by it: only they see what came after. */
function activeAtCuts({ cuts, steps, agents, active, terminated }: Experience<ActionSpaces>): Uint8Array {
  const A = agents.length;
  return Uint8Array.from({ length: cuts.env.length * A }, (_, at) => {
    const cut = Math.floor(at / A);
    const row = (cuts.env[cut] * steps + cuts.step[cut]) * A + (at % A);
    return active[row] === 1 && terminated[row] === 0 ? 1 : 0;
  });
}
