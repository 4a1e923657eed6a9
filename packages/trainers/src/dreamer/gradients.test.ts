import { type NamedArrays, ndarray } from '@coplay/core';
import type { DreamerActions } from '@coplay/models/dreamer';
import { useBackend, valueAndGradients } from '@coplay/tensor';
import { useThreads } from '@coplay/tensor/threads';
import { beforeAll, describe, expect, it } from 'vitest';
import { byGroup, criticOf, dreamerNetwork, dreamerOptimiser, jointLoss } from './algorithm';
import type { DreamerParts } from './data';
import type { DreamerLossScales, DreamerOptions } from './options';
import { smallBatch, smallParts, stirred, tensorsOf } from './test-batch';

beforeAll(async () => {
  await useBackend('cpu');
  useThreads(1); // no trials
});

const NONE: Required<DreamerLossScales> = {
  ...{ dynamics: 0, representation: 0, reconstruction: 0, reward: 0, continue: 0, legal: 0, coPlayers: 0 },
  ...{ policy: 0, value: 0, replayValue: 0 },
};

/** Actions that aren't one choice. */
const OTHERS: readonly DreamerActions[] = [
  { kind: 'continuous', size: 2 },
  { kind: 'multi-discrete', counts: [2, 3] },
];

/** Which parameters one loss alone would move: names whose gradient isn't exactly 0. */
function moved(loss: keyof DreamerLossScales, options: DreamerOptions = {}, actions?: DreamerActions): string[] {
  const parts = smallParts({ freeNats: 0, lossScales: { ...NONE, [loss]: 1 }, ...options }, 0, actions);
  const params = tensorsOf(stirred(parts.nets));
  const range = tensorsOf({ low: ndarray(new Float32Array(1), []), high: ndarray(new Float32Array(1), []) });
  const state = { slow: criticOf(params), range } as never;
  const { gradients } = valueAndGradients((own) => jointLoss(parts, state, own, tensorsOf(smallBatch(parts))), params);
  return Object.keys(gradients).filter((name) => gradients[name].dataSync().some((x) => x !== 0));
}

const modulesOf = (names: readonly string[]) => [...new Set(names.map((name) => name.split('/')[0]))].sort();

// Section "coupling" of the paper's code: which loss teaches which module.
describe('the gradient of each loss', () => {
  it.each([
    ['policy', ['pol']],
    ['value', ['val']],
    ['replayValue', ['dyn', 'enc', 'val']],
    ['reward', ['dyn', 'enc', 'rew']],
    ['continue', ['con', 'dyn', 'enc']],
    ['reconstruction', ['dec', 'dyn', 'enc']],
    ['dynamics', ['dyn', 'enc']],
    ['representation', ['dyn', 'enc']],
  ] as const)('%s reaches %j alone', (loss, modules) => {
    expect(modulesOf(moved(loss))).toEqual(modules);
  });

  it.each(OTHERS)('of the policy over other actions reaches the policy alone: %j', (actions) => {
    expect(modulesOf(moved('policy', {}, actions))).toEqual(['pol']);
  });

  it('of the dynamics does not reach the posterior of its own step, that of the representation never the prior', () => {
    const layers = (names: readonly string[], part: string) => names.filter((name) => name.startsWith(`dyn/${part}`));
    // A sequence of two steps that begin episodes: no latent of an earlier step can carry a gradient.
    const apart = { sequenceLength: 2, starts: 'last' } as const;
    const dynamics = moved('dynamics', apart);
    expect(layers(dynamics, 'prior').length).toBeGreaterThan(0);
    expect(layers(moved('representation'), 'prior')).toEqual([]);
    expect(layers(moved('representation'), 'obs').length).toBeGreaterThan(0);
    expect(layers(moved('dynamics'), 'obs').length).toBeGreaterThan(0); // through samples of earlier steps
  });

  it('is exactly 0 for both divergences where they are below the free nats', () => {
    expect(moved('dynamics', { freeNats: 100 })).toEqual([]);
    expect(moved('representation', { freeNats: 100 })).toEqual([]);
  });
});

/** Numbers to begin with. */
function arraysOf(parts: DreamerParts) {
  const { world, behaviour } = byGroup(stirred(parts.nets));
  const optimiser = dreamerOptimiser(parts);
  const zero = () => ndarray(new Float32Array(1), []);
  return {
    ...{ world, behaviour, slow: criticOf(behaviour), range: { low: zero(), high: zero() } },
    ...{ worldSlots: optimiser.init(world), behaviourSlots: optimiser.init(behaviour) },
  };
}

type Kind = 'joint' | 'coupled' | 'world' | 'behaviour';

/** All numbers after updates of these kinds on one batch. */
async function after(
  kinds: readonly Kind[],
  options: DreamerOptions = {},
  executor: 'eager' | 'onnx' = 'eager',
  actions?: DreamerActions,
) {
  const parts = smallParts(options, 0, actions);
  const network = dreamerNetwork({ ...parts, executor }, 'test');
  network.takeOver('test', 'saved', arraysOf(parts)).keep();
  const batch = smallBatch(parts);
  let outputs: NamedArrays = {};
  for (const kind of kinds) outputs = { ...outputs, ...((await network.functions[kind](batch)) as NamedArrays) };
  const read = async (group: keyof typeof network.groups) => network.groups[group].read();
  const groups = { world: await read('world'), behaviour: await read('behaviour'), slow: await read('slow') };
  const range = await read('range');
  network.dispose();
  return { ...groups, range, outputs };
}

const textOf = (arrays: NamedArrays) => JSON.stringify(Object.values(arrays).map(({ data }) => [...data]));

describe('the schedules', () => {
  it('coupled: the world model is updated as by itself, and no gradient of actor or critic reaches it', async () => {
    const coupled = await after(['coupled']);
    const alone = await after(['world']);
    expect(textOf(coupled.world)).toBe(textOf(alone.world));
    expect(textOf(coupled.behaviour)).not.toBe(textOf(alone.behaviour));
  });

  it('joint: the replayed value is what reaches the world model, and nothing else of actor and critic does', async () => {
    const alone = await after(['world']);
    const without = await after(['joint'], { lossScales: { replayValue: 0 } });
    const withIt = await after(['joint']);
    expect(largestDifference(without.world, alone.world)).toBeLessThan(1e-6);
    expect(largestDifference(withIt.world, alone.world)).toBeGreaterThan(1e-4);
  });

  it('separate: an update of actor and critic leaves the world model as it is', async () => {
    const both = await after(['world', 'behaviour']);
    const alone = await after(['world']);
    expect(textOf(both.world)).toBe(textOf(alone.world));
    expect(textOf(both.behaviour)).not.toBe(textOf(alone.behaviour));
  });

  it('coupled takes the states that the world model had before its update, separate encodes them afresh', async () => {
    const coupled = await after(['coupled']);
    const separate = await after(['world', 'behaviour']);
    expect(largestDifference(coupled.behaviour, separate.behaviour)).toBeGreaterThan(1e-4);
  });

  it('the slow critic follows the new one: slow + 0.02 (critic - slow)', async () => {
    const parts = smallParts();
    const before = criticOf(byGroup(stirred(parts.nets)).behaviour);
    const { slow, behaviour } = await after(['coupled']);
    const now = criticOf(behaviour);
    for (const [name, { data }] of Object.entries(slow)) {
      data.forEach((x, i) => void expect(x).toBeCloseTo(0.98 * before[name].data[i] + 0.02 * now[name].data[i], 6));
    }
  });
});

describe.each<[Kind, DreamerActions?]>([
  ['joint'],
  ['coupled'],
  ['world'],
  ['behaviour'],
  ['joint', OTHERS[0]],
  ['joint', OTHERS[1]],
])('the update %s %j', (kind, actions) => {
  it('is the same on the eager and the compiled executor', { tags: ['slow'] }, async () => {
    const eager = await after([kind], {}, 'eager', actions);
    const compiled = await after([kind], {}, 'onnx', actions);
    expect(Object.keys(compiled.outputs).sort()).toEqual(Object.keys(eager.outputs).sort());
    for (const [name, { data }] of Object.entries(eager.outputs)) {
      const scale = Math.max(1, ...[...data].map(Math.abs));
      data.forEach(
        (x, i) => void expect(Math.abs(x - compiled.outputs[name].data[i]), name).toBeLessThan(2e-4 * scale),
      );
    }
    for (const group of ['world', 'behaviour', 'slow', 'range'] as const) {
      const size = Math.max(1, ...Object.values(eager[group]).flatMap(({ data }) => Array.from(data, Math.abs)));
      expect(largestDifference(eager[group], compiled[group]) / size, group).toBeLessThan(1e-4);
    }
  });
});

function largestDifference(a: NamedArrays, b: NamedArrays): number {
  const differences = Object.keys(a).map((name) =>
    Math.max(0, ...Array.from(a[name].data, (x, i) => Math.abs(x - b[name].data[i]))),
  );
  return Math.max(...differences);
}
