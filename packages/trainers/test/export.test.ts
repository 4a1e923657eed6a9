import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AgentInput, allocate, createGenerator, type Game, type NamedArrays, ndarray } from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { stagHunt } from '@coplay/envs';
import { conv, layersModel, mlp } from '@coplay/models';
import { type StepFunction, tf, useBackend, writeWeights } from '@coplay/tensor';
import {
  exportOnnx,
  frozen,
  type PpoAgent,
  type PpoAgentOptions,
  ppoAgent,
  selfPlay,
  sharedPpoAgents,
  toOnnx,
} from '@coplay/trainers';
import * as layers from '@tensorflow/tfjs-layers';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  checkWithPython,
  expectClose,
  python,
  runNode,
  runWeb,
  temporaryDirectory,
} from '../../tensor/test/onnx-files';

beforeAll(() => useBackend('cpu'));

const game = stagHunt({ size: 4, agents: 3, stags: 1, hares: 2 });

/** The same rules under other names of fields, with numbers that ONNX files don't take as they are. */
const odd: Game = {
  ...game,
  observation: { mask: { shape: [2, 3], dtype: 'int16' }, counts: { shape: [], dtype: 'int32' } },
} as Game;

/** Random observations in so many rows. */
function inputOf({ observation, actions, agents }: Game, rows: number): AgentInput {
  const generator = createGenerator(rows + 1);
  const whole = (below: number) => Math.floor(below * generator.uniform());
  const observations = Object.fromEntries(
    Object.entries(observation).map(([name, { shape, dtype, kind }]) => {
      const below = kind === 'planes' ? 2 : 3;
      return [name, allocate(dtype, rows * sizeOf(shape)).map(() => whole(below)) as Uint8Array];
    }),
  );
  return {
    rows,
    observations,
    masks: Uint8Array.from({ length: rows * actions }, (_, i) => (i % actions === 0 ? 1 : whole(2))),
    active: new Uint8Array(rows).fill(1),
    isFirst: new Uint8Array(rows),
    previousActions: Int32Array.from({ length: rows * agents.length }, () => whole(actions + 1) - 1),
  };
}

/** The same with each agent on one cell of the board, and in the last row on none. */
function standing(input: AgentInput, { observation }: Game): AgentInput {
  const [name, { shape, channels = [] }] = Object.entries(observation).find(([, field]) => field.channels)!;
  const [cells, depth] = [shape[0] * shape[1], shape[2]];
  const image = input.observations[name].slice() as Uint8Array;
  const self = channels.indexOf('self');
  for (let cell = 0; cell < input.rows * cells; cell++) image[cell * depth + self] = 0;
  for (let row = 0; row < input.rows - 1; row++) image[(row * cells + ((7 * row + 2) % cells)) * depth + self] = 1;
  return { ...input, observations: { ...input.observations, [name]: image } };
}

/** What the file is fed: the input as it is, by the file's names. */
function feedsOf({ observation, actions, agents }: Game, input: AgentInput, extra: NamedArrays): NamedArrays {
  const feeds: NamedArrays = { mask: ndarray(input.masks, [input.rows, actions]), ...extra };
  for (const [name, { shape, dtype }] of Object.entries(observation)) {
    const data = input.observations[name];
    const given = dtype === 'int16' ? Float32Array.from(data) : data;
    feeds[name === 'mask' ? 'observation/mask' : name] = ndarray(given, [input.rows, ...shape]);
  }
  if ('previousActions' in extra)
    feeds['previousActions'] = ndarray(input.previousActions, [input.rows, agents.length]);
  return feeds;
}

async function ready(options: Omit<PpoAgentOptions, 'game' | 'id'>, rules: Game = game): Promise<PpoAgent> {
  const agent = ppoAgent({ game: rules, id: 'agent_1', ...options });
  await agent.learner.initialise(createGenerator(5));
  await sharpen(agent);
  return agent;
}

/** First policies are nearly uniform: larger heads tell more. */
async function sharpen({ learner }: PpoAgent): Promise<void> {
  const { params } = learner.network.groups;
  const arrays = await params.read();
  for (const name of ['actor/head/kernel', 'critic/head/kernel']) {
    for (const [i, value] of arrays[name].data.entries()) arrays[name].data[i] = 50 * value;
  }
  params.write(arrays);
}

const own = () =>
  layersModel((_, size) => layers.sequential({ layers: [layers.layers.dense({ inputShape: [size], units: 6 })] }));

const cases: [string, () => Promise<PpoAgent>, Game][] = [
  ['an MLP', () => ready({}), game],
  ['all inputs', () => ready({ inputs: { previousActions: true, agentId: true, mask: true } }), game],
  ['convolutions', () => ready({ network: conv({ filters: [4], dense: 8 }), inputs: { agentId: true } }), game],
  ['a GRU', () => ready({ network: mlp({ hidden: [8] }), recurrent: 5, inputs: { previousActions: true } }), game],
  ['a LayersModel', () => ready({ network: own() }), game],
  ['images in the middle', () => ready({ inputs: { centred: true } }), game],
  ['fields with odd names', () => ready({}, odd), odd],
];

/** The additional inputs of a policy with memory. */
function extrasOf(agent: PpoAgent, rows: number): NamedArrays {
  const { net, inputs } = agent.learner.setup;
  const state = Float32Array.from({ length: rows * net.stateSize }, (_, i) => Math.sin(i));
  return {
    ...(net.stateSize > 0 ? { state: ndarray(state, [rows, net.stateSize]) } : {}),
    ...(inputs.previousActions ? { previousActions: ndarray(new Int32Array(0)) } : {}),
  };
}

/** A policy's file, what to feed it in 1, 2 and 7 rows, and what the agent itself answers. */
async function prepare(make: () => Promise<PpoAgent>, rules: Game) {
  const agent = await make();
  const rows = [1, 2, 7];
  const random = rows.map((count) => inputOf(rules, count));
  const inputs = agent.learner.setup.inputs.centred ? random.map((input) => standing(input, rules)) : random;
  const extras = rows.map((count) => extrasOf(agent, count));
  const expected: NamedArrays[] = [];
  for (const [i, input] of inputs.entries()) {
    const state = (extras[i]['state']?.data as Float32Array | undefined) ?? new Float32Array(0);
    const { policy, next } = await agent.learner.policy.act(input, 1, state);
    expected.push({
      logProbs: ndarray(policy, [input.rows, rules.actions]),
      ...(state.length > 0 ? { nextState: ndarray(next, [input.rows, state.length / input.rows]) } : {}),
    });
  }
  const feeds = inputs.map((input, i) => feedsOf(rules, input, extras[i]));
  return { bytes: await toOnnx(agent), feeds, expected };
}

describe('the exported policy', () => {
  it.each(cases)(
    'of an agent with %s gives the log-probabilities that the agent acts by, in onnxruntime-node and onnxruntime-web',
    { tags: ['slow'] },
    async (_, make, rules) => {
      const { bytes, feeds, expected } = await prepare(make, rules);
      for (const run of [runNode, runWeb]) {
        const runs = await run(bytes, feeds);
        for (const [i, outputs] of expected.entries()) expectClose(runs[i], outputs);
      }
    },
  );

  it.skipIf('missing' in python)(
    `of each passes onnx's checker and gives the same in Python${'missing' in python ? ` (skipped: ${python.missing})` : ''}`,
    async () => {
      const prepared = await Promise.all(cases.map(([, make, rules]) => prepare(make, rules)));
      const reports = checkWithPython(prepared);
      for (const [i, { expected }] of prepared.entries()) {
        for (const [j, outputs] of expected.entries()) expectClose(reports[i].runs[j], outputs);
        expect(reports[i].domains).toEqual(['']);
        expect(reports[i].metadata).toMatchObject({ 'coplay.game': 'stag-hunt', 'coplay.agent': 'agent_1' });
        expect(JSON.parse(reports[i].metadata['coplay.actions'])).toEqual(game.actionNames);
      }
    },
  );
});

describe('exportOnnx', () => {
  it('takes the seat into account that it is told', async () => {
    const inputs = { previousActions: true, agentId: true };
    const [first] = sharedPpoAgents({ game, inputs });
    await first.learner.initialise(createGenerator(2));
    await sharpen(first);
    const input = inputOf(game, 3);
    for (const [seat, id] of game.agents.entries()) {
      const feeds = feedsOf(game, input, extrasOf(first, 3));
      const [{ logProbs }] = await runNode(await toOnnx(first, { id }), [feeds]);
      const expected = await first.learner.policy.act(input, seat, new Float32Array(0));
      expectClose({ logProbs }, { logProbs: ndarray(expected.policy, [3, game.actions]) });
    }
  });

  it.each([0, 4])('adds the value in the unit of returns, GRU of %i units', { tags: ['slow'] }, async (recurrent) => {
    const agent = await ready({ recurrent, ppo: { normaliseValues: true } });
    const run = selfPlay({ game, agents: [agent, ...others()], envs: 2, steps: 8 });
    await run.train({ envSteps: 16 }); // the normaliser has seen returns
    const input = inputOf(game, 4);
    const extras = extrasOf(agent, 4);
    if (recurrent > 0) extras['criticState'] = ndarray(new Float32Array(16).fill(0.5), [4, 4]);
    const feeds = feedsOf(game, input, extras);
    const file = join(temporaryDirectory(), 'agent.onnx');
    const { outputs } = await exportOnnx(agent, file, { value: true, metadata: { note: 'trained for 16 steps' } });
    expect(outputs['value']).toEqual({ shape: ['batch'], dtype: 'float32' });
    const [got] = await runNode(readFileSync(file), [feeds]);
    const expected = await valuesOf(agent, input, extras);
    expectClose({ value: got['value'] }, { value: expected });
    expect(readFileSync(file).includes('trained for 16 steps')).toBe(true);
    run.dispose();
  });

  it('takes a function too', async () => {
    const double: StepFunction<never> = (_, { x }) => ({ outputs: { y: tf.mul(x, 2) } });
    const told = { name: 'double', inputs: { x: { shape: ['batch'] as const } } };
    const [{ y }] = await runNode(await toOnnx(double, told), [{ x: ndarray(Float32Array.of(1, 2)) }]);
    expect(Array.from(y.data)).toEqual([2, 4]);
    const { size } = await exportOnnx(double, join(temporaryDirectory(), 'f.onnx'), told);
    expect(size).toBe((await toOnnx(double, told)).length);
  });

  it('refuses what has no policy, no parameters, no such seat, or a critic that sees more', async () => {
    const agent = ppoAgent({ game, id: 'agent_0', critic: 'joint' });
    await expect(toOnnx(agent)).rejects.toThrow(/parameters, got none yet/);
    await agent.learner.initialise(createGenerator(1));
    await expect(toOnnx(frozen(agent) as PpoAgent)).rejects.toThrow(/toOnnx: expected an agent of ppoAgent\(\)/);
    await expect(toOnnx(agent, { id: 'agent_9' })).rejects.toThrow(/option id: expected an id of stag-hunt/);
    await expect(toOnnx(agent, { value: true })).rejects.toThrow(/option value: expected a critic that reads/);
    await expect(toOnnx(agent, { values: true } as object)).rejects.toThrow(/unknown option "values"/);
    await expect(toOnnx(agent)).resolves.toBeInstanceOf(Uint8Array);
  });
});

function others(): PpoAgent[] {
  return ['agent_0', 'agent_2'].map((id) => ppoAgent({ game, id }));
}

/** The critic's values by the network itself, in float64 from its normaliser's saved moments. */
async function valuesOf({ learner }: PpoAgent, input: AgentInput, extras: NamedArrays) {
  const { net, criticEncoder } = learner.setup;
  const encoded = criticEncoder.encode({ ...input, seat: 1, offset: 0, stride: 1, extras: {} });
  const inputs = Object.fromEntries(
    Object.entries(encoded).map(([name, { data, shape }]) => [name, tf.tensor(Float32Array.from(data), [...shape])]),
  );
  const state = extras['criticState'];
  const memory = state && {
    state: tf.tensor2d(state.data as Float32Array, [4, 4]),
    isFirst: tf.zeros([4, 1]) as tf.Tensor2D,
  };
  const { values } = net.value(learner.network.groups.params.tensors(), { inputs, ...memory });
  const { mean, spread } = (await learner.state())['valueNorm'] as { mean: number; spread: number };
  const deviation = Math.sqrt(Math.max(0.01, spread)); // its variance, floored
  return ndarray(values.dataSync().map((value) => value * deviation + mean) as Float32Array);
}

describe('the LayersModel of an agent', () => {
  it('is used eagerly before, between and after training, and gets trained weights by writeWeights', async () => {
    const models: layers.LayersModel[] = [];
    const build = (_: object, size: number) => {
      const model = layers.sequential({
        layers: [layers.layers.dense({ inputShape: [size], units: 6, activation: 'tanh' })],
      });
      models.push(model);
      return model;
    };
    const agent = ppoAgent({ game, id: 'agent_1', network: layersModel(build) });
    const [actor] = models; // the actor's; the critic has one of its own
    const run = selfPlay({ game, agents: [agent, ...others()], envs: 2, steps: 8 });
    const size = actor.inputs[0].shape[1] as number;
    const x = tf.tensor2d(
      Float32Array.from({ length: 2 * size }, (_, i) => i % 3),
      [2, size],
    );
    const predict = () => [...(actor.predict(x) as tf.Tensor).dataSync()];

    const before = predict();
    await run.train({ envSteps: 16 });
    expect(predict()).toEqual(before);
    writeWeights(actor, await agent.learner.parameters(), 'actor/body');
    const between = predict();
    expect(between).not.toEqual(before);
    await run.train({ envSteps: 32 });
    expect(predict()).toEqual(between);
    writeWeights(actor, await agent.learner.parameters(), 'actor/body');

    const { 'actor/body/weight_0': kernel, 'actor/body/weight_1': bias } = await agent.learner.parameters();
    const byHand = tf.tanh(
      tf.add(tf.matMul(x, tf.tensor2d(kernel.data as Float32Array, [size, 6])), tf.tensor1d(bias.data as Float32Array)),
    );
    expect(predict()).toEqual([...byHand.dataSync()]);
    expect(predict()).not.toEqual(between);
    run.dispose();
    expect(() => predict()).not.toThrow();
  });
});
