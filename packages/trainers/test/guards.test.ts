import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadNpz } from '@coplay/buffers/npz';
import type { Experience, Metrics } from '@coplay/core';
import { mlp } from '@coplay/models';
import { tf, useBackend } from '@coplay/tensor';
import { type PpoAgentOptions, ppoAgent, type SelfPlayOptions, selfPlay } from '@coplay/trainers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tinyGame } from './games';

const network = mlp({ hidden: [8] });
const game = tinyGame({ reward: () => 1 });
const made = mkdtempSync(join(tmpdir(), 'coplay-guards-'));

beforeAll(async () => {
  await useBackend('wasm');
});
afterAll(() => rmSync(made, { recursive: true, force: true }));

/** Rewards that are NaN in one step of the second rollout. */
function poisoned() {
  let calls = 0;
  return (experience: Experience) => {
    calls++;
    return experience.rewards.map((reward, row) => (calls === 2 && row === 5 ? Number.NaN : reward));
  };
}

async function trainPoisoned(nonFinite: 'stop' | 'skip', directory: string, metrics: Metrics[] = []) {
  const bad = ppoAgent({ game, id: 'agent_1', network, reward: poisoned(), ppo: { nonFinite, epochs: 1 } });
  const agents = [ppoAgent({ game, id: 'agent_0', network }), bad];
  const log = {
    start: () => {},
    close: () => {},
    write: (entry: { metrics: Metrics }) => void metrics.push(entry.metrics),
  };
  const run = selfPlay({ game, agents, envs: 2, steps: 8, directory, log: [log] });
  await run.train({ envSteps: 48 });
  return bad;
}

describe('a loss that is not finite', () => {
  it('stops the run, names update and input, and leaves the batch behind', { tags: ['slow'] }, async () => {
    const directory = join(made, 'stop');
    await expect(trainPoisoned('stop', directory)).rejects.toThrow(
      /PPO \(agent_1\), update 2: expected finite losses.*from the input advantages\[\d+\] = NaN.*non-finite-agent_1-update-2\.npz/,
    );
    expect(readdirSync(directory)).toContain('non-finite-agent_1-update-2.npz');
    const batch = await loadNpz(join(directory, 'non-finite-agent_1-update-2.npz'));
    expect(Array.from(batch['advantages'].data as Float32Array).some(Number.isNaN)).toBe(true);
  });

  it('is left out with nonFinite: skip, and counted; the parameters stay finite', async () => {
    const metrics: Metrics[] = [];
    const agent = await trainPoisoned('skip', join(made, 'skip'), metrics);
    expect(metrics.map((entry) => entry['agent_1/policy/skipped'])).toEqual([0, 1, 0]);
    const params = await agent.learner.parameters();
    for (const { data } of Object.values(params)) expect(data.every(Number.isFinite)).toBe(true);
  });
});

describe('memory', () => {
  it.each([0, 4])(
    'holds the same number of tensors over 100 updates (GRU units: %i)',
    { tags: ['slow'] },
    async (recurrent) => {
      const agents = game.agents.map((id) => ppoAgent({ game, id, network, recurrent, ppo: { epochs: 1 } }));
      const counts: number[] = [];
      const onRollout = () => void counts.push(tf.memory().numTensors);
      const before = tf.memory().numTensors;
      const run = selfPlay({ game, agents, envs: 2, steps: 4, onRollout });
      await run.train({ envSteps: 100 * 8 });
      expect(counts).toHaveLength(100);
      expect(new Set(counts)).toEqual(new Set([counts[0]]));
      run.dispose();
      expect(tf.memory().numTensors).toBe(before);
    },
  );
});

describe('wrong options', () => {
  const agent = (options: unknown) => () => ppoAgent({ game, id: 'agent_0', ...(options as Partial<PpoAgentOptions>) });
  const play = (options: unknown) => () =>
    selfPlay({
      game,
      agents: game.agents.map((id) => ppoAgent({ game, id })),
      ...(options as Partial<SelfPlayOptions>),
    });

  it.each([
    [
      'a misspelt hyperparameter',
      agent({ ppo: { learningrate: 1 } }),
      /ppoAgent.*unknown option "learningrate".*learningRate/,
    ],
    ['a gamma above 1', agent({ ppo: { gamma: 1.5 } }), /ppoAgent: option gamma.*1.*got 1.5/],
    ['a negative lambda', agent({ ppo: { lambda: -0.1 } }), /option lambda.*0.*got -0.1/],
    ['a clip of 0', agent({ ppo: { clip: 0 } }), /option clip/],
    ['no epochs', agent({ ppo: { epochs: 0 } }), /option epochs.*got 0/],
    ['half an epoch', agent({ ppo: { epochs: 1.5 } }), /option epochs.*a whole number.*got 1.5/],
    ['no minibatch', agent({ ppo: { minibatchSize: 0 } }), /option minibatchSize.*got 0/],
    ['a string for a number', agent({ ppo: { valueWeight: 'much' } }), /option valueWeight.*number.*got "much"/],
    ['returns that do not exist', agent({ ppo: { returns: 'td' } }), /option returns.*gae.*got "td"/],
    ['a half schedule', agent({ ppo: { entropyWeight: { from: 1 } } }), /option entropyWeight/],
    ['a KL bound of 0', agent({ ppo: { targetKl: 0 } }), /option targetKl/],
    ['a real ratio of 2', agent({ ppo: { realRatio: 2 } }), /option realRatio.*got 2/],
    ['an unknown agent', agent({ id: 'bob' }), /ppoAgent.*agent_0, agent_1.*got "bob"/],
    ['a network that is none', agent({ network: 'mlp' }), /ppoAgent: option network.*mlp\(\).*got "mlp"/],
    ['an unknown option', agent({ units: 3 }), /ppoAgent.*unknown option "units"/],
    ['a critic that is neither', agent({ critic: 'central' }), /option critic.*got "central"/],
    ['an unknown field', agent({ inputs: { fields: ['pixels'] } }), /inputs.fields.*cue.*got "pixels"/],
    ['no environments', play({ envs: 0 }), /selfPlay: option envs.*got 0/],
    ['half a step', play({ steps: 0.5 }), /selfPlay: option steps.*got 0.5/],
    ['a negative seed', play({ seed: -1 }), /selfPlay: option seed.*got -1/],
    ['a misspelt option', play({ checkpointevery: 1 }), /selfPlay.*unknown option "checkpointevery".*checkpointEvery/],
    ['agents that are none', play({ agents: [1, 2] }), /selfPlay: option agents/],
    ['no game', play({ game: 'stag-hunt' }), /selfPlay: option game.*got "stag-hunt"/],
    ['an mlp without units', () => mlp({ hidden: [0] }), /mlp: option hidden.0.*got 0/],
    [
      'an activation that does not exist',
      () => mlp({ activation: 'sine' as 'tanh' }),
      /mlp: option activation.*got "sine"/,
    ],
  ])('%s', (_, wrong, message) => {
    expect(wrong).toThrow(message);
  });

  it.each([0, 1.5, Number.NaN, -3])('train refuses envSteps %d', async (envSteps) => {
    const run = selfPlay({ game, agents: game.agents.map((id) => ppoAgent({ game, id })) });
    await expect(run.train({ envSteps })).rejects.toThrow(/train: option envSteps: expected/);
  });

  it('save and resume need a directory', async () => {
    const run = selfPlay({ game, agents: game.agents.map((id) => ppoAgent({ game, id, network })) });
    await expect(run.save()).rejects.toThrow(/selfPlay: expected a directory for checkpoints/);
    await expect(run.resume()).rejects.toThrow(/selfPlay: expected a directory for checkpoints/);
    run.dispose();
  });
});
