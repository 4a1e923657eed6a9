import {
  type Agent,
  type AgentId,
  type AgentInput,
  checkGame,
  checkOptions,
  fail,
  type Game,
  show,
} from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { checkObservations } from '@coplay/core/checks';
import { z } from 'zod';
import { drawAction } from './draw-action';

/**
 * The part of an ONNX Runtime session that is used: sessions of `onnxruntime-web` and of `onnxruntime-node` have it.
 */
export interface OnnxSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  /** Shapes of the inputs, `batch` first. */
  readonly inputMetadata: readonly { readonly name: string; readonly shape?: readonly (number | string)[] }[];
  run(feeds: Record<string, never>): Promise<Readonly<Record<string, { readonly data: unknown }>>>;
}

/** Makes a tensor: `Tensor` of `onnxruntime-web` or `onnxruntime-node`. */
export type OnnxTensorClass = new (
  type: 'uint8' | 'int32' | 'float32',
  data: never,
  dims: readonly number[],
) => unknown;

/** Options of {@link onnxAgent}. */
export interface OnnxAgentOptions {
  /** The game that the policy was trained in. */
  readonly game: Game;
  /** Who it plays as. A policy that doesn't read its own id plays in any seat. */
  readonly id: AgentId;
  /** The loaded file: `await InferenceSession.create(file)`. */
  readonly session: OnnxSession;
  /** The class `Tensor` of the same ONNX Runtime. */
  readonly Tensor: OnnxTensorClass;
  /** For tables and recordings. Default `ONNX policy` */
  readonly name?: string | undefined;
}

function isSession(value: unknown): boolean {
  const { inputNames, outputNames, inputMetadata, run } = (value ?? {}) as Partial<OnnxSession>;
  return [inputNames, outputNames, inputMetadata].every(Array.isArray) && typeof run === 'function';
}

const schema = z.strictObject({
  game: z.custom<Game>(),
  id: z.string(),
  session: z.custom<OnnxSession>(isSession, {
    error: 'a session of ONNX Runtime',
  }),
  Tensor: z.custom<OnnxTensorClass>((value) => typeof value === 'function', { error: "ONNX Runtime's class Tensor" }),
  name: z.string().default('ONNX policy'),
});

/**
 * An agent that plays a policy which `exportOnnx` or `toOnnx` of `@coplay/trainers` wrote, in a browser or in Node,
 * without anything that trains. It draws its actions as the trained agent does. Extras are `logProbs` [B] of the
 * actions and `policy` [B, K], the probabilities, which `recordEpisode` writes down.
 *
 * @throws CoplayError for unknown options, a file that isn't such a policy, or of a game with other observations
 */
export function onnxAgent(options: OnnxAgentOptions): Agent<Float32Array> {
  const { game, id, session, Tensor, name } = checkOptions('onnxAgent', schema, options);
  checkGame('onnxAgent: option game', game, 'discrete', 'play');
  if (!game.agents.includes(id)) {
    fail('onnxAgent: option id', `one of ${game.agents.join(', ')}`, show(id), 'Name a seat of the game.');
  }
  const inputs = session.inputNames.map((input) => inputOf(game, session, input));
  if (!session.outputNames.includes('logProbs')) {
    const got = session.outputNames.join(', ');
    fail('onnxAgent: option session', 'a policy with the output logProbs', got, 'Export it with exportOnnx(agent).');
  }
  const stateSize = inputs.find((input) => input.name === 'state')?.size ?? 0;
  const K = game.actions;
  const fields = inputs.map((input) => fieldOf(game, input.name)).filter((field) => field !== undefined);
  return {
    id,
    name,
    initialState: (rows) => new Float32Array(rows * stateSize),
    async act(input, state, generator) {
      const { observations, rows } = input;
      const check = { spec: game.observation, fields, observations, rows, active: input.active };
      checkObservations(`onnxAgent (${id})`, check, (row) => `${id} in environment ${row}`);
      const entered = startAnew(state, input.isFirst, stateSize);
      const feeds = Object.fromEntries(
        inputs.map(({ name: key, type, shape, read }) => {
          return [key, new Tensor(type, read(input, entered) as never, [input.rows, ...shape]) as never];
        }),
      );
      const found = await session.run(feeds);
      const logProbs = found['logProbs'].data as Float32Array;
      if (logProbs.length !== input.rows * K) {
        const got = `${logProbs.length} for ${input.rows} rows`;
        fail(`onnxAgent (${id})`, `logProbs of ${K} actions a row`, got, 'Use the game that the policy learned in.');
      }
      const actions = Int32Array.from({ length: input.rows }, (_, row) => drawAction(logProbs, row * K, K, generator));
      const taken = Float32Array.from(actions, (action, row) => logProbs[row * K + action]);
      return {
        actions,
        state: stateSize > 0 ? (found['nextState'].data as Float32Array).slice() : state,
        extras: {
          logProbs: { data: taken, shape: [input.rows] },
          policy: { data: logProbs.map(Math.exp), shape: [input.rows, K] },
        },
      };
    },
  };
}

/** One input of a policy and where its values come from. */
interface PolicyInput {
  readonly name: string;
  readonly type: 'uint8' | 'int32' | 'float32';
  /** Of one row. */
  readonly shape: readonly number[];
  readonly size: number;
  /** [B, ...shape] values; `state` is the recurrent state that the step begins with */
  read(input: AgentInput, state: Float32Array): ArrayLike<number>;
}

/** Inputs have the names that `exportOnnx` gives them: of fields of the observation, or of its own. */
function inputOf(game: Game, session: OnnxSession, name: string): PolicyInput {
  const [, ...given] = session.inputMetadata.find((one) => one.name === name)?.shape ?? [];
  const input = name === 'state' ? recurrentInput(given) : (ownInput(game, name) ?? fieldInput(game, name));
  if (input?.shape.join() === given.join()) return { ...input, name, size: sizeOf(input.shape) };
  const expected = input
    ? `${name} of shape [${input.shape}], as in this ${game.name}`
    : `inputs that ${game.name} has`;
  const remedy = 'Use the game, with the options, that the policy learned in.';
  return fail('onnxAgent: option session', expected, input ? `[${given}]` : name, remedy);
}

type Source = Omit<PolicyInput, 'name' | 'size'>;

function recurrentInput(given: readonly (number | string)[]): Source {
  return { type: 'float32', shape: given.map(Number), read: (_, state) => state };
}

function ownInput(game: Game, name: string): Source | undefined {
  if (name === 'mask') return { type: 'uint8', shape: [game.actions], read: ({ masks }) => masks };
  if (name !== 'previousActions') return undefined;
  return { type: 'int32', shape: [game.agents.length], read: ({ previousActions }) => previousActions };
}

/** The field of the observation that an input has the values of. */
function fieldOf(game: Game, input: string): string | undefined {
  const key = input.replace(/^observation\//, '');
  const isOwn = input === 'state' || ownInput(game, input) !== undefined;
  return !isOwn && Object.hasOwn(game.observation, key) ? key : undefined;
}

function fieldInput(game: Game, name: string): Source | undefined {
  const key = fieldOf(game, name);
  if (key === undefined) return undefined;
  const { dtype, shape } = game.observation[key];
  if (dtype === 'uint8' || dtype === 'int32') return { type: dtype, shape, read: (input) => input.observations[key] };
  // Other kinds of numbers come as float32, since the file can't take them.
  const read = ({ observations }: AgentInput) => Float32Array.from(observations[key] as ArrayLike<number>);
  return { type: 'float32', shape, read };
}

/** A copy of the states, zero in the rows where a game begins. */
function startAnew(states: Float32Array, isFirst: Uint8Array, size: number): Float32Array {
  const entered = states.slice();
  for (let row = 0; row < isFirst.length && size > 0; row++) {
    if (isFirst[row] === 1) entered.fill(0, row * size, (row + 1) * size);
  }
  return entered;
}
