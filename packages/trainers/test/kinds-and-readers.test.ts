import {
  type Agent,
  createGenerator,
  createRollout,
  type DType,
  type Game,
  type LogEntry,
  type Metrics,
  type ObservationField,
  type ObservationKind,
  type TypedArray,
  vectorEnv,
} from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { randomAgent } from '@coplay/envs';
import { conv, inputEncoder, mlp } from '@coplay/models';
import { tf, useBackend } from '@coplay/tensor';
import { createMoa, createOmg, dreamerAgent, hopAgent, ppoAgent, selfPlay, toOnnx } from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';
import { encodeTensors } from '../src/export/encode';
import { tinyGame } from './games';

const DTYPES: readonly DType[] = ['uint8', 'int8', 'uint16', 'int16', 'uint32', 'int32', 'float32', 'float64'];
const GRID = [4, 4, 2];
const CLASSES = 3;

const FIELDS: Readonly<Record<string, Omit<ObservationField, 'dtype'>>> = {
  planes: { shape: GRID, kind: 'planes' },
  'one-hot [H, W, C]': { shape: GRID, kind: 'one-hot' },
  'indices [H, W, C]': { shape: GRID, kind: 'indices', classes: CLASSES },
  image: { shape: [16, 16, 1], kind: 'image' },
  'vector [H, W, C]': { shape: GRID, kind: 'vector' },
  'one-hot': { shape: [4], kind: 'one-hot', classes: 2 },
  indices: { shape: [2], kind: 'indices', classes: CLASSES },
  vector: { shape: [3], kind: 'vector' },
};

/** Number `i` of what is seen in a step; anything, as long as it fits the kind. */
function seenNumber(kind: ObservationKind, dtype: DType, size: number, step: number, i: number): number {
  const any = (step * 31 + i * 7 + 3) % 251;
  if (kind === 'planes') return any % 2;
  if (kind === 'one-hot') return i % 2 === (step + (i >> 1)) % 2 ? 1 : 0;
  if (kind === 'indices') return any % CLASSES;
  const isFloat = dtype.startsWith('float');
  if (kind === 'image') return isFloat ? any / 254 : dtype === 'int8' ? any % 128 : Math.min(254, any + 4);
  return isFloat ? (any - 125) / 10 : any % (100 + (size % 2));
}

/** A game of two agents whose only observation is the field. */
function gameOf(field: ObservationField): Game {
  const plain = tinyGame({ reward: (agent, action, cue) => (action === cue ? 1 : agent) });
  const size = sizeOf(field.shape);
  return {
    ...plain,
    observation: { x: field },
    observe(state: Uint8Array, offset: number, _agent: number, out: Record<string, TypedArray>, row: number) {
      for (let i = 0; i < size; i++) {
        out['x'][row * size + i] = seenNumber(field.kind ?? 'vector', field.dtype, size, state[offset], i);
      }
    },
  } as Game;
}

const network = mlp({ hidden: [4], activation: 'relu' });
const executor = 'eager';
const id = 'agent_0';
const othersIn = (game: Game): Agent[] => game.agents.slice(1).map((other) => randomAgent({ game, id: other }));

/** A run of a learning agent and others that play at random; its metrics. */
async function learned(game: Game, agent: Agent): Promise<Metrics> {
  const metrics: Metrics = {};
  const log = {
    start: () => {},
    close: () => {},
    write: (entry: LogEntry) => void Object.assign(metrics, entry.metrics),
  };
  const run = selfPlay({ game, agents: [agent, ...othersIn(game)], envs: 2, steps: 4, seed: 1, log: [log] });
  await run.train({ envSteps: 16 });
  run.dispose();
  return metrics;
}

const playOf = (game: Game) => {
  const agents = [randomAgent({ game, id }), ...othersIn(game)];
  return createRollout(vectorEnv(game, { envs: 4, seed: 1 }), agents, createGenerator(1)).collect(8);
};

/** Each reader learns once from a game, and answers its metrics. */
const READERS: Readonly<Record<string, (game: Game) => Promise<Metrics>>> = {
  'PPO, mlp': (game) => learned(game, ppoAgent({ game, id, network, executor })),
  'PPO, conv': (game) => learned(game, ppoAgent({ game, id, network: conv({ filters: [2] }), executor })),
  'PPO, GRU': (game) => learned(game, ppoAgent({ game, id, network, recurrent: 2, executor })),
  MOA: async (game) => {
    const moa = createMoa({ game, id, network, minRows: 1, minibatchSize: 8, executor });
    await moa.initialise(createGenerator(1));
    moa.push(await playOf(game));
    const metrics = await moa.update(createGenerator(2));
    moa.dispose();
    return metrics;
  },
  Dreamer: (game) => {
    const sizes = {
      size: 'debug',
      batchSize: 2,
      sequenceLength: 4,
      horizon: 3,
      startAfter: 1,
      updatesPerPhase: 1,
    } as const;
    return learned(game, dreamerAgent({ game, id, ...sizes, executor }));
  },
  OMG: async (game) => {
    const steps = { vaeUpdates: 1, vaeSteps: 1, vaeBatchSize: 8, inferenceSteps: 1, batchSize: 4, hidden: [4] };
    const omg = createOmg({ game, id, selector: 'fixed', goalDim: 2, ...steps, executor });
    await omg.initialise(createGenerator(1));
    omg.push(await playOf(game));
    const metrics = { ...(await omg.update(createGenerator(2))), ...(await omg.update(createGenerator(3))) };
    omg.dispose();
    return metrics;
  },
};

beforeAll(() => useBackend('wasm'));

describe.each(Object.keys(READERS))('%s', (reader) => {
  it.each(Object.keys(FIELDS))(
    'learns finite numbers from %s, or names what it does not take',
    { tags: ['slow'] },
    async (name) => {
      // Two dtypes for each kind: each reader meets all of them over the kinds, and each kind over the readers.
      const first = Object.keys(FIELDS).indexOf(name) + Object.keys(READERS).indexOf(reader);
      for (const dtype of [DTYPES[first % 8], DTYPES[(first + 5) % 8]]) {
        const game = gameOf({ ...FIELDS[name], dtype });
        const metrics = await READERS[reader](game);
        expect(Object.keys(metrics).length, dtype).toBeGreaterThan(2);
        for (const [key, value] of Object.entries(metrics))
          expect(Number.isFinite(value), `${dtype} ${key}`).toBe(true);
        const losses = Object.entries(metrics).filter(([key]) => /omg\/(vae_)?nll|loss\/rec/.test(key));
        if (/OMG|Dreamer/.test(reader)) expect(losses.length, dtype).toBeGreaterThan(0);
        for (const [key, value] of losses) expect(value, `${dtype} ${key}`).toBeGreaterThanOrEqual(0);
      }
    },
  );
});

describe('Dreamer by default, shown bytes up to 254', () => {
  const bytes = { shape: [16, 16, 1], dtype: 'uint8' } as const;
  const few = { size: 'debug', batchSize: 2, sequenceLength: 4, horizon: 3, startAfter: 1, executor } as const;

  it('reconstructs a declared image with an error from 0 to its number of values, however long it learns', {
    tags: ['learning'],
  }, async () => {
    const game = gameOf({ ...bytes, kind: 'image' });
    const kept: number[] = [];
    const keep = ({ metrics }: LogEntry) => {
      for (const [key, value] of Object.entries(metrics)) if (key.endsWith('loss/rec/x')) kept.push(Number(value));
    };
    const log = { start: () => {}, close: () => {}, write: keep };
    const agent = dreamerAgent({ game, id, ...few, learningRate: 1e-2, updatesPerPhase: 2 });
    const run = selfPlay({ game, agents: [agent, ...othersIn(game)], envs: 2, steps: 4, seed: 1, log: [log] });
    await run.train({ envSteps: 72 });
    run.dispose();
    expect(kept.length).toBeGreaterThanOrEqual(8);
    for (const value of kept) {
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThanOrEqual(256);
    }
    expect(kept[kept.length - 1]).toBeLessThan(kept[0]);
  });

  it('refuses them by name where no kind is declared, and says which kinds take them', async () => {
    const game = gameOf(bytes);
    // The observation is that of an image, with any field description.
    const observe = gameOf({ ...bytes, kind: 'image' }).observe;
    const shown = { ...game, observe };
    const agent = dreamerAgent({ game: shown, id, ...few });
    const run = selfPlay({ game: shown, agents: [agent, ...othersIn(shown)], envs: 2, steps: 4, seed: 1 });
    await expect(run.train({ envSteps: 16 })).rejects.toThrow(/field "x" of kind planes, .*assumed.*'image'.*'vector'/);
    run.dispose();
  });
});

describe('HOP', () => {
  it.each(Object.keys(FIELDS))('refuses a game that shows %s alone, and names what it needs', (name) => {
    for (const dtype of DTYPES) {
      const game = gameOf({ ...FIELDS[name], dtype });
      expect(() => hopAgent({ game, id }), dtype).toThrow(/hopAgent: option game.*grid parts/);
    }
  });
});

describe('exported policies', () => {
  it.each(Object.keys(FIELDS))('read %s of every dtype as training does', async (name) => {
    for (const dtype of DTYPES) {
      const game = gameOf({ ...FIELDS[name], dtype });
      const { observations, masks, previousActions } = vectorEnv(game, { envs: 1, seed: 1 });
      const source = { rows: 2, seat: 0, offset: 0, stride: 1, observations, masks, previousActions, extras: {} };
      const read = inputEncoder(game).encode(source);
      const values = Array.from(observations['x']);
      const fields = {
        x: tf.tensor(values, [2, ...FIELDS[name].shape], dtype.startsWith('float') ? 'float32' : 'int32'),
      };
      const tensors = encodeTensors(game, {}, 0, { rows: 2, fields, mask: tf.ones([2, 2]) as tf.Tensor2D });
      expect(Object.keys(tensors), dtype).toEqual(Object.keys(read));
      for (const key of Object.keys(read)) {
        expect(tensors[key].shape, dtype).toEqual(read[key].shape);
        const [got, expected] = [await tensors[key].data(), read[key].data];
        got.forEach((value, i) => void expect(value, `${dtype} ${key} ${i}`).toBeCloseTo(expected[i], 6));
      }
    }
  });

  it('are written for every kind', async () => {
    for (const field of Object.values(FIELDS)) {
      const game = gameOf({ ...field, dtype: 'uint16' });
      const agent = ppoAgent({ game, id, network });
      await agent.learner.initialise(createGenerator(1));
      expect((await toOnnx(agent)).length).toBeGreaterThan(100);
      agent.learner.dispose();
    }
  });
});

describe('the numbers that networks read', () => {
  /** What the encoder makes of one row of one field. */
  const encoded = (field: ObservationField, values: readonly number[]) => {
    const game = gameOf(field);
    const { masks, previousActions } = vectorEnv(game, { envs: 1, seed: 1 });
    const rows = { rows: 1, seat: 0, offset: 0, stride: 1, masks, previousActions, extras: {} };
    const { data } = Object.values(
      inputEncoder(game).encode({ ...rows, observations: { x: Float64Array.from(values) } }),
    )[0];
    return Array.from(data);
  };
  const cells = [1, 1, 2];

  it.each<[string, ObservationField, number[], number[]]>([
    ['bytes are divided by 255', { shape: cells, dtype: 'uint8', kind: 'image' }, [51, 255], [0.2, 1]],
    ['floats from 0 to 1 are not', { shape: cells, dtype: 'float32', kind: 'image' }, [0.25, 1], [0.25, 1]],
    ['by high where it is given', { shape: cells, dtype: 'int32', kind: 'image', high: 10 }, [5, 10], [0.5, 1]],
    ['vectors stay', { shape: cells, dtype: 'int32', kind: 'vector' }, [-7, 300], [-7, 300]],
    ['planes stay', { shape: cells, dtype: 'uint8' }, [0, 1], [0, 1]],
    ['indices become codes', { shape: [2], dtype: 'int8', kind: 'indices', classes: 3 }, [2, 0], [0, 0, 1, 1, 0, 0]],
    ['in a grid too', { shape: cells, dtype: 'uint16', kind: 'indices', classes: 2 }, [1, 0], [0, 1, 1, 0]],
  ])('%s', (_, field, values, expected) => {
    const got = encoded(field, values);
    expect(got).toHaveLength(expected.length);
    got.forEach((value, i) => void expect(value).toBeCloseTo(expected[i], 6));
  });
});
