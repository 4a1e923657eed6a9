import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AnyGame, createGenerator, createRollout, vectorEnv } from '@coplay/core';
import { pendulum, stagHunt } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { exportOnnx, frozen, ppoAgent } from '@coplay/trainers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pythonWith } from './python';

const folder = mkdtempSync(join(tmpdir(), 'coplay-policy-'));
beforeAll(() => useBackend('wasm'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = { ...process.env, PYTHONPATH: join(process.cwd(), 'python'), PYTHONDONTWRITEBYTECODE: '1' };

/** Reads the policy and what its agent saw step by step, and prints its actions. */
const ACT = `
import json, sys
import numpy as np
import coplay
policy = coplay.load_policy(sys.argv[1])
actions = []
for step in json.load(open(sys.argv[2])):
    observations = {name: np.array(values) for name, values in step["observations"].items()}
    if len(observations) == 1:
        observations = list(observations.values())[0]
    masks = np.array(step["masks"]) if step["masks"] else None
    found = policy.act(observations, masks, np.array(step["previous"]), np.array(step["first"]))
    actions.append(found.tolist())
rng = np.random.default_rng(1)
drawn = np.array([policy.act(observations, masks, np.array(step["previous"]), rng=rng) for _ in range(500)])
print(json.dumps({"agent": policy.agent, "actions": actions, "std": float(np.std(drawn))}))
`;

interface Acted {
  readonly agent: string;
  readonly actions: readonly (number | number[])[][];
  readonly std: number;
}

const policies = pythonWith('numpy', 'onnxruntime');
policies.describe('coplay.load_policy', () => {
  it.each<[string, AnyGame, object]>([
    ['of a game with masks', stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 4 }), {}],
    [
      'that is recurrent and reads previous actions',
      stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 4 }),
      { recurrent: 8, inputs: { previousActions: true } },
    ],
    ['of a box', pendulum({ maxSteps: 4 }), {}],
  ])('acts as the agent does here: %s', async (name, game, options) => {
    const [id, ...rest] = game.agents;
    const agent = ppoAgent({ game, id, network: mlp({ hidden: [16] }), ...options });
    await agent.learner.initialise(createGenerator(3));
    const greedy = frozen(agent, { greedy: true });
    const played: unknown[] = [];
    const expected: number[][] = [];
    const watched = {
      ...greedy,
      id,
      name,
      initialState: (rows: number) => greedy.initialState(rows),
      act: async (...given: Parameters<typeof greedy.act>) => {
        const [{ rows, observations, masks, previousActions, isFirst }] = given;
        const split = (values: ArrayLike<number>) => {
          const size = values.length / rows;
          return Array.from({ length: rows }, (_, row) => Array.from(values).slice(row * size, (row + 1) * size));
        };
        const fields = Object.entries(observations).map(([field, values]) => [field, split(values)]);
        played.push({
          observations: Object.fromEntries(fields),
          masks: masks.length > 0 ? split(masks) : null,
          previous: split(previousActions).map((row) => row.map((value) => (Number.isNaN(value) ? -1 : value))),
          first: Array.from(isFirst),
        });
        const output = await greedy.act(...given);
        expected.push(Array.from(output.actions));
        return output;
      },
    };
    const everyone = [watched, ...rest.map((other) => idle(other))];
    const rollout = createRollout(vectorEnv(game, { envs: 3, seed: 1 }), everyone as never, createGenerator(1));
    await rollout.collect(7);
    const [file, data] = [join(folder, 'policy.onnx'), join(folder, 'played.json')];
    await exportOnnx(agent as never, file);
    writeFileSync(data, JSON.stringify(played));
    const text = execFileSync(policies.command, ['-c', ACT, file, data], { env: path, encoding: 'utf8' });
    const { agent: whose, actions, std } = JSON.parse(text) as Acted;
    expect(whose).toBe(id);
    expect(actions).toHaveLength(7);
    actions.forEach((found, step) => {
      for (const [row, value] of found.flat().entries()) expect(value).toBeCloseTo(expected[step][row], 5);
    });
    expect(std).toBeGreaterThan(0.3); // drawn ones differ
    agent.learner.dispose();
  });
});

/** Does nothing, in a hunt: action 4 is to stay. */
const idle = (id: string) => ({
  id,
  name: 'idle',
  initialState: () => null,
  act: ({ rows }: { rows: number }) => ({ actions: new Int32Array(rows).fill(4), state: null }),
});

const zoo = pythonWith('numpy', 'gymnasium', 'pettingzoo');
zoo.describe('the Python package', () => {
  it('passes its own tests, among them those of PettingZoo and Gymnasium', () => {
    const args = ['-m', 'unittest', 'discover', '-s', 'python/tests'];
    const { status, stderr } = spawnSync(zoo.command, args, { env: path, encoding: 'utf8' });
    expect(stderr).toMatch(/\nOK/);
    expect(status).toBe(0);
  });
});
