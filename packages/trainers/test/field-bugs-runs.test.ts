import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Agent,
  createGenerator,
  createRollout,
  type Experience,
  evaluate,
  type Game,
  vectorEnv,
} from '@coplay/core';
import { nearestStag, randomAgent, stagHunt } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { type PpoOptions, ppoAgent, type SelfPlayOptions, selfPlay } from '@coplay/trainers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { episodeTracker } from '../src/self-play/episode-tracker';
import { expectFinite, NEVER, network, trained } from './field-helpers';
import { tinyGame } from './games';
import { leavingGame, SELF } from './leaving-game';

// Bugs that other projects had, tried on ours; the ids are those of the list of trials.

beforeAll(async () => {
  await useBackend('wasm');
});

describe('M04: means over episodes are not means over agents', () => {
  test('four means, and one that says so', async () => {
    // 10 for agent 0 in the only step of an episode; nothing for the others.
    const game = tinyGame({ agents: 4, maxSteps: 1, reward: (agent) => (agent === 0 ? 10 : 0) });
    const agents = game.agents.map((id) => ppoAgent({ game, id, network }));
    const [metrics] = await trained({ game, agents, envs: 2, steps: 3 }, 6);
    expect(game.agents.map((id) => metrics[`episode/return/${id}`])).toEqual([10, 0, 0, 0]);
    expect(metrics).toMatchObject({ 'episode/return_mean': 2.5, 'episode/count': 6, 'episode/length': 1 });
    const { returnMean, mean } = await evaluate(
      game,
      game.agents.map((id) => randomAgent({ game, id })),
      { episodes: 7 },
    );
    expect([Object.values(returnMean), mean]).toEqual([[10, 0, 0, 0], 2.5]);
  });
});

describe('M06: everyone is given its own view', () => {
  const game = leavingGame({ leaves: [3, NEVER, 5, NEVER] });

  /** Throws unless the view is its own, and its previous action too. */
  function suspicious(id: string): Agent<number[]> {
    const seat = game.agents.indexOf(id);
    return {
      id,
      name: 'suspicious',
      initialState: (rows) => new Array(rows).fill(-1),
      act: (input, last) => {
        const actions = new Int32Array(input.rows).fill(seat % 3);
        for (let row = 0; row < input.rows; row++) {
          if (input.active[row] === 0) continue;
          if (input.observations['view'][row * 3 + SELF] !== seat) throw new Error(`${id} sees as another`);
          const previous = input.previousActions[row * 4 + seat];
          if (previous !== (input.isFirst[row] ? -1 : last[row])) throw new Error(`${id} is told of another's action`);
        }
        return { actions, state: [...actions] };
      },
    };
  }

  test.each([0, 1, 2, 3])('one learner in seat %i, and one suspicious co-player there', async (seat) => {
    const learner = (id: string): Agent => ppoAgent({ game, id, network, critic: 'joint' });
    const mine = (own: (id: string) => Agent, others: (id: string) => Agent): Agent[] =>
      game.agents.map((id, i) => (i === seat ? own(id) : others(id)));
    await trained({ game, agents: mine(learner, suspicious), envs: 3, steps: 9 }, 54);
    await trained({ game, agents: mine(suspicious, learner), envs: 3, steps: 9 }, 54);
  });

  test('NearestStag earns the same in every seat', { tags: ['learning'] }, async () => {
    const hunt = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4, obstaclePieces: 0 });
    const means: number[] = [];
    let error = 0;
    for (const seat of [0, 1, 2, 3]) {
      const agents = hunt.agents.map((id, i) =>
        i === seat ? nearestStag({ game: hunt, id }) : randomAgent({ game: hunt, id }),
      );
      const { returnMean, returnStandardError } = await evaluate(hunt, agents, { episodes: 800, seed: seat });
      means.push(returnMean[hunt.agents[seat]]);
      error = Math.max(error, returnStandardError[hunt.agents[seat]]);
    }
    // The difference of two means has sqrt(2) times their error; 4 of these is less than once in 1,000 for six pairs.
    expect(Math.max(...means) - Math.min(...means)).toBeLessThan(4 * Math.SQRT2 * error);
  });
});

describe('L07: short episodes are not over-counted', () => {
  // A coin at the start: 1 step that pays 0, or 35 steps of which the last one pays 1. Mean 0.5.
  const game: Game<'uint8'> = {
    ...tinyGame({ agents: 1, maxSteps: 35, reward: () => 0 }),
    step: (state, offset, _chosen, _at, _generator, result, row) => {
      const isLong = state[offset + 1] === 1;
      const isLast = ++state[offset] === (isLong ? 35 : 1);
      result.rewards[row] = isLong && isLast ? 1 : 0;
      result.terminated[row] = isLast ? 1 : 0;
      result.truncated[row] = 0;
    },
  };
  const agents = [randomAgent({ game, id: 'agent_0' })];

  test.each([64, 100, 200])('in an evaluation of %i episodes in 64 environments', async (episodes) => {
    const repeats = 40;
    let sum = 0;
    for (let seed = 0; seed < repeats; seed++) sum += (await evaluate(game, agents, { episodes, envs: 64, seed })).mean;
    // A coin's deviation is 0.5. The first-finished rule would give 0.07, 0.33, 0.37.
    expect(Math.abs(sum / repeats - 0.5)).toBeLessThan((4 * 0.5) / Math.sqrt(repeats * episodes));
  });

  test('over a long training curve, each episode that ends counts once', async () => {
    const rollout = createRollout(vectorEnv(game, { envs: 16 }), agents, createGenerator(1));
    const tracker = episodeTracker(game.agents, 16);
    let sum = 0;
    for (let i = 0; i < 50; i++) {
      const metrics = tracker.add(await rollout.collect(36));
      if (metrics['episode/count'] > 0) sum += metrics['episode/return_mean'] * metrics['episode/count'];
    }
    // 16 x 1,800 steps make 1,600 episodes; at most one unfinished long one in each environment is missing.
    const tolerance = (4 * 0.5) / Math.sqrt(tracker.count) + 16 / tracker.count;
    expect(Math.abs(sum / tracker.count - 0.5)).toBeLessThan(tolerance);
  });
});

describe('L01, L13: states and resuming', () => {
  const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 9 });
  let root: string;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'coplay-field-'));
  });
  afterAll(() => rmSync(root, { recursive: true }));
  const make = (options: Partial<SelfPlayOptions> & { hidden?: number; ppo?: PpoOptions } = {}) => {
    const { hidden = 8, ppo = {}, ...rest } = options;
    const played = rest.game ?? game;
    const agents = played.agents.map((id) =>
      ppoAgent({
        game: played,
        id,
        network: mlp({ hidden: [hidden] }),
        recurrent: 4,
        ppo: { ...ppo, sequenceLength: 4 },
      }),
    );
    return selfPlay({ game: played, agents, envs: 2, steps: 8, directory: join(root, 'run'), warn: () => {}, ...rest });
  };

  test('a state that was taken stays as it was while the run goes on, and puts it back exactly', {
    tags: ['slow'],
  }, async () => {
    const { directory: _, ...options } = { directory: '', game };
    const agents = game.agents.map((id) => ppoAgent({ game, id, network, recurrent: 4, ppo: { sequenceLength: 4 } }));
    const run = selfPlay({ ...options, agents, envs: 2, steps: 8 });
    await run.train({ envSteps: 16 });
    const taken = await run.state();
    const copy = structuredClone(taken);
    await run.train({ envSteps: 48 });
    const later = await run.state();
    expect(taken).toEqual(copy);
    await run.restore(taken);
    await run.train({ envSteps: 48 });
    expect(await run.state()).toEqual(later);
    run.dispose();
  });

  test('what does not fit is refused by field, and nothing changes', async () => {
    const first = make();
    await first.train({ envSteps: 16 });
    first.dispose();
    const misfits: [Parameters<typeof make>[0], RegExp][] = [
      [{ hidden: 16 }, /learners\.agent_0\.network\.hidden\.0 8, .* got .*hidden\.0 16/],
      [{ ppo: { gamma: 0.5 } }, /config\.learners\.agent_0\.gamma 0\.99/],
      [{ game: stagHunt({ size: 4, agents: 2, stags: 1, hares: 1, maxSteps: 9 }) }, /config\.game\.options\.size 3/],
      [{ envs: 4 }, /config\.envs 2, got config\.envs 4/],
      [{ seed: 9 }, /config\.seed 0, got config\.seed 9/],
    ];
    for (const [options, message] of misfits) {
      const other = make(options);
      await expect(other.resume()).rejects.toThrow(message);
      expect([other.envSteps, other.updates]).toEqual([0, 0]);
      other.dispose();
    }
  });

  test('resuming is in place, and one line says from where', async () => {
    const lines: string[] = [];
    const anHourLater = () => performance.timeOrigin + performance.now() + 3_600_000;
    const again = make({ warn: (line) => void lines.push(line), now: anHourLater });
    expect(await again.resume()).toBe(true);
    expect([again.envSteps, again.updates, again.learners[0].updates]).toEqual([16, 1, 1]);
    expect(lines).toEqual([
      expect.stringMatching(/^resumed step-000000000016: 16 steps, update 1, saved 1 hour ago by version/),
    ]);
    again.dispose();
  });

  test('a run into a directory that has one is refused unless it resumes', async () => {
    const other = make();
    await expect(other.train({ envSteps: 16 })).rejects.toThrow(/without a run in it/);
    other.dispose();
  });
});

describe('L02: no room for a checkpoint, and a kill before the first one', () => {
  const game = tinyGame({ reward: () => 1 });
  let root: string;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'coplay-field-'));
  });
  afterAll(() => rmSync(root, { recursive: true }));
  const make = (
    directory: string,
    warn: (line: string) => void,
    checkpointEvery: number | false,
    keepCheckpoints = 3,
  ) => {
    const agents = game.agents.map((id) => ppoAgent({ game, id, network }));
    return selfPlay({ game, agents, envs: 2, steps: 4, directory, checkpointEvery, warn, keepCheckpoints });
  };

  test('keeps as many checkpoints as asked, and with Infinity all', async () => {
    for (const [keep, kept] of [
      [2, 2],
      [Number.POSITIVE_INFINITY, 5],
    ] as const) {
      const directory = join(root, `keeps-${kept}`);
      const run = make(directory, () => {}, 1, keep);
      await run.train({ envSteps: 5 * 8 });
      expect(readdirSync(join(directory, 'checkpoints'))).toHaveLength(kept);
      run.dispose();
    }
    expect(() => make(root, () => {}, 1, 0)).toThrow(
      /selfPlay: option keepCheckpoints: expected a whole number of at least 1, or Infinity, got 0/,
    );
  });

  test('training goes on, loudly; but the last checkpoint must be written', async () => {
    const directory = join(root, 'full');
    mkdirSync(directory);
    writeFileSync(join(directory, 'checkpoints'), 'a file in the way');
    const lines: string[] = [];
    const run = make(directory, (line) => void lines.push(line), 2);
    await expect(run.train({ envSteps: 5 * 8 })).rejects.toThrow(/to write the checkpoint .*step-000000000040, got/);
    expect(run.updates).toBe(5);
    expect(lines).toHaveLength(2); // after updates 2 and 4
    expect(lines[0]).toMatch(
      /Training goes on without this checkpoint\. .*step-000000000016, got a file where a directory/,
    );
    run.dispose();
  });

  test('a run that was killed before its first checkpoint can be begun again by resuming it', async () => {
    const directory = join(root, 'early');
    const killed = make(directory, () => {}, false);
    const controller = new AbortController();
    controller.abort();
    await killed.train({ envSteps: 8, signal: controller.signal });
    killed.dispose();
    rmSync(join(directory, 'checkpoints'), { recursive: true });
    const again = make(directory, () => {}, false);
    expect(await again.resume()).toBe(false);
    await again.train({ envSteps: 8 });
    expect(again.updates).toBe(1);
    again.dispose();
  });
});

describe('M12, R14: line-ups', () => {
  test.each([
    { agents: 1, size: 1, stags: 0, hares: 0 },
    { agents: 1, size: 2, stags: 1, hares: 0 },
    { agents: 2, size: 2, stags: 0, hares: 0 },
    { agents: 8, size: 3, stags: 1, hares: 0 },
  ])('$agents agents on $size x $size with $stags stags and $hares hares', async (options) => {
    const game = stagHunt({ ...options, maxSteps: 4 });
    const agents = game.agents.map((id) =>
      ppoAgent({ game, id, network, critic: 'joint', inputs: { previousActions: true } }),
    );
    for (const metrics of await trained({ game, agents, envs: 2, steps: 6 }, 24)) expectFinite(metrics);
  });

  test('a reward that looks at the others is learned from by that agent alone', async () => {
    const game = tinyGame({ agents: 3, reward: (agent) => [1, 5, 9][agent] });
    // Inequity aversion (Fehr and Schmidt 1999): minus half of what the others have more, on average.
    const envy = ({ rewards }: Experience): Float32Array =>
      rewards.map((own, row) => {
        const others = [0, 1, 2].map((i) => rewards[row - (row % 3) + i]);
        return own - others.reduce((sum, other) => sum + Math.max(0, other - own), 0) / 2 / 2;
      });
    const agents: Agent[] = [
      ppoAgent({ game, id: 'agent_0', network, reward: envy }),
      ppoAgent({ game, id: 'agent_1', network, recurrent: 4 }),
      randomAgent({ game, id: 'agent_2' }),
    ];
    const [metrics] = await trained({ game, agents, envs: 2, steps: 4 }, 8);
    expect(metrics['agent_0/reward/mean']).toBeCloseTo(1 - (4 + 8) / 4, 6);
    expect(metrics['agent_1/reward/mean']).toBeCloseTo(5, 6);
    expect(metrics['episode/return/agent_0']).toBeCloseTo(4, 6); // the curve shows the game's own rewards: 4 steps of 1
  });
});
