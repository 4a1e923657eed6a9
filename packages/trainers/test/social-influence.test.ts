import { type Agent, createGenerator, createRollout, type Metrics, type SavedState, vectorEnv } from '@coplay/core';
import { catchGame, randomAgent, stagHunt } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import {
  type SocialInfluenceAgent,
  type SocialInfluenceOptions,
  selfPlay,
  socialInfluenceAgent,
} from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';
import { tinyGame } from './games';

beforeAll(async () => {
  await useBackend('wasm');
});

const game = tinyGame({ maxSteps: 8, reward: (agent, action) => (agent === 0 && action === 0 ? 0.25 : 0) });
const network = mlp({ hidden: [8] });
const moa = { network: mlp({ hidden: [16] }), learningRate: 0.03, minRows: 64, minibatchSize: 128, epochs: 4 };
const options: SocialInfluenceOptions = {
  ...{ game, id: 'agent_0', network, moa },
  ppo: { learningRate: 0, entropyWeight: 0, epochs: 1 },
};

/** Does what the other did in the step before; at random at first. */
const imitator: Agent<null> = {
  id: 'agent_1',
  name: 'imitator',
  initialState: () => null,
  act({ rows, previousActions }, state, generator) {
    const actions = new Int32Array(rows);
    for (let row = 0; row < rows; row++) {
      const seen = previousActions[row * 2];
      actions[row] = seen >= 0 ? seen : generator.integer(2);
    }
    return { actions, state };
  },
};

function runOf(other: Agent, given: Partial<SocialInfluenceOptions> = {}, seed = 1) {
  const agent = socialInfluenceAgent({ ...options, ...given });
  const kept: Metrics[] = [];
  const log = [{ start() {}, close() {}, write: ({ metrics }: { metrics: Metrics }) => void kept.push(metrics) }];
  return { agent, kept, run: selfPlay({ game, agents: [agent, other], envs: 16, steps: 8, seed, log }) };
}
const STEPS = 16 * 8;

describe('socialInfluenceAgent', () => {
  it('finds its influence on an agent that imitates it, and none on an agent that acts at random', {
    tags: ['learning'],
  }, async () => {
    const copied = runOf(imitator);
    await copied.run.train({ envSteps: 20 * STEPS });
    const ignored = runOf(randomAgent({ game, id: 'agent_1' }) as Agent);
    await ignored.run.train({ envSteps: 20 * STEPS });
    const last = (kept: readonly Metrics[]) => kept.at(-1)!['influence/mean'];
    // The policy doesn't learn here and is near even: each action tells ln 2 nats, in 7 of the 8 steps of an episode.
    expect(copied.kept.at(-1)!['policy/entropy']).toBeGreaterThan(0.6);
    expect(last(copied.kept)).toBeGreaterThan(0.9 * (7 / 8) * copied.kept.at(-1)!['policy/entropy']);
    expect(last(copied.kept)).toBeLessThan(0.7);
    expect(last(ignored.kept)).toBeLessThan(0.05);
    expect(copied.kept.at(-1)!['moa/accuracy']).toBeGreaterThan(0.9);
    for (const { run } of [copied, ignored]) run.dispose();
  });

  it('learns from the rewards of the game and of its influence, by their weights', { tags: ['slow'] }, async () => {
    const learnedFrom = async (given: Partial<SocialInfluenceOptions>) => {
      const { run, kept } = runOf(imitator, given);
      await run.train({ envSteps: 12 * STEPS });
      run.dispose();
      return kept.map((metrics) => ({ reward: metrics['reward/mean'], influence: metrics['influence/mean'] }));
    };
    const plain = await learnedFrom({ influenceWeight: 0 });
    const mixed = await learnedFrom({ influenceWeight: 2, rewardWeight: 0.5 });
    expect(mixed[0]).toEqual({ reward: 0.5 * plain[0].reward, influence: undefined }); // models that know nothing yet
    const { reward, influence } = mixed.at(-1)!;
    expect(influence).toBeGreaterThan(0.3);
    expect(reward).toBeCloseTo(0.5 * plain.at(-1)!.reward + 2 * influence, 4);
  });

  it('leaves the rewards of others, and the experience itself, as they are', async () => {
    const { agent, run } = runOf(imitator, { influenceWeight: 3 });
    await run.train({ envSteps: 4 * STEPS });
    const rollout = createRollout(vectorEnv(game, { envs: 16, seed: 5 }), [agent, imitator], createGenerator(6));
    const experience = await rollout.collect(8);
    const before = experience.rewards.slice();
    const seen: Float32Array[] = [];
    const update = agent.learner.ppo.update.bind(agent.learner.ppo);
    agent.learner.ppo.update = (data) => {
      seen.push(data.experience.rewards);
      return update(data);
    };
    await agent.learner.update({ experience, progress: 0.5, generator: createGenerator(7) });
    expect(experience.rewards).toEqual(before);
    const ofOther = (rewards: Float32Array) => [...rewards].filter((_, row) => row % 2 === 1);
    expect(ofOther(seen[0])).toEqual(ofOther(before));
    expect([...seen[0]]).not.toEqual([...before]);
    run.dispose();
  });

  it('goes on to the bit after a save, in the middle of an episode too', async () => {
    const given = { ppo: { learningRate: 1e-2, epochs: 2 } };
    const make = (seed: number) => {
      const agent = socialInfluenceAgent({ ...options, ...given });
      return { agent, run: selfPlay({ game, agents: [agent, imitator], envs: 8, steps: 5, seed }) };
    };
    const whole = make(1);
    await whole.run.train({ envSteps: 12 * 40 });
    const first = make(1);
    await first.run.train({ envSteps: 5 * 40 }); // 25 steps of episodes of 8: what was seen last is the cue
    const second = make(9);
    await second.run.restore(structuredClone(await first.run.state()) as SavedState);
    await second.run.train({ envSteps: 12 * 40 });
    const read = ({ agent }: { agent: SocialInfluenceAgent }) => agent.learner.ppo.parameters();
    expect(await read(second)).toEqual(await read(whole));
    expect(await second.agent.learner.moa.parameters('agent_1')).toEqual(
      await whole.agent.learner.moa.parameters('agent_1'),
    );
    for (const { run } of [whole, first, second]) run.dispose();
  });

  it('plays the stag hunt, in which agents leave, actions may be illegal, and images are centred', {
    tags: ['slow'],
  }, async () => {
    const hunt = stagHunt({ size: 3, agents: 3, stags: 1, hares: 3, maxSteps: 10 });
    const small = { network, moa: { ...moa, network: mlp({ hidden: [8] }), minRows: 16 } };
    const agents = hunt.agents.map((id) => socialInfluenceAgent({ game: hunt, id, ...small }));
    const kept: Metrics[] = [];
    const log = [{ start() {}, close() {}, write: ({ metrics }: { metrics: Metrics }) => void kept.push(metrics) }];
    const run = selfPlay({ game: hunt, agents, envs: 8, steps: 12, seed: 1, log });
    await run.train({ envSteps: 4 * 96 });
    for (const id of hunt.agents) {
      const influence = kept.at(-1)![`${id}/influence/mean`];
      expect(influence).toBeGreaterThan(0);
      expect(influence).toBeLessThan(2 * Math.log(7));
    }
    run.dispose();
  });

  it('refuses options that it cannot follow', () => {
    const wrong = (given: object) => () => socialInfluenceAgent({ ...options, ...given } as SocialInfluenceOptions);
    expect(wrong({ influenceWeight: -1 })).toThrow(/influenceWeight/);
    expect(wrong({ influence: 1 })).toThrow(/unknown option "influence"/);
    expect(wrong({ id: 'nobody' })).toThrow(/agent_0, agent_1/);
    expect(wrong({ moa: { rows: 3 } })).toThrow(/unknown option "rows"/);
    expect(wrong({ moa: { recurrent: 8 } })).toThrow(/without goals or history, got "?recurrent/);
    const alone = catchGame();
    expect(wrong({ game: alone, id: alone.agents[0] })).toThrow(/two agents or more, got catch/);
  });

  it('refuses experience of other agents, and the state of another learner', async () => {
    const { agent, run } = runOf(imitator);
    await run.train({ envSteps: 4 * STEPS });
    const strangers = game.agents.map((id) => randomAgent({ game, id }));
    const rollout = createRollout(vectorEnv(game, { envs: 16, seed: 5 }), strangers, createGenerator(6));
    const data = { experience: await rollout.collect(8), progress: 0, generator: createGenerator(1) };
    await expect(agent.learner.update(data)).rejects.toThrow(/the extra policy/);
    await expect(agent.learner.restore({ ppo: {} })).rejects.toThrow(/ppo and moa/);
    run.dispose();
  });
});
