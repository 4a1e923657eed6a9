/**
 * Plays games for the Python package `coplay`, which starts this program; `npm run generate` bundles it as
 * coplay/generated/server.mjs. The frames are described in coplay/node.py, the arrays in coplay/batch.py.
 */
import { Console } from 'node:console';
import { readSync, writeSync } from 'node:fs';
import { type AnyGame, fail, type TypedArray, type VectorEnv, vectorEnv } from '@coplay/core';
import { actionLayout, dtypeOf, kindOf } from '@coplay/core/arrays';
import {
  cartPole,
  catchGame,
  gymEscalation,
  gymHarvest,
  gymHunt,
  levelForaging,
  matrixGame,
  overcooked,
  pendulum,
  renderText,
  simpleSpeakerListener,
  simpleSpread,
  simpleTag,
  snowdrift,
  stagHunt,
} from '@coplay/envs';

const GAMES: Readonly<Record<string, (options: never) => AnyGame>> = {
  'cart-pole': cartPole,
  catch: catchGame,
  'gym-escalation': gymEscalation,
  'gym-harvest': gymHarvest,
  'gym-hunt': gymHunt,
  'level-foraging': levelForaging,
  matrix: matrixGame,
  overcooked,
  pendulum,
  'simple-speaker-listener': simpleSpeakerListener,
  'simple-spread': simpleSpread,
  'simple-tag': simpleTag,
  snowdrift,
  'stag-hunt': stagHunt,
};

interface MakeRequest {
  readonly game: string;
  readonly envs: number;
  readonly seed: number;
  readonly options: Readonly<Record<string, unknown>>;
}

/** A batch and its arrays in the order of an answer. Those of `final` come only where an episode has ended. */
interface Played {
  readonly env: VectorEnv<never>;
  readonly always: readonly TypedArray[];
  readonly final: readonly TypedArray[];
  readonly actions: Int32Array | Float32Array;
}

let played: Played | undefined;

function make({ game: name, envs, seed, options }: MakeRequest): unknown {
  if (!Object.hasOwn(GAMES, name)) {
    fail('coplay', `a game of ${Object.keys(GAMES).join(', ')}`, JSON.stringify(name), 'Use one of these names.');
  }
  const game = GAMES[name](options as never);
  const env = vectorEnv(game, { envs, seed }) as unknown as VectorEnv<never>;
  const { spaces, dtype, width, maskSize } = actionLayout(game);
  const { rewards, terminated, truncated, infos } = env.result;
  const always = [
    ...[rewards, terminated, truncated, env.ended],
    ...game.infos.map((info) => infos[info]),
    ...[env.active, env.states],
    ...[env.masks, ...Object.values(env.observations)],
  ];
  const final = [env.finalMasks, ...Object.values(env.finalObservations)];
  const size = envs * game.agents.length * width;
  played = { env, always, final, actions: dtype === 'int32' ? new Int32Array(size) : new Float32Array(size) };
  const fields = Object.entries(game.observation).map(([field, about]) => [field, { ...about, kind: kindOf(about) }]);
  const plain = (values: readonly number[]) => values.map((value) => (Number.isFinite(value) ? value : null));
  const described = spaces.map((space) => {
    if (typeof space === 'number') return { kind: 'discrete', count: space };
    return space.kind === 'box' ? { ...space, low: plain(space.low), high: plain(space.high) } : space;
  });
  return {
    ...{ name: game.name, agents: game.agents, actionNames: game.actionNames, maxSteps: game.maxSteps },
    ...{ infos: game.infos, observation: Object.fromEntries(fields), width, maskSize },
    actions: Object.fromEntries(game.agents.map((id, i) => [id, described[i]])),
    actionType: dtype,
    stateType: dtypeOf(env.states),
    stateSize: game.stateSize,
    bytes: lengthOf([...always, ...final]),
  };
}

const present = (): Played => played ?? fail('coplay', 'a game that was made', 'none', 'Make one first.');

/** The parts of the answer to each request, by its number in coplay/node.py. */
const ANSWERS: readonly ((payload: Uint8Array) => readonly Uint8Array[])[] = [
  () => fail('coplay', 'requests from 1 on', '0', 'Use the package of the same version.'),
  (payload) => [json(make(parsed(payload) as MakeRequest))],
  (payload) => {
    const { env, always } = present();
    env.reset(parsed(payload) as { seed?: number; envs?: number[] });
    return bytesOf(always);
  },
  (payload) => {
    const { env, always, final, actions } = present();
    new Uint8Array(actions.buffer).set(payload);
    env.step(actions as never);
    return bytesOf(env.ended.includes(1) ? [...always, ...final] : always);
  },
  (payload) => {
    const { env } = present();
    const { game, states } = env as unknown as VectorEnv;
    return [text(renderText(game, states, (parsed(payload) as { env: number }).env * game.stateSize))];
  },
  () => [json(Object.keys(GAMES))],
];

const text = (value: string) => new TextEncoder().encode(value);
const json = (value: unknown) => text(JSON.stringify(value));
const parsed = (payload: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(payload));
const padding = (array: TypedArray) => (8 - (array.byteLength % 8)) % 8;
const lengthOf = (arrays: readonly TypedArray[]) =>
  arrays.reduce((sum, array) => sum + array.byteLength + padding(array), 0);

function bytesOf(arrays: readonly TypedArray[]): Uint8Array[] {
  return arrays.flatMap((array) => [
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength),
    new Uint8Array(padding(array)),
  ]);
}

/** So many bytes of standard input; undefined once Python has closed it. */
function read(size: number): Uint8Array | undefined {
  const bytes = new Uint8Array(size);
  for (let done = 0; done < size; ) {
    const count = readSync(0, bytes, done, size - done, null);
    if (count === 0) return undefined;
    done += count;
  }
  return bytes;
}

function write(status: number, parts: readonly Uint8Array[]): void {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const head = new Uint8Array(Uint32Array.of(status, length).buffer);
  const frame = Buffer.concat([head, ...parts]);
  for (let done = 0; done < frame.length; ) done += writeSync(1, frame, done);
}

function answer(op: number, payload: Uint8Array): void {
  try {
    write(0, ANSWERS[op](payload));
  } catch (error) {
    write(1, [json({ message: (error as Error).message })]);
  }
}

globalThis.console = new Console(process.stderr); // standard output is for answers
for (;;) {
  const head = read(8);
  if (head === undefined) break;
  const [op, length] = new Uint32Array(head.buffer);
  const payload = read(length);
  if (payload === undefined) break;
  answer(op, payload);
}
