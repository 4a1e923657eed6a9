import type { Experience, LogEntry } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { ppoAgent, type SelfPlayOptions, selfPlay } from '@coplay/trainers';
import { beforeAll, expect, it } from 'vitest';

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 2, maxSteps: 8 });

beforeAll(() => useBackend());

/** Parameters and metrics after two updates. */
async function trained(reward: (experience: Experience) => Float32Array, options: Partial<SelfPlayOptions> = {}) {
  const metrics: string[] = [];
  const sink = {
    start: () => undefined,
    write: (entry: LogEntry) => void metrics.push(JSON.stringify({ ...entry.metrics, 'time/fps': 0 })),
    close: () => undefined,
  };
  const agents = game.agents.map((id) => ppoAgent({ game, id, network: mlp({ hidden: [8] }), reward }));
  const { log = [], ...rest } = options;
  const run = selfPlay({ game, agents, envs: 2, steps: 8, seed: 3, ...rest, log: [...[log].flat(), sink] as never });
  await run.train({ envSteps: 32 });
  const { learners } = await run.state();
  run.dispose();
  return { learners, metrics: metrics.map((text) => text.replaceAll(/"time[^,}]*/g, '')) };
}

const own = ({ rewards }: Experience) => Float32Array.from(rewards);

it('a reward function that writes into the experience changes what no other learner sees', async () => {
  const vandal = (experience: Experience) => {
    const rewards = own(experience);
    experience.rewards.fill(999);
    experience.actions.fill(0);
    for (const field of Object.values(experience.observations)) field.fill(1);
    return rewards;
  };
  expect(await trained(vandal)).toEqual(await trained(own));
});

it('an onRollout and a log that write into what they are given change nothing', async () => {
  const expected = await trained(own);
  const onRollout = (experience: Experience) => {
    experience.rewards.fill(999);
    experience.ended.fill(1);
    for (const field of Object.values(experience.observations)) field.fill(1);
  };
  const vandal = {
    start: (info: { startedAt: number }) => void Object.assign(info, { startedAt: 77 }),
    write: (entry: LogEntry) => void Object.assign(entry.metrics, { 'return/mean': 999, stranger: 1 }),
    close: () => undefined,
  };
  expect(await trained(own, { onRollout, log: [vandal] })).toEqual(expected);
});
