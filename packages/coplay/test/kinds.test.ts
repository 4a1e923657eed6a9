import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRecording } from '@coplay/envs';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { describe, expect, it } from 'vitest';
import { coplay, written } from './command-line';

const folder = mkdtempSync(join(tmpdir(), 'coplay-kinds-'));
const MATRIX = { name: 'matrix', kind: 'stag-hunt', maxSteps: 4 };
const HUNT = { name: 'stag-hunt', size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 4 };
const network = { kind: 'mlp', hidden: [8] };
const eager = { executor: 'eager' };
const moa = { network, minRows: 8, minibatchSize: 8 };
const search = { trees: 1, simulations: 4 };
const hop = { hop: { minRows: 4, minibatchSize: 4, minibatches: 2 }, search, network, moa, ...eager };
const dreamer = {
  size: 'debug',
  batchSize: 2,
  sequenceLength: 4,
  horizon: 2,
  trainRatio: 1,
  replayCapacity: 256,
  ...eager,
};
const hopPlus = { network, moa, worldModel: { stepsPerUpdate: 1, batchSize: 8 }, omg: false, ...eager };
const bare = { network, worldModel: false, imagined: false, moa: false, omg: false, ...eager };

/** Trains agents for 64 steps, 2 updates; the directory of the run. */
async function trained(game: object, agents: object, seats: object = {}): Promise<string> {
  const run = mkdtempSync(join(folder, 'run-'));
  const configuration = { game, agents, seats, envs: 4, steps: 8, envSteps: 64, log: [] };
  const ended = await coplay(['train', written(folder, configuration), '--directory', run]);
  expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('agent_0') });
  return run;
}

/** The configuration of each learner, by its name. */
function learners(run: string): Record<string, Record<string, unknown>> {
  const config = JSON.parse(readFileSync(join(run, 'config.json'), 'utf8')) as { learners: object };
  return config.learners as Record<string, Record<string, unknown>>;
}

describe('every kind of learning agent trains, and plays what it learned', { tags: ['learning'] }, () => {
  it.each([
    ['ppo', { kind: 'ppo', network, ...eager, reward: 'prosocial' }, 2, 'ppo'],
    ['shared-ppo', { kind: 'shared-ppo', network, criticNetwork: { kind: 'mlp', hidden: [4] }, ...eager }, 1, 'ppo'],
    ['hop-plus', { kind: 'hop-plus', ...hopPlus }, 2, 'hop-plus'],
    ['shared-hop-plus', { kind: 'shared-hop-plus', ...hopPlus }, 1, 'hop-plus'],
    ['hop', { kind: 'hop', ...hop }, 2, 'hop'],
    ['shared-hop', { kind: 'shared-hop', ...hop }, 1, 'hop'],
    ['dreamer', { kind: 'dreamer', ...dreamer }, 2, 'dreamer'],
    ['shared-dreamer', { kind: 'shared-dreamer', ...dreamer, coPlayers: 'moa' }, 1, 'dreamer'],
    ['social-influence', { kind: 'social-influence', network, moa, ...eager }, 2, 'social-influence'],
  ])('%s', async (_, agents, count, algorithm) => {
    const run = await trained(HUNT, agents);
    const found = Object.values(learners(run));
    expect(found.map((learner) => learner['algorithm'])).toEqual(Array(count).fill(algorithm));
    const evaluated = await coplay(['evaluate', run, '--episodes', '4', '--json']);
    expect(JSON.parse(evaluated.out)).toMatchObject({ envSteps: 64, episodes: 4 });
  });

  it('describes networks inside of other options, too', async () => {
    const run = await trained(HUNT, { kind: 'social-influence', network, moa, ...eager });
    const { moa: model } = learners(run)['agent_0'] as { moa: { network: object } };
    expect(model.network).toMatchObject({ kind: 'mlp', hidden: [8] });
  });
});

describe('a preset', () => {
  it('is where the numbers of PPO begin', async () => {
    const agents = { kind: 'shared-ppo', preset: 'stagHunt', ppo: { epochs: 1 }, network, ...eager };
    const run = await trained(MATRIX, agents);
    expect(learners(run)['shared']).toMatchObject({ gamma: 0.99, entropyWeight: { from: 0.05, to: 0 }, epochs: 1 });
  });

  it('is refused where there are none', async () => {
    const configuration = { game: MATRIX, agents: { kind: 'hop', preset: 'stagHunt' }, envSteps: 8 };
    const ended = await coplay(['train', written(folder, configuration), '--directory', join(folder, 'never')]);
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('option agents.preset: expected none but') });
  });
});

describe('rules that need a number', () => {
  it('memory-one plays by its logits, mixed by its probability', async () => {
    // Logits of 50 and -50: who has the first always takes action 0, the other one always action 1.
    const seats = {
      agent_0: { kind: 'memory-one', parameters: [50, 50, 50, 50, 50] },
      agent_1: { kind: 'memory-one', parameters: [-50, -50, -50, -50, -50] },
    };
    const run = await trained(MATRIX, { kind: 'random' }, seats);
    const file = join(run, 'episode.coplay');
    expect((await coplay(['record', run])).code).toBe(0);
    expect((await readRecording(file)).steps.map(({ actions }) => actions)).toEqual(Array(4).fill([0, 1]));
    expect((await trained(HUNT, { kind: 'mixed', p: 0.5 })).length).toBeGreaterThan(0);
  });

  it('refuses other parameters', async () => {
    const configuration = { game: MATRIX, agents: { kind: 'memory-one', parameters: [1, 2] }, envSteps: 8 };
    const ended = await coplay(['train', written(folder, configuration), '--directory', join(folder, 'never')]);
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('memoryOneAgent: option parameters') });
  });

  it.each([
    [{ kind: 'random', netwrk: 1 }, 'the unknown option "netwrk"'],
    [{ kind: 'hop', network: { kind: 'mlpp' } }, 'network: option kind: expected one of "mlp" | "conv"'],
    [{ kind: 'memory-one', logits: [] }, 'memory-one'],
  ])('refuses %j', async (agents, message) => {
    const configuration = { game: HUNT, agents, envSteps: 8 };
    const ended = await coplay(['train', written(folder, configuration), '--directory', join(folder, 'never')]);
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining(message) });
  });
});

describe('coplay export', () => {
  it.each([
    ['ppo', { kind: 'ppo', network, ...eager }, ['joint', 'mask']],
    ['hop-plus without subgoals', { kind: 'hop-plus', ...bare }, ['joint', 'mask', 'previousActions']],
    ['social-influence', { kind: 'social-influence', network, moa, ...eager }, ['joint', 'mask']],
  ])('writes the policy of %s, as the agent plays it', async (_, agents, names) => {
    const run = await trained(MATRIX, agents);
    const file = join(run, 'policy.onnx');
    expect(await coplay(['export', run, file, '--agent', 'agent_1'])).toMatchObject({ code: 0 });
    const session = await InferenceSession.create(file);
    expect([...session.inputNames].sort()).toEqual(names);
    const feeds = {
      joint: new Tensor('uint8', Uint8Array.of(0, 0, 0, 0, 1), [1, 5]), // the first round
      mask: new Tensor('uint8', Uint8Array.of(1, 1), [1, 2]),
      previousActions: new Tensor('int32', Int32Array.of(-1, -1), [1, 2]),
    };
    const needed = Object.fromEntries(Object.entries(feeds).filter(([name]) => session.inputNames.includes(name)));
    const { logProbs } = await session.run(needed);
    const probabilities = Array.from(logProbs.data as Float32Array, Math.exp);
    expect(probabilities[0] + probabilities[1]).toBeCloseTo(1, 5);
    await coplay(['record', run, '--out', join(run, 'one.coplay')]);
    const told = (await readRecording(join(run, 'one.coplay'))).steps[0].insights?.[1]?.policy;
    // Agents of social influence tell nothing of how they choose.
    for (const [action, p] of (told ?? []).entries()) expect(probabilities[action]).toBeCloseTo(p, 5);
    expect(told === undefined).toBe(agents.kind === 'social-influence');
  });

  it.each([
    ['hop', HUNT, { kind: 'hop', ...hop }, 'agent_0, HOP: it acts by more than a policy of PPO'],
    [
      'hop-plus',
      HUNT,
      { kind: 'hop-plus', ...hopPlus, omg: { vaeSteps: 1, inferenceSteps: 1 } },
      'HOP+: its policy reads',
    ],
    ['dreamer', MATRIX, { kind: 'dreamer', ...dreamer }, 'agent_0, DreamerV3: it acts by more than a policy of PPO'],
    ['random', MATRIX, { kind: 'random' }, 'agent_0, Random: it is not a learned one'],
  ])('refuses %s', { tags: ['slow'] }, async (_, game, agents, message) => {
    const run = await trained(game, agents);
    const ended = await coplay(['export', run, join(run, 'policy.onnx')]);
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining(message) });
  });
});

describe('a curriculum', () => {
  const game = { name: 'stag-hunt', size: 3, agents: 1, stags: 1, hares: 1, maxSteps: 16 };
  const configuration = {
    game,
    agents: { kind: 'ppo', network, ...eager },
    envs: 8,
    steps: 16,
    envSteps: 256,
    log: [],
  };
  const train = (more: object, name: string) =>
    coplay(['train', written(folder, { ...configuration, ...more }), '--directory', join(folder, name), '--json']);

  it('changes the rules of training, and not those of evaluations', async () => {
    const lines = { partnerChance: { from: 1, to: 0, by: 0.5 } };
    const ended = await train({ curriculum: lines }, 'curriculum');
    expect(ended.code).toBe(0);
    const log = readFileSync(join(folder, 'curriculum/log.jsonl'), 'utf8').trim().split('\n');
    const [first, second] = log.map((line) => JSON.parse(line)['episode/caught_stag'] as number);
    expect(first).toBeGreaterThan(0); // at first, a partner always joins
    expect(second).toBe(0); // from half of the training on, none does
    const evaluated = await coplay(['evaluate', join(folder, 'curriculum'), '--episodes', '64', '--json']);
    expect(JSON.parse(evaluated.out).byAgent.agent_0.caught_stag).toBe(0);
  });

  it('with an option that the game lacks, or that is no line, is refused', async () => {
    const unknown = await train({ curriculum: { partners: { from: 1, to: 0 } } }, 'never');
    expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining('partners') });
    const constant = await train({ curriculum: { partnerChance: 1 } }, 'never');
    expect(constant).toMatchObject({ code: 1, err: expect.stringContaining('option curriculum.partnerChance') });
  });
});

describe('exploration', () => {
  const game = { ...HUNT, agents: 2 };
  const configuration = { game, agents: { kind: 'ppo', network, ...eager }, envs: 4, steps: 8, envSteps: 32, log: [] };

  it('has the options of sharedGoals', async () => {
    const run = join(folder, 'exploration');
    const file = written(folder, { ...configuration, exploration: { kind: 'shared-goals', share: 1, stay: 2 } });
    expect(await coplay(['train', file, '--directory', run])).toMatchObject({ code: 0 });
    const [line] = readFileSync(join(run, 'log.jsonl'), 'utf8').split('\n');
    expect(JSON.parse(line)['exploration/episode_share']).toBe(1);
  });

  it('is refused by its kind, and by learners that it can not teach', async () => {
    const wrong = written(folder, { ...configuration, exploration: { kind: 'curiosity' } });
    const never = ['--directory', join(folder, 'never')];
    expect((await coplay(['train', wrong, ...never])).err).toContain('option exploration.kind');
    const agents = { kind: 'hop', ...hop };
    const ofHop = written(folder, { ...configuration, agents, exploration: { kind: 'shared-goals' } });
    expect(await coplay(['train', ofHop, ...never])).toMatchObject({ code: 1, err: expect.stringContaining('HOP') });
  });
});
