import { type Agent, type Experience, type Game, type LogEntry, type SavedState, vectorEnv } from '@coplay/core';
import { limitedView, permuteSeats, randomAgent, stagHunt } from '@coplay/envs';
import { cellsWorldModel, mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import {
  anneal,
  curriculum,
  dreamerAgent,
  type ExplorationGoals,
  type ExplorerView,
  gridGoals,
  hopAgent,
  hopPlusAgent,
  type PpoAgent,
  ppoAgent,
  type SelfPlayOptions,
  type SharedGoalsOptions,
  selfPlay,
  sharedGoals,
  sharedPpoAgents,
} from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';

const [UP, DOWN, LEFT, RIGHT, STAY, STAG, HARE] = [0, 1, 2, 3, 4, 5, 6];
const network = mlp({ hidden: [8] });
const game = stagHunt({ size: 4, agents: 4, stags: 1, hares: 2, maxSteps: 9 });
const A = 4;

beforeAll(async () => {
  await useBackend('wasm');
});

/** What an agent sees in a map. */
function viewOf(played: Game, layout: string, seat: number): ExplorerView {
  const env = vectorEnv(played, { envs: 1 });
  env.reset({ layout });
  const K = played.actions;
  return { seat, observations: env.observations, row: seat, mask: env.masks.subarray(seat * K, (seat + 1) * K) };
}

describe('cells of a grid as goals', () => {
  // Cells in reading order:   0  1  2  3
  //                           4  5  6  7   agent 1 on 0, agent 2 on 15; 3 is walled in by 2 and 7
  //                           8  9 10 11
  //                          12 13 14 15
  const board = stagHunt({ size: 4, agents: 2, stags: 1, hares: 1 });
  const map = '1.#.\n.#.#\nSh..\n...2';
  const goals = gridGoals(board);
  const first = viewOf(board, map, 0);
  const second = viewOf(board, map, 1);

  it('are all cells, open where a way leads there', () => {
    expect(goals.count).toBe(16);
    const open = (view: ExplorerView) =>
      Array.from({ length: 16 }, (_, goal) => goal).filter((g) => goals.isOpen!(g, view));
    const reachable = [0, 1, 4, 6, 8, 9, 10, 11, 12, 13, 14, 15]; // not the obstacles 2, 5, 7, nor 3 behind them
    expect(open(first)).toEqual(reachable);
    expect(open(second)).toEqual(reachable);
  });

  it('are reached by the shortest ways around obstacles, all of them', () => {
    expect(goals.actions(6, first)).toEqual([DOWN]); // 0 4 8 9 10 6
    expect(goals.actions(1, first)).toEqual([RIGHT]);
    expect(goals.actions(8, second)).toEqual([UP, LEFT]); // along either line
    expect(goals.actions(3, second)).toEqual([]); // no way
  });

  it('at the goal, an agent tries what keeps it there', () => {
    expect(goals.isReached(0, first)).toBe(true);
    expect(goals.isReached(0, second)).toBe(false);
    expect(goals.actions(0, first)).toEqual([STAY, STAG, HARE]);
  });

  it('need grid parts, and known names', () => {
    expect(() => gridGoals(limitedView(game, 1))).toThrow(
      /gridGoals: expected a game with grid parts.*Goals of your own/,
    );
    expect(() => gridGoals(game, { blocking: ['walls'] })).toThrow(
      /option blocking: expected names of obstacles, got walls/,
    );
  });
});

/** Goals that every agent has reached at once, and where it may stay or go up. */
const here: ExplorationGoals = { count: 5, isReached: () => true, actions: () => [STAY, UP] };

const agentsOf = (): PpoAgent[] => sharedPpoAgents({ game, network, ppo: { minibatchSize: 64 } });

interface Recorded {
  readonly rollouts: Experience[];
  readonly entries: LogEntry[];
}

function makeRun(exploration: SharedGoalsOptions | undefined, recorded: Recorded, more: Partial<SelfPlayOptions> = {}) {
  return selfPlay({
    game,
    agents: agentsOf(),
    envs: 6,
    steps: 8,
    seed: 3,
    log: [{ start() {}, close() {}, write: (entry) => void recorded.entries.push(entry) }],
    onRollout: (experience) => void recorded.rollouts.push(experience),
    ...(exploration && { exploration: sharedGoals(exploration) }),
    ...more,
  });
}

async function trained(exploration: SharedGoalsOptions | undefined, envSteps: number, more?: Partial<SelfPlayOptions>) {
  const recorded: Recorded = { rollouts: [], entries: [] };
  const run = makeRun(exploration, recorded, more);
  await run.train({ envSteps });
  run.dispose();
  return recorded;
}

/** Calls with each active row [E, T, A] of an experience. */
function eachRow(
  { envs, steps, active }: Experience,
  use: (row: number, env: number, t: number, seat: number) => void,
) {
  for (let row = 0; row < envs * steps * A; row++) {
    if (active[row] === 1) use(row, Math.floor(row / A / steps), Math.floor(row / A) % steps, row % A);
  }
}

describe('shared goals', () => {
  it('give the learner the log-probabilities with which the explorers drew, and leave the others alone', async () => {
    const agents = agentsOf();
    const rollouts: Experience[] = [];
    const before: Experience[] = [];
    const run = selfPlay({
      ...{ game, agents, envs: 6, steps: 8, seed: 3 },
      exploration: sharedGoals({ share: 0.5, goals: here }),
      onRollout: (experience) => void rollouts.push(experience),
    });
    const { learner } = agents[0];
    const update = learner.update.bind(learner);
    learner.update = async (data) => {
      let own = data.experience; // as the policy that acted gives them
      for (let seat = 0; seat < A; seat++) own = await learner.currentLogProbs(own, seat);
      before.push(own);
      return update(data);
    };
    await run.train({ envSteps: 48 });
    run.dispose();
    const [rollout] = rollouts;
    const { explored, logProbs } = rollout.extras;
    let rows = 0;
    eachRow(rollout, (row) => {
      if (explored.data[row] === 0) {
        expect(logProbs.data[row]).toBeCloseTo(before[0].extras['logProbs'].data[row], 5);
        return;
      }
      rows++;
      const legal = [STAY, UP].filter((action) => rollout.masks[row * 7 + action] === 1);
      expect(legal).toContain(rollout.actions[row]);
      expect(logProbs.data[row]).toBeCloseTo(-Math.log(legal.length), 6);
    });
    expect(rows).toBeGreaterThan(20);
  });

  it('has as many explorers as the group in each episode of the share, and no others', async () => {
    for (const [share, group] of [
      [1, 2],
      [1, 3],
      [0, 2],
    ] as const) {
      const { rollouts } = await trained({ share, group, goals: here }, 96);
      const explorers = new Map<string, Set<number>>();
      for (const [n, rollout] of rollouts.entries()) {
        let episode = 0;
        eachRow(rollout, (row, env, t, seat) => {
          if (rollout.isFirst[env * rollout.steps + t] === 1 && seat === 0) episode++;
          const key = `${n} ${env} ${episode}`;
          if (!explorers.has(key)) explorers.set(key, new Set());
          if (rollout.extras['explored'].data[row] === 1) explorers.get(key)!.add(seat);
        });
      }
      const sizes = [...explorers.values()].map((seats) => seats.size);
      expect(Math.max(...sizes)).toBe(share * group);
      if (share === 0) expect(Math.max(...sizes)).toBe(0);
    }
  });

  it('a group has one goal at a time, and draws the next when all have stayed', async () => {
    const asked: { env: number; seat: number; goal: number }[] = [];
    const goals: ExplorationGoals = {
      ...here,
      actions: (goal, { seat, row }) => {
        asked.push({ env: row, seat, goal });
        return [STAY]; // nobody catches anything or leaves
      },
    };
    await trained({ share: 1, stay: 3, goals }, 48);
    const drawn = new Set<number>();
    for (let env = 0; env < 6; env++) {
      const seats = [...new Set(asked.filter((one) => one.env === env).map(({ seat }) => seat))];
      expect(seats.length).toBe(2);
      const [mine, partners] = seats.map((seat) => asked.filter((one) => one.env === env && one.seat === seat));
      const sequence = mine.map(({ goal }) => goal);
      expect(partners.map(({ goal }) => goal)).toEqual(sequence);
      // 8 steps: three at the first goal, three at the second, two at the third.
      const expected = [0, 0, 0, 3, 3, 3, 6, 6].map((start) => sequence[start]);
      expect(sequence).toEqual(expected);
      for (const goal of sequence) drawn.add(goal);
    }
    expect(drawn.size).toBe(5); // 18 draws of 5
  });

  it('an explorer waits for its partner until its patience is over', async () => {
    const asked: number[] = [];
    const goals: ExplorationGoals = {
      ...here,
      isReached: (_, { seat }) => seat === 0, // the partner never arrives
      actions: (goal, { seat, row }) => {
        if (row === 0 && seat === 0) asked.push(goal);
        return [STAY];
      },
    };
    await trained(
      { share: 1, stay: 2, patience: 5, goals: { ...goals, count: 1000 }, ids: ['agent_0', 'agent_1'] },
      48,
    );
    expect(asked.slice(0, 5)).toEqual(new Array(5).fill(asked[0]));
    expect(asked[5]).not.toBe(asked[0]);
  });

  it('acts by its own policy where a goal names no legal action, and where no goal is open', async () => {
    const nowhere = await trained({ share: 1, goals: { ...here, actions: () => [] } }, 48);
    const closed = await trained({ share: 1, goals: { ...here, isOpen: () => false } }, 48);
    const plain = await trained(undefined, 48);
    for (const { rollouts } of [nowhere, closed]) {
      expect(rollouts[0].actions).toEqual(plain.rollouts[0].actions);
      expect(rollouts[0].extras['logProbs'].data).toEqual(plain.rollouts[0].extras['logProbs'].data);
    }
  });

  it('ends where the annealing ends: then all rows are those of the policies', async () => {
    const { entries } = await trained({ share: { from: 1, to: 0, by: 0.5 } }, 8 * 48);
    const shares = entries.map(({ metrics }) => metrics['exploration/episode_share']);
    expect(shares).toEqual([1, 0.75, 0.5, 0.25, 0, 0, 0, 0]);
    const ofSteps = entries.map(({ metrics }) => metrics['exploration/step_share']);
    expect(ofSteps[0]).toBeGreaterThan(0.3);
    // Episodes of 9 steps that began before the end run on for one rollout of 8 and a step.
    expect(ofSteps.slice(6)).toEqual([0, 0]);
  });

  it('changes nothing in evaluations', async () => {
    const recorded: Recorded = { rollouts: [], entries: [] };
    const exploring = makeRun({ share: 1, goals: here }, recorded);
    const plain = makeRun(undefined, recorded);
    const options = { episodes: 20 };
    expect((await exploring.evaluate(options)).returns).toEqual((await plain.evaluate(options)).returns);
    exploring.dispose();
    plain.dispose();
  });

  it('goes on from a saved state to the same bits', async () => {
    const whole: Recorded = { rollouts: [], entries: [] };
    const run = makeRun({ share: 0.7 }, whole);
    await run.train({ envSteps: 96 });
    const saved = await run.state();
    await run.train({ envSteps: 192 });
    run.dispose();

    const rest: Recorded = { rollouts: [], entries: [] };
    const other = makeRun({ share: 0.7 }, rest);
    await other.restore(saved);
    await other.train({ envSteps: 192 });
    other.dispose();
    expect(rest.rollouts.length).toBe(2);
    for (const [i, { actions, rewards, extras }] of rest.rollouts.entries()) {
      expect(actions).toEqual(whole.rollouts[2 + i].actions);
      expect(rewards).toEqual(whole.rollouts[2 + i].rewards);
      expect(extras['logProbs'].data).toEqual(whole.rollouts[2 + i].extras['logProbs'].data);
      expect(extras['explored'].data).toEqual(whole.rollouts[2 + i].extras['explored'].data);
    }

    const plain = makeRun(undefined, rest);
    await expect(plain.restore(saved)).rejects.toThrow(/a run without exploration, got a run with exploration/);
    const bent = { ...saved, explorers: { ...(saved['explorers'] as SavedState), goals: Int32Array.of(1) } };
    const third = makeRun({ share: 0.7 }, rest);
    await expect(third.restore(bent)).rejects.toThrow(/sharedGoals: restore.*6 goals/);
    for (const one of [plain, third]) one.dispose();
  });

  it('is there for HOP+ and Dreamer too', { tags: ['learning'] }, async () => {
    const small = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps: 6 });
    const [id, other] = small.agents;
    const omg = {
      goalDim: 2,
      hidden: [2],
      stateUnits: 2,
      historyUnits: 2,
      vaeUpdates: 1,
      vaeSteps: 1,
      vaeBatchSize: 2,
    };
    const learners = [
      hopPlusAgent({
        ...{ game: small, id, network, executor: 'eager', moa: { network, minRows: 1, minibatchSize: 4 } },
        worldModel: { model: cellsWorldModel({ filters: [2], hidden: 2 }), stepsPerUpdate: 1, batchSize: 4 },
        omg: { ...omg, epsilon: 1 },
      }),
      dreamerAgent({ game: small, id, executor: 'eager', size: 'debug', batchSize: 1, sequenceLength: 2, horizon: 1 }),
    ];
    for (const learner of learners) {
      const rollouts: Experience[] = [];
      const run = selfPlay({
        ...{ game: small, agents: [learner, randomAgent({ game: small, id: other })] as Agent[], envs: 2, steps: 6 },
        exploration: sharedGoals({ share: 1, group: 1 }),
        onRollout: (experience) => void rollouts.push(experience),
      });
      await run.train({ envSteps: 24 });
      run.dispose();
      const explored = rollouts[1].extras['explored'].data;
      expect(Array.from(explored).filter((flag, row) => flag === 1 && row % 2 === 1)).toEqual([]);
      expect(Array.from(explored)).toContain(1);
    }
  });

  it('refuses agents that cannot, by name', () => {
    const exploration = sharedGoals();
    const hop = hopAgent({ game, id: 'agent_0', network });
    const rules = game.agents.slice(1).map((id) => randomAgent({ game, id }));
    const make = (agents: readonly Agent[], option = exploration) => selfPlay({ game, agents, exploration: option });
    expect(() => make([hop, ...rules])).toThrow(/learners that can learn from actions of others, got HOP \(agent_0\)/);
    const one = ppoAgent({ game, id: 'agent_0', network });
    expect(() => make([one, ...rules])).toThrow(
      /option group: expected at least 2 agents that may explore, got 1 of 4/,
    );
    const ids = sharedGoals({ ids: ['agent_1'], group: 1 });
    expect(() => make([one, ...rules], ids)).toThrow(
      /option ids: expected different ids of agents that learn: agent_0/,
    );
    const seated = permuteSeats(game);
    const agents = sharedPpoAgents({ game: seated, network });
    expect(() => selfPlay({ game: seated, agents, exploration })).toThrow(/a game with grid parts/);
    const partners = { of: (id: string) => [randomAgent({ game, id })] };
    expect(() => selfPlay({ game, agents: agentsOf(), exploration, partners })).toThrow(
      /one of the options exploration/,
    );
    expect(() => sharedGoals({ share: 2 })).toThrow(/sharedGoals: option share/);
  });

  it("counts an action once that a walker names twice, and refuses what isn't an action", async () => {
    const run = (answer: unknown, onRollout: (experience: Experience) => void = () => undefined) =>
      selfPlay({
        ...{ game, agents: agentsOf(), envs: 8, steps: 10, onRollout },
        exploration: sharedGoals({
          share: 1,
          goals: { count: 1, isReached: () => true, actions: () => answer as number[] },
        }),
      });
    const taken: number[] = [];
    const repeated = run([STAY, STAY, STAY, 0], ({ actions, extras }) => {
      Array.from(extras['explored'].data).forEach((flag, row) => {
        if (flag === 1 && Math.abs(extras['logProbs'].data[row] + Math.log(2)) < 1e-6) taken.push(actions[row]);
      });
    });
    await repeated.train({ envSteps: 80 });
    repeated.dispose();
    expect(taken.length).toBeGreaterThan(30);
    const share = taken.filter((action) => action === STAY).length / taken.length;
    expect(Math.abs(share - 0.5)).toBeLessThan(4 * Math.sqrt(0.25 / taken.length));
    for (const answer of [undefined, [99]]) {
      const odd = run(answer);
      await expect(odd.train({ envSteps: 8 })).rejects.toThrow(
        /goals\.actions\(0\): expected a list of actions from 0/,
      );
      odd.dispose();
    }
  });

  it('refuses an agent whose answers lack the log-probabilities that its learner reads', async () => {
    const agents = agentsOf().map((agent) => ({
      ...{ id: agent.id, name: 'bare', learner: agent.learner },
      initialState: () => null,
      act: ({ rows }: { rows: number }) => ({ actions: new Int32Array(rows).fill(STAY), state: null }),
    }));
    const run = selfPlay({ game, agents, envs: 1, steps: 2, exploration: sharedGoals({ share: 1 }) });
    await expect(run.train({ envSteps: 2 })).rejects.toThrow(/bare \(agent_0\).act: expected the extra logProbs/);
    run.dispose();
  });
});

describe('a curriculum', () => {
  const options = { size: 4, agents: 4, stags: 1, hares: 2, maxSteps: 9 };
  const lessons = () => {
    const asked: number[] = [];
    const made = curriculum((progress) => {
      asked.push(progress);
      return stagHunt({ ...options, partnerChance: anneal({ from: 1, to: 0, by: 0.5 }, progress) });
    });
    return { made, asked };
  };

  it('gives the rules of each share of the training, and evaluations the rules of the run', async () => {
    const { made, asked } = lessons();
    const recorded: Recorded = { rollouts: [], entries: [] };
    const run = makeRun(undefined, recorded, { curriculum: made });
    const plain = makeRun(undefined, recorded);
    expect((await run.evaluate({ episodes: 20 })).returns).toEqual((await plain.evaluate({ episodes: 20 })).returns);
    await run.train({ envSteps: 4 * 48 });
    expect(asked).toEqual([0, 0.25, 0.5, 0.75]);
    run.dispose();
    plain.dispose();
  });

  it('plays the present lesson in the same environments', () => {
    const { made } = lessons();
    const env = vectorEnv(made.game, { envs: 1 });
    const hunt = () => {
      env.reset({
        layout: {
          agents: [
            [0, 0],
            [3, 3],
            [3, 3],
            [3, 3],
          ],
          stags: [[0, 0]],
        },
      });
      env.step(Int32Array.of(STAG, STAY, STAY, STAY));
      return env.result.rewards[0];
    };
    expect(hunt()).toBe(5); // half of the stag's 10
    made.setProgress(0.5);
    expect(hunt()).toBe(0);
    made.setProgress(0);
    expect(hunt()).toBe(5);
  });

  it('refuses lessons of another kind', () => {
    expect(() => curriculum(() => null as unknown as Game)).toThrow(/curriculum: lesson\(0\)/);
    const growing = curriculum((progress) => stagHunt({ ...options, maxSteps: progress === 0 ? 9 : 8 }));
    expect(() => growing.setProgress(0.5)).toThrow(/lesson\(0.5\): maxSteps.*9 as in lesson\(0\)/);
    const recorded: Recorded = { rollouts: [], entries: [] };
    const larger = curriculum(() => stagHunt({ ...options, size: 5 }));
    expect(() => makeRun(undefined, recorded, { curriculum: larger })).toThrow(/curriculum.game: observation/);
  });
});
