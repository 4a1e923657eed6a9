import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ActionSpaces,
  type AgentInput,
  box,
  createGenerator,
  createRollout,
  evaluate,
  type NamedArrays,
  ndarray,
  vectorEnv,
} from '@coplay/core';
import { pendulum, randomAgent } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import {
  frozen,
  type PpoAgent,
  type PpoAgentOptions,
  pastSelves,
  ppoAgent,
  selfPlay,
  sharedPpoAgents,
  toOnnx,
} from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';
import { mixedGame } from '../../core/test/mixed-game';
import { runNode } from '../../tensor/test/onnx-files';

const network = mlp({ hidden: [16] });
const game = mixedGame();
const inputs = { previousActions: true } as const;
const ppo = { learningRate: 0.01, entropyWeight: 0.001, gamma: 0.5, minibatchSize: 64, valueClip: false } as const;

beforeAll(async () => {
  await useBackend('wasm');
});

const learners = (options: Partial<PpoAgentOptions> = {}) =>
  game.agents.map((id) => ppoAgent({ game, id, network, ppo, ...(options as object) }));

const swing = pendulum({ maxSteps: 7 });

async function trained(agents: readonly PpoAgent<ActionSpaces>[], updates: number): Promise<NamedArrays[]> {
  const run = selfPlay({ game, agents, envs: 8, steps: 5, seed: 3 });
  await run.train({ envSteps: updates * 40 });
  const params = await Promise.all(agents.map(({ learner }) => learner.parameters()));
  run.dispose();
  return params;
}

describe('PPO in a game with a space for each agent', () => {
  it('learns in each of them', { tags: ['learning'] }, async () => {
    const agents = learners();
    const run = selfPlay({ game, agents, envs: 16, steps: 10, seed: 1 });
    await run.train({ envSteps: 24_000 });
    const greedy = agents.map((agent) => frozen(agent, { greedy: true }));
    const { returnMean } = await evaluate(game, greedy, { episodes: 10 });
    run.dispose();
    // At best 1 in each of three steps, 0 in each of five, and 2 in each of five. Random: 1, less than -10, 4.7.
    expect(returnMean['walker']).toBe(3);
    expect(returnMean['arm']).toBeGreaterThan(-0.25);
    expect(returnMean['clerk']).toBe(10);
  });

  it.each<[string, Partial<PpoAgentOptions>]>([
    ['feedforward', { inputs }],
    ['recurrent', { inputs, recurrent: 4 }],
    ['with a central critic', { critic: 'joint' }],
  ])('learns compiled what it learns operation by operation: %s', { tags: ['slow'] }, async (_, options) => {
    // A larger epsilon than usual: Adam would blow up the rounding of gradients that cancel.
    const settings = { ...options, ppo: { ...ppo, adamEpsilon: 1e-3, epochs: 2 } };
    const compiled = await trained(learners(settings), 2);
    const eager = await trained(learners({ ...settings, executor: 'eager' }), 2);
    compiled.forEach((params, seat) => {
      const start = seat === 1 ? 'actor/logStd' : 'actor/head/bias';
      expect(params[start].data.some((value) => value !== 0)).toBe(true);
      for (const [name, { data }] of Object.entries(params)) {
        data.forEach((value, i) => {
          if (Math.abs(value - eager[seat][name].data[i]) > 1e-4) {
            expect(value, `${name} of ${game.agents[seat]}`).toBe(eager[seat][name].data[i]);
          }
        });
      }
    });
  });

  it('goes on to the bit from a checkpoint', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'coplay-spaces-'));
    const make = (at?: string) =>
      selfPlay({
        game,
        agents: [...learners().slice(0, 2), randomAgent({ game, id: 'clerk' })],
        ...{ envs: 4, steps: 3, seed: 2 },
        ...(at && { directory: join(directory, at) }),
      });
    const whole = make();
    await whole.train({ envSteps: 48 });
    const first = make('run');
    await first.train({ envSteps: 24 });
    first.dispose();
    const second = make('run');
    expect(await second.resume()).toBe(true);
    await second.train({ envSteps: 48 });
    const [expected, got] = [await whole.state(), await second.state()];
    for (const part of ['env', 'rollout', 'learners']) expect(got[part], part).toEqual(expected[part]);
    for (const run of [whole, second]) run.dispose();
    rmSync(directory, { recursive: true });
  });
});

describe('a policy over a box', () => {
  const make = (options: Partial<PpoAgentOptions> = {}) =>
    ppoAgent({ game: swing, id: 'agent_0', network, ...(options as object) });

  it.each([false, true])('plays within the bounds and keeps its samples; squashed: %s', async (squash) => {
    const agent = make({ continuous: { squash, initialStd: 3 } });
    await agent.learner.initialise(createGenerator(1));
    const rollout = createRollout(vectorEnv(swing, { envs: 32, seed: 1 }), [agent], createGenerator(2));
    const { actions, extras } = await rollout.collect(7);
    const raw = extras['rawActions'].data;
    expect(actions).toBeInstanceOf(Float32Array);
    let atBound = 0;
    actions.forEach((action, i) => {
      const expected = squash ? 2 * Math.tanh(raw[i]) : Math.min(2, Math.max(-2, raw[i]));
      expect(action).toBeCloseTo(expected, 5);
      if (Math.abs(action) === 2) atBound++;
    });
    // Of a standard normal 50 % lie beyond 2/3: clipped samples pile up at the bounds.
    if (!squash) expect(Math.abs(atBound / actions.length - 0.505)).toBeLessThan(0.12);
    agent.learner.dispose();
  });

  it('begins with the standard deviation that was asked for', async () => {
    const agent = make({ continuous: { initialStd: 0.5 } });
    await agent.learner.initialise(createGenerator(1));
    expect((await agent.learner.parameters())['actor/logStd'].data[0]).toBeCloseTo(Math.log(0.5), 6);
    agent.learner.dispose();
  });

  it.each<[string, () => unknown, RegExp]>([
    [
      'squashing without bounds',
      () => ppoAgent({ game, id: 'arm', continuous: { squash: true } }),
      /continuous\.squash: expected a box with bounds/,
    ],
    [
      'options of a box for discrete actions',
      () => ppoAgent({ game, id: 'walker', continuous: {} }),
      /option continuous: expected a game whose actions are a box/,
    ],
    ['a standard deviation of 0', () => make({ continuous: { initialStd: 0 } }), /continuous.initialStd/],
    [
      'shared weights of agents with other actions',
      () => sharedPpoAgents({ game }),
      /option ids: expected agents with the same actions as walker, got arm/,
    ],
    [
      'the mask of a box as an input',
      () => make({ inputs: { mask: true } }),
      /option mask: .*boxes, which have no masks/,
    ],
  ])('refuses %s', (_, call, message) => {
    expect(call).toThrow(message);
  });

  it('lends itself to past selves, and shares weights between agents', async () => {
    const twins = {
      ...game,
      agents: ['left', 'right'],
      actions: box({ shape: [2], low: -1, high: 1 }),
      step: ((_state, _offset, actions, at, _generator, { rewards, terminated, truncated }, row) => {
        for (const i of [0, 1]) {
          rewards[2 * row + i] = actions[at + 2 * i] + actions[at + 2 * i + 1];
          terminated[2 * row + i] = 0;
          truncated[2 * row + i] = 1;
        }
      }) as typeof game.step,
      legal: () => {},
      isActive: () => true,
      maxSteps: 1,
    };
    const shared = sharedPpoAgents({ game: twins, network, ppo: { ...ppo, learningRate: 0.03 } });
    const run = selfPlay({ game: twins, agents: shared, envs: 64, steps: 1, seed: 1 });
    await run.train({ envSteps: 20 * 64 });
    const { mean } = await run.evaluate({ episodes: 200 });
    expect(mean).toBeGreaterThan(1.2); // at best 2; 0 at first
    const pool = pastSelves({ id: 'right', of: shared[0], every: 1 });
    const { mean: again } = await evaluate(twins, [frozen(shared[0], { greedy: true }), pool], { episodes: 50 });
    expect(again).toBeGreaterThan(1.2);
    pool.dispose();
    run.dispose();
  });
});

describe('exported policies over other spaces', () => {
  const ROWS = 3;

  it.each(game.agents.map((id, seat) => [id, seat] as const))('answer as the agent does: %s', async (id, seat) => {
    const agent = ppoAgent({ game, id, network, inputs });
    await agent.learner.initialise(createGenerator(4));
    const env = vectorEnv(game, { envs: ROWS, seed: 1 });
    const generator = createGenerator(7);
    const rollout = createRollout(
      env,
      game.agents.map((name) => randomAgent({ game, id: name })),
      generator,
    );
    await rollout.step();
    const K = [3, 0, 5][seat];
    const masks = Uint8Array.from(
      { length: ROWS * K },
      (_, i) => env.masks[(Math.floor(i / K) * 3 + seat) * 5 + (i % K)],
    );
    const input: AgentInput<ActionSpaces> = {
      ...{ rows: ROWS, masks, active: new Uint8Array(ROWS).fill(1), isFirst: new Uint8Array(ROWS) },
      observations: {
        last: Float32Array.from(
          { length: ROWS * 6 },
          (_, i) => env.observations['last'][(Math.floor(i / 6) * 3 + seat) * 6 + (i % 6)],
        ),
      },
      previousActions: env.previousActions.slice(),
    };
    const { policy } = await agent.learner.policy.act(input, seat, new Float32Array(0));
    const feeds = {
      last: ndarray(input.observations['last'], [ROWS, 6]),
      previousActions: ndarray(input.previousActions, [ROWS, 3, 2]),
      ...(K > 0 && { mask: ndarray(masks, [ROWS, K]) }),
    };
    const [outputs] = await runNode(await toOnnx(agent as PpoAgent<ActionSpaces>), [feeds]);
    const close = (got: ArrayLike<number>, expected: ArrayLike<number>) => {
      Array.from(expected).forEach((value, i) => void expect(got[i]).toBeCloseTo(value, 5));
    };
    if (id !== 'arm') {
      close(outputs['logProbs'].data as Float32Array, policy);
    } else {
      for (let row = 0; row < ROWS; row++) {
        const means = policy.subarray(4 * row, 4 * row + 2);
        close(outputs['means'].data.subarray(2 * row, 2 * row + 2) as Float32Array, means);
        close(outputs['likeliest'].data.subarray(2 * row, 2 * row + 2) as Float32Array, [
          Math.min(1, Math.max(-1, means[0])),
          means[1],
        ]);
        close(outputs['stds'].data.subarray(2 * row, 2 * row + 2) as Float32Array, [1, 1]);
      }
    }
    agent.learner.dispose();
  });
});
