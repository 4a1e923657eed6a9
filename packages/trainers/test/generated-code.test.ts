import type { NamedArrays } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { type ExecutorName, useBackend } from '@coplay/tensor';
import { ppoAgent, selfPlay } from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';

beforeAll(async () => {
  await useBackend('wasm');
});

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 2, maxSteps: 9, preyMoves: 0.3 });

/** Two learners, one of them recurrent. */
function makeRun(executor: ExecutorName) {
  const common = { game, network: mlp({ hidden: [8] }), executor };
  const agents = [
    ppoAgent({ ...common, id: 'agent_0', ppo: { minibatchSize: 16, learningRate: 0.01 } }),
    ppoAgent({ ...common, id: 'agent_1', recurrent: 4, ppo: { sequenceLength: 4 } }),
  ];
  return { agents, run: selfPlay({ game, agents, envs: 4, steps: 8, seed: 3, warn: () => {} }) };
}

async function learned(executor: ExecutorName): Promise<NamedArrays[]> {
  const { agents, run } = makeRun(executor);
  await run.train({ envSteps: 64 });
  const parameters = await Promise.all(agents.map(({ learner }) => learner.parameters()));
  run.dispose();
  return parameters;
}

describe('PPO on generated code', () => {
  it('learns what it learns one operation at a time, up to rounding', { tags: ['slow'] }, async () => {
    const [expected, got] = [await learned('eager'), await learned('wasm')];
    expected.forEach((agent, i) => {
      for (const [name, { data }] of Object.entries(agent)) {
        data.forEach((value, j) => void expect(got[i][name].data[j], name).toBeCloseTo(value, 4));
      }
    });
  });

  it('goes on to the bit after a save', { tags: ['slow'] }, async () => {
    const whole = makeRun('wasm');
    await whole.run.train({ envSteps: 96 });
    const first = makeRun('wasm');
    await first.run.train({ envSteps: 32 });
    const saved = await first.run.state();
    first.run.dispose();
    const second = makeRun('wasm');
    await second.run.restore(saved);
    await second.run.train({ envSteps: 96 });
    expect(await second.run.state()).toEqual(await whole.run.state());
    whole.run.dispose();
    second.run.dispose();
  });
});
