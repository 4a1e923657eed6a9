/** The model of observations: what it predicts before it has learned, its loss by hand, its game, its history. */

import { observationRows, observationTransitions } from '@coplay/buffers';
import {
  createGenerator,
  createRollout,
  type Experience,
  type Game,
  type NamedArrays,
  ndarray,
  type ObservationField,
  type SavedState,
  vectorEnv,
} from '@coplay/core';
import { randomAgent, snowdrift } from '@coplay/envs';
import { cellsWorldModel, mlp, observationsWorldModel, planesWorldModel, type WorldModel } from '@coplay/models';
import { tf, useBackend } from '@coplay/tensor';
import { createWorldModel } from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';

beforeAll(async () => {
  await useBackend('cpu');
});

/** Two agents; every kind of field. The state is [steps, value]. */
function kinds(): Game<'float32'> {
  return {
    name: 'kinds',
    agents: ['a', 'b'],
    actions: 3,
    actionNames: ['x', 'y', 'z'],
    observation: {
      flags: { shape: [2], dtype: 'uint8', kind: 'planes' },
      code: { shape: [3], dtype: 'uint8', kind: 'one-hot' },
      index: { shape: [1], dtype: 'int32', kind: 'indices', classes: 4 },
      numbers: { shape: [2], dtype: 'float32', kind: 'vector' },
      picture: { shape: [2, 2, 1], dtype: 'uint8', kind: 'image' },
    },
    stateType: 'float32',
    stateSize: 2,
    maxSteps: 9,
    infos: [],
    options: {},
    reset: (state, offset) => void state.fill(0, offset, offset + 2),
    step(state, offset, _actions, _at, _generator, result, row) {
      state[offset]++;
      for (let i = 0; i < 2; i++) {
        result.rewards[row * 2 + i] = 0;
        result.terminated[row * 2 + i] = 0;
        result.truncated[row * 2 + i] = state[offset] >= 9 ? 1 : 0;
      }
    },
    legal(_state, _offset, agent, mask, at) {
      mask.set([1, 1, agent], at);
    },
    observe(_state, _offset, agent, out, row) {
      out['flags'].set([1, 0], row * 2);
      out['code'].set(agent === 0 ? [0, 1, 0] : [0, 0, 0], row * 3);
      out['index'][row] = 3;
      out['numbers'].set([agent, -7.5], row * 2);
      out['picture'].set([0, 51, 102, 255], row * 4);
    },
    isActive: (state, offset) => state[offset] < 9,
    elapsed: (state, offset) => state[offset],
  };
}

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

/** Parameters whose heads give zeros, so that the prediction is "nothing changes". */
function silent(model: WorldModel): NamedArrays {
  return Object.fromEntries(
    Object.entries(model.init(createGenerator(1))).map(([name, { data, shape }]) => {
      const isHead = /^(field|masks|rewards|terminated)|change/.test(name);
      return [name, isHead ? { data: new Float32Array(data.length), shape } : { data, shape }];
    }),
  );
}

const tensors = (rows: NamedArrays) =>
  Object.fromEntries(
    Object.entries(rows).map(([name, { data, shape }]) => [name, tf.tensor(data as never, [...shape])]),
  );

const rolloutOf = (game: Game) => {
  const agents = game.agents.map((id) => randomAgent({ game, id }));
  return createRollout(vectorEnv(game, { envs: 2, seed: 1 }), agents, createGenerator(1));
};

async function transitions(game: Game, history = 0, steps = 4): Promise<NamedArrays> {
  return observationTransitions(await rolloutOf(game).collect(steps), { game, history });
}

describe('a model of observations that has learned nothing', () => {
  it('expects every field to stay, by its kind', async () => {
    const model = observationsWorldModel()(kinds());
    const rows = await transitions(kinds());
    const imagined = model.imagine(tensors(silent(model)), tensors(rows));
    const numbers = (name: string) => Array.from(imagined[name].dataSync());
    const near = (name: string, expected: number[]) => {
      for (const [i, value] of expected.entries()) expect(numbers(name)[i]).toBeCloseTo(value, 4);
    };
    near('field/flags', [sigmoid(4), sigmoid(-4)]);
    // Three classes and "none"; the logit of the present one is 4: e^4 / (e^4 + 3).
    const stays = Math.exp(4) / (Math.exp(4) + 3);
    const other = 1 / (Math.exp(4) + 3);
    near('field/code', [other, stays, other, other, other, other, other, stays]); // the second agent has none
    near('field/index', [other, other, other, stays]);
    near('field/numbers', [0, -7.5, 1, -7.5]);
    near('field/picture', [0, 51, 102, 255]);
    near('masks', [sigmoid(4), sigmoid(4), sigmoid(-4), sigmoid(4), sigmoid(4), sigmoid(4)]);
    near('rewards', [0, 0]); // the mean of a uniform distribution over symmetric bins
    near('terminated', [0.5, 0.5]);
  });

  it('has the loss that these predictions have', async () => {
    const model = observationsWorldModel()(kinds());
    const rows = await transitions(kinds());
    const { loss, metrics } = model.loss(tensors(silent(model)), tensors(rows));
    const flag = -Math.log(sigmoid(4));
    const code = -Math.log(Math.exp(4) / (Math.exp(4) + 3));
    expect(metrics['observation_loss'].dataSync()[0]).toBeCloseTo(2 * flag + 2 * code, 4); // numbers, picture: no error
    expect(metrics['mask_loss'].dataSync()[0]).toBeCloseTo(3 * flag, 4);
    expect(metrics['reward_loss'].dataSync()[0]).toBeCloseTo(Math.log(81), 4);
    expect(metrics['termination_loss'].dataSync()[0]).toBeCloseTo(Math.log(2), 4);
    expect(loss.dataSync()[0]).toBeCloseTo(5 * flag + 2 * code + Math.log(81) + Math.log(2), 3);
  });

  it('decodes to observations as the game gives them', async () => {
    const model = observationsWorldModel()(kinds());
    const rows = await transitions(kinds());
    const tensorsOf = model.imagine(tensors(silent(model)), tensors(rows));
    const imagined = Object.fromEntries(
      Object.entries(tensorsOf).map(([name, tensor]) => [
        name,
        ndarray(tensor.dataSync() as Float32Array, tensor.shape),
      ]),
    );
    const happened = model.decode(imagined, rows);
    for (const name of ['flags', 'code', 'index', 'picture']) {
      expect(happened[`next/${name}`]).toEqual(rows[`next/${name}`]);
    }
    for (const [i, value] of Array.from(rows['next/numbers'].data).entries()) {
      expect(happened['next/numbers'].data[i]).toBeCloseTo(value as number, 4);
    }
    expect(happened['next/masks']).toEqual(rows['next/masks']);
  });
});

describe('a model of observations with a contrastive loss', () => {
  it('adds it by its weight, and leaves all other parts and parameters as they are', { tags: ['slow'] }, async () => {
    const rows = tensors(await transitions(kinds()));
    const plain = observationsWorldModel()(kinds());
    const contrastive = observationsWorldModel({ contrastive: { weight: 0.5 } })(kinds());
    const params = contrastive.init(createGenerator(1));
    const { 'contrast/kernel': kernel, 'contrast/bias': bias, ...others } = params;
    expect(others).toEqual(plain.init(createGenerator(1)));
    expect([kernel.shape, bias.shape]).toEqual([[256, 256], [256]]);
    const without = plain.loss(tensors(others), rows);
    const { loss, metrics } = contrastive.loss(tensors(params), rows);
    const { contrastive_loss, ...parts } = metrics;
    const numbers = (record: Readonly<Record<string, tf.Tensor>>) =>
      Object.entries(record).map(([name, tensor]) => [name, tensor.dataSync()[0]]);
    expect(numbers(parts)).toEqual(numbers(without.metrics));
    const expected = without.loss.dataSync()[0] + 0.5 * contrastive_loss.dataSync()[0];
    expect(loss.dataSync()[0]).toBeCloseTo(expected, 3);
    expect(contrastive_loss.dataSync()[0]).toBeGreaterThan(0);
  });

  it('cannot tell equal observations apart: log B', async () => {
    const rows = await transitions(kinds(), 0, 1);
    const same = { ...rows, actions: ndarray(new Int32Array(4), [2, 2]) }; // two games, each in its first step
    const model = observationsWorldModel({ contrastive: { weight: 1 } })(kinds());
    const { metrics } = model.loss(tensors(model.init(createGenerator(1))), tensors(same));
    expect(metrics['contrastive_loss'].dataSync()[0]).toBeCloseTo(Math.log(2), 5);
  });

  it('learns, logs its loss, and with a weight of 0 is the model without it, to the bit', {
    tags: ['learning'],
  }, async () => {
    const game = snowdrift({ size: 3, agents: 2, drifts: 2, maxSteps: 9 });
    const rows = await transitions(game, 0, 16);
    const learn = async (contrastive?: { weight: number; temperature?: number }) => {
      const model = observationsWorldModel(contrastive ? { contrastive } : {});
      const learner = createWorldModel({ game, model, batchSize: 8 });
      await learner.initialise(createGenerator(1));
      const metrics = await learner.pretrain(rows, { steps: 64, generator: createGenerator(2) });
      const params = await learner.parameters();
      learner.dispose();
      return { metrics, params };
    };
    const plain = await learn();
    expect(await learn({ weight: 0 })).toEqual(plain);
    expect(plain.metrics['world_model/contrastive_loss']).toBeUndefined();
    const { metrics, params } = await learn({ weight: 1, temperature: 0.2 });
    expect(metrics['world_model/contrastive_loss']).toBeLessThan(Math.log(8));
    expect(params[0]['body/0/kernel'].data).not.toEqual(plain.params[0]['body/0/kernel'].data);
  });

  it('is an option of this model only', () => {
    const contrastive = { contrastive: { weight: 1 } } as object;
    expect(() => cellsWorldModel(contrastive)).toThrow(/cellsWorldModel.*unknown option "contrastive"/);
    expect(() => planesWorldModel(contrastive)).toThrow(/planesWorldModel.*unknown option "contrastive"/);
    const noWeight = { contrastive: {} } as object;
    expect(() => observationsWorldModel(noWeight)).toThrow(/contrastive.weight/);
    expect(() => observationsWorldModel({ contrastive: { weight: 1, temperature: 0 } })).toThrow(/temperature/);
  });
});

describe('the game of a model of observations', () => {
  it('gives agents what the game itself gives them', () => {
    const model = observationsWorldModel({ history: 2 })(kinds());
    const [real, seen] = [kinds(), model.game].map((game) => vectorEnv(game, { envs: 2, seed: 1 }));
    expect(seen.observations).toEqual(real.observations);
    expect(seen.masks).toEqual(real.masks);
    expect(seen.active).toEqual(real.active);
    expect(() => seen.step(new Int32Array(4))).toThrow(/Play it in the simulator of a model of observations/);
  });

  it('holds the same as rows before a step, there and back', async () => {
    const agents = kinds().agents.map((id) => randomAgent({ game: kinds(), id }));
    const rollout = createRollout(vectorEnv(kinds(), { envs: 2, seed: 1 }), agents, createGenerator(1));
    const experience = await rollout.collect(12); // an episode has 9 steps
    const steps = Int32Array.from({ length: 24 }, (_, step) => step);
    for (const history of [0, 1, 3]) {
      const model = observationsWorldModel({ history })(kinds());
      const rows = observationRows(experience, steps, { game: kinds(), history });
      const { elapsed, ...expected } = rows;
      const states = model.statesOf!(rows);
      expect(model.encode(states, rows['actions'].data as Int32Array)).toEqual(expected);
      expect(Array.from(elapsed.data)).toEqual([0, 1].flatMap(() => [0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2]));
    }
  });

  it('moves the step that was played into the history', async () => {
    const model = observationsWorldModel({ history: 2 })(kinds());
    const agents = kinds().agents.map((id) => randomAgent({ game: kinds(), id }));
    const rollout = createRollout(vectorEnv(kinds(), { envs: 1, seed: 1 }), agents, createGenerator(1));
    const experience = await rollout.collect(6);
    const at = (step: number) => observationRows(experience, Int32Array.of(step), { game: kinds(), history: 2 });
    const states = model.statesOf!(at(0));
    for (let step = 0; step < 5; step++) {
      const next = at(step + 1);
      const happened: NamedArrays = {
        ...Object.fromEntries(Object.keys(kinds().observation).map((name) => [`next/${name}`, next[name]])),
        'next/masks': next['masks'],
        actions: at(step)['actions'],
        terminated: ndarray(new Uint8Array(2), [1, 2]),
      };
      model.write(happened, 0, states, 0);
      expect(states).toEqual(model.statesOf!(next));
    }
  });
});

/** The game with another field, or with another declaration of one. */
const withField = (name: string, field: ObservationField): Game => {
  const game = kinds();
  return { ...game, observation: { ...game.observation, [name]: field } } as Game;
};

/** A small learner, and a batch of experience of its game. */
async function learnerOf(game: Game, model = observationsWorldModel({ network: mlp({ hidden: [4] }) })) {
  const learner = createWorldModel({ game, model, executor: 'eager', batchSize: 4, stepsPerUpdate: 1 });
  await learner.initialise(createGenerator(1));
  return learner;
}

describe('a model of observations refuses, and names,', () => {
  const make = (game: Game) => () => createWorldModel({ game });

  it('fields that no row or tensor can hold, when it is made', () => {
    const vector = { shape: [1], dtype: 'float32', kind: 'vector' } as const;
    expect(make(withField('masks', vector))).toThrow(/observation of kinds: expected fields of other names.*got masks/);
    expect(make(withField('next/x', vector))).toThrow(/got next\/x\. Rename the field/);
    expect(make(withField('wide', { ...vector, dtype: 'uint32' }))).toThrow(/a dtype other than uint32, got wide/);
  });

  it('whole numbers that float32 rounds', async () => {
    const game: Game = {
      ...withField('count', { shape: [1], dtype: 'int32', kind: 'vector' }),
      observe(state, offset, agent, out, row) {
        kinds().observe(state as Float32Array, offset, agent, out, row);
        out['count'][row] = 2 ** 24 + (state[offset] === 3 ? 1 : 0);
      },
    };
    const learner = await learnerOf(game);
    learner.push(await rolloutOf(game).collect(2)); // 2 ** 24 itself is exact
    expect(learner.store.size).toBe(4);
    const later = await rolloutOf(game).collect(4);
    expect(() => learner.push(later)).toThrow(/to 16777216 in the observation field count, got 16777217 for a/);
    learner.dispose();
  });

  it("numbers of an episode's last observation, which is only among the next ones", async () => {
    const withLast = (last: number): Game => ({
      ...withField('count', { shape: [1], dtype: last > 9 ? 'int32' : 'float32', kind: 'vector' }),
      observe(state, offset, agent, out, row) {
        kinds().observe(state as Float32Array, offset, agent, out, row);
        out['count'][row] = state[offset] === 9 ? last : 0;
      },
    });
    for (const [last, message] of [
      [2 ** 24 + 1, /to 16777216 in the observation field next\/count, got 16777217 for a, transition 8/],
      [Number.NaN, /finite numbers in the observation field "next\/count".*got NaN for a, transition 8/],
    ] as const) {
      for (const view of ['joint', 'own'] as const) {
        const game = withLast(last);
        const learner = await learnerOf(game, observationsWorldModel({ view, network: mlp({ hidden: [4] }) }));
        const played = await rolloutOf(withLast(0)).collect(9); // nine steps are an episode
        const wrong = { ...played.cuts.observations, count: (last > 9 ? Int32Array : Float32Array).of(last, 0, 0, 0) };
        const { observation } = game;
        const count = new (last > 9 ? Int32Array : Float32Array)(36);
        const observations = { ...played.observations, count };
        const experience = { ...played, observation, observations, cuts: { ...played.cuts, observations: wrong } };
        expect(() => learner.push(experience)).toThrow(view === 'joint' ? message : /got (16777217|NaN) for a/);
        learner.dispose();
      }
    }
  });

  it('rewards beyond the last bins, e^4 - 1', async () => {
    const played = await rolloutOf(kinds()).collect(4);
    const paying = (reward: number) => ({ ...played, rewards: played.rewards.map((_, i) => (i === 5 ? reward : 0)) });
    const own = observationsWorldModel({ view: 'own', network: mlp({ hidden: [4] }) });
    for (const [model, place] of [
      [observationsWorldModel({ network: mlp({ hidden: [4] }) }), 'b, transition 2'],
      [own, 'b, transition 5'], // a row for each agent
    ] as const) {
      const learner = await learnerOf(kinds(), model);
      learner.push(paying(53.59));
      learner.push(paying(-53.59));
      const message = `rewards from -53.598 to 53.598, got 600 for ${place}. Scale the rewards`;
      expect(() => learner.push(paying(600))).toThrow(message);
      expect(() => learner.push(paying(-53.7))).toThrow(/got -53\.7/);
      learner.dispose();
    }
    const grid = snowdrift({ size: 3, agents: 2, drifts: 2 });
    const steps = await rolloutOf(grid).collect(2);
    const rich = { ...steps, rewards: steps.rewards.map(() => 60) };
    const learned = await learnerOf(grid, cellsWorldModel({ filters: [2], rewards: 'two-hot' }));
    expect(() => learned.push(rich)).toThrow(/cellsWorldModel.*got 60 for agent_0, transition 0/);
    const ruled = await learnerOf(grid, cellsWorldModel({ filters: [2] })); // predicts by events, without bins
    ruled.push(rich);
    for (const each of [learned, ruled]) each.dispose();
  });

  it('rows that no game gives, in a restore and in predict', async () => {
    const model = observationsWorldModel({ view: 'own', history: 2, network: mlp({ hidden: [4] }) });
    const learner = await learnerOf(kinds(), model);
    learner.push(await rolloutOf(kinds()).collect(4));
    const saved = await learner.state();
    const columns = {
      ...{ numbers: Number.NaN, 'next/numbers': Number.NaN, 'past/numbers': Number.NaN, code: 7, 'next/code': 7 },
      ...{ flags: 2, index: 4, actions: 3, 'past/actions': 3, seat: 2, elapsed: -3, masks: 2, active: 5, rewards: 60 },
    };
    for (const [column, value] of Object.entries(columns)) {
      const bad = structuredClone(saved) as unknown as { store: { rows: NamedArrays } };
      bad.store.rows[column].data.fill(value);
      const named = new RegExp(`worldModel\\.restore: saved\\.store\\.rows.*${column}.*got ${value}`);
      await expect(learner.restore(bad as unknown as SavedState)).rejects.toThrow(named);
    }
    await learner.restore(saved);
    const rows = learner.transitions(await rolloutOf(kinds()).collect(4));
    rows['seat'].data.fill(2);
    await expect(learner.predict(rows)).rejects.toThrow(/worldModel\.predict: rows: seat.*from 0 to 1.*got 2/);
    learner.dispose();
  });

  it('a seat, and what an agent cannot see', async () => {
    const own = observationsWorldModel({ view: 'own' });
    expect(() => createWorldModel({ game: kinds(), model: own, seat: 1 })).toThrow(
      /option seat: expected no seat.*got 1/,
    );
    const model = own(kinds());
    const { stateSize } = model.game;
    const env = vectorEnv(kinds(), { envs: 1 });
    const observations = Object.fromEntries(
      Object.entries(env.observations).map(([name, data]) => [name, data.slice(0, data.length / 2)]),
    );
    const seen = {
      ...{ rows: 1, observations, masks: new Uint8Array(3).fill(1), active: Uint8Array.of(1, 1) },
      ...{ isFirst: Uint8Array.of(1), previousActions: Int32Array.of(-1, -1) },
    };
    expect(model.see!(1, seen, new Float32Array(stateSize))).toHaveLength(stateSize);
    expect(() => model.see!(2, seen, new Float32Array(stateSize))).toThrow(/worldModel\.see: seat.*0 to 1, got 2/);
    expect(() => model.see!(1, seen, new Float32Array(3))).toThrow(/worldModel\.see: before: expected Float32Array of/);
    const short = { ...seen, observations: { ...observations, numbers: new Float32Array(1) } };
    expect(() => model.see!(1, short, new Float32Array(stateSize))).toThrow(/seen\.observations\.numbers/);
    const joint = observationsWorldModel()(kinds());
    const before = new Float32Array(joint.game.stateSize);
    expect(() => joint.see!(1, seen, before)).toThrow(/worldModel\.see: seen\.states: expected Float32Array of 2/);
  });

  it('batches that are too short for the history', async () => {
    for (const view of ['joint', 'own'] as const) {
      const model = observationsWorldModel({ view, history: 3, network: mlp({ hidden: [4] }) });
      const learner = await learnerOf(kinds(), model);
      const rollout = rolloutOf(kinds());
      learner.push(await rollout.collect(3)); // the beginnings of episodes: no step has a past elsewhere
      const next = await rollout.collect(3);
      expect(() => learner.push(next)).toThrow(/experience\.steps: expected more steps than .* history of 3, got 3\./);
      learner.push(await rollout.collect(4)); // of steps 6 to 8 none has a past of 3 here; the fourth begins an episode
      expect(learner.store.pushed).toBe(view === 'joint' ? 8 : 16);
      learner.dispose();
    }
  });

  it('rewards that are not numbers', async () => {
    const learner = await learnerOf(kinds());
    const played = await rolloutOf(kinds()).collect(4);
    const wrong: Experience = { ...played, rewards: played.rewards.map((_, i) => (i === 5 ? Number.NaN : 0)) };
    expect(() => learner.push(wrong)).toThrow(/worldModel\.push: experience\.rewards.*at index 5, got NaN/);
    const rows = learner.transitions(played);
    const bad = { ...rows, rewards: ndarray(rows['rewards'].data.map(() => Number.NaN) as Float32Array, [8, 2]) };
    const options = { steps: 1, generator: createGenerator(1) };
    await expect(learner.pretrain(bad, options)).rejects.toThrow(/worldModel\.pretrain: data\.rewards.*got NaN/);
    learner.dispose();
  });

  it('parameters of another model of equal shapes, in a restore', async () => {
    const network = (activation: 'relu' | 'tanh') => mlp({ hidden: [4], activation });
    const learner = await learnerOf(kinds(), observationsWorldModel({ network: network('relu') }));
    const saved = structuredClone(await learner.state()) as SavedState;
    const numbers = kinds().observation['numbers'];
    const others = {
      'network.activation: expected "tanh", got "relu"': [kinds(), { network: network('tanh') }],
      'tolerance: expected 0.1, got 0.05': [kinds(), { network: network('relu'), tolerance: 0.1 }],
      'history: expected 2, got 0': [kinds(), { network: network('relu'), history: 2 }],
      'observation.numbers.dtype: expected "int16", got "float32"': [
        withField('numbers', { ...numbers, dtype: 'int16' }),
        { network: network('relu') },
      ],
      'observation.flags.kind: expected "vector", got "planes"': [
        withField('flags', { ...kinds().observation['flags'], kind: 'vector' }),
        { network: network('relu') },
      ],
    } as const;
    for (const [message, [game, options]] of Object.entries(others)) {
      const other = await learnerOf(game, observationsWorldModel(options));
      await expect(other.restore(saved)).rejects.toThrow(`worldModel.restore: saved.model.${message}`);
      other.dispose();
    }
    await learner.restore(saved);
    learner.dispose();
  });
});

it('learns from steps whose history is in the experience, or whose episode has just begun', async () => {
  const learner = await learnerOf(kinds(), observationsWorldModel({ network: mlp({ hidden: [4] }), history: 3 }));
  const rollout = rolloutOf(kinds());
  const elapsed = async (steps: number) => [...learner.transitions(await rollout.collect(steps))['elapsed'].data];
  expect(await elapsed(5)).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
  // Steps 5 to 8 of the episodes, then the next ones begin: steps 5 to 7 have no 3 steps before them here.
  expect(await elapsed(6)).toEqual([8, 0, 1, 8, 0, 1]);
  learner.dispose();
});
