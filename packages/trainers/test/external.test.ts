import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGenerator, createRollout, imagine, vectorEnv } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { createWorldModel, ppoAgent, selfPlay, sharedPpoAgents } from '@coplay/trainers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { outside } from '../../../test/outside';

beforeAll(() => useBackend('wasm'));
const folder = mkdtempSync(join(tmpdir(), 'coplay-external-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const rules = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1 });

/** A run of PPO in a game that is played outside. */
function runIn(directory?: string) {
  const { game, calls } = outside(rules, 3);
  const agents = game.agents.map((id) => ppoAgent({ game, id, network: mlp({ hidden: [8] }) }));
  const warnings: string[] = [];
  const more = directory === undefined ? {} : { directory, warn: (line: string) => void warnings.push(line) };
  return { game, calls, warnings, run: selfPlay({ game, agents, steps: 8, seed: 1, ...more }) };
}

it('PPO trains in an external game, resumes in new episodes, and frees the environments', async () => {
  const directory = join(folder, 'run');
  const first = runIn(directory);
  await first.run.train({ envSteps: 3 * 8 * 2 });
  expect(first.run.envSteps).toBe(48); // E is the game's: 3
  const begun = first.calls.seeds.length;
  first.run.dispose();
  expect(first.calls).toMatchObject({ opened: 1, closed: 1 });

  const second = runIn(directory);
  expect(await second.run.resume()).toBe(true);
  expect(second.run.envSteps).toBe(48);
  // Three episodes of the new batch, then three with seeds that no episode of the first run had.
  expect(second.calls.seeds).toHaveLength(6);
  expect(first.calls.seeds.slice(0, begun)).not.toEqual(expect.arrayContaining(second.calls.seeds.slice(3)));
  await second.run.train({ envSteps: 96 });
  expect(second.run.updates).toBe(4);
  expect((await second.run.evaluate({ episodes: 2 })).episodes).toBe(2);
  expect(second.calls).toMatchObject({ opened: 2, closed: 1 }); // evaluations have a batch of their own
  second.run.dispose();
});

it('a world model of observations learns from it, and is imagined with', { tags: ['slow'] }, async () => {
  const { game } = outside(rules, 2);
  const model = createWorldModel({ game, stepsPerUpdate: 1, batchSize: 8 });
  await model.initialise(createGenerator(1));
  const agents = sharedPpoAgents({ game, network: mlp({ hidden: [8] }) });
  await agents[0].learner.initialise(createGenerator(2));
  const rollout = createRollout(vectorEnv(game, { envs: 2 }), agents, createGenerator(3));
  const experience = await rollout.collect(16);
  model.push(experience);
  await model.update(createGenerator(4));
  const simulator = model.simulator();
  const states = simulator.statesAt!(experience, Int32Array.of(0, 5), 0);
  const starts = { states, previousActions: new Int32Array(4).fill(-1), isFirst: Uint8Array.of(1, 0) };
  const dreamt = await imagine(simulator, agents, starts, { horizon: 3, generator: createGenerator(5) });
  expect([...dreamt.isImagined]).toEqual([1, 1]);
  model.dispose();
  agents[0].learner.dispose();
});
