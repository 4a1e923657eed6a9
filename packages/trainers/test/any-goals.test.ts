/** MOA, HOP and HOP+ with the goals of a game without a grid. */
import { type Agent, createGenerator, createRollout, type Game, vectorEnv } from '@coplay/core';
import { allocateObservations } from '@coplay/core/arrays';
import { matrixGame, stagHunt } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { createMoa, hopAgent, hopPlusAgent, planner, selfPlay } from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';

const [STAG, HARE] = [0, 1];

/**
 * Two hunters, 4 rounds. Goal 0: both hunted the stag, which only the state after the round shows. Goal 1: the agent
 * hunted a hare.
 */
function hunt(): Game<'int32'> {
  const game = matrixGame({ kind: 'stag-hunt', maxSteps: 4 });
  const view = allocateObservations(game.observation, 1);
  return {
    ...game,
    goals: {
      names: ['both hunt the stag', 'hare'],
      readsStates: true,
      reached({ agent, action, after }) {
        if (action === HARE) return 1;
        game.observe(after, 0, agent, view, 0);
        return view['joint'][0] === 1 ? 0 : -1; // the first entry: stag and stag
      },
    },
  };
}

/** Plays the same actions in each episode. */
function scripted(id: string, actions: readonly number[]): Agent<Int32Array> {
  return {
    id,
    name: 'scripted',
    initialState: (rows) => new Int32Array(rows),
    act({ rows, isFirst }, state) {
      const round = state.map((played, row) => (isFirst[row] === 1 ? 0 : played));
      return {
        actions: Int32Array.from({ length: rows }, (_, row) => actions[round[row]]),
        state: round.map((played) => played + 1),
      };
    },
  };
}

beforeAll(async () => {
  await useBackend('wasm'); // another file may have left the slowest one
});

const tiny = { executor: 'eager', network: mlp({ hidden: [8] }) } as const;
const moa = { minRows: 8, network: mlp({ hidden: [8] }) };

describe('goals of a matrix game', () => {
  it('label the rounds of a model of another agent', async () => {
    const game = hunt();
    const models = createMoa({ ...moa, game, id: 'agent_0', executor: 'eager' });
    const agents = [scripted('agent_0', [HARE, STAG, STAG, HARE]), scripted('agent_1', [STAG, STAG, HARE, STAG])];
    const rollout = createRollout(vectorEnv(game, { envs: 1, seed: 1 }), agents, createGenerator(1));
    models.push(await rollout.collect(8));
    // agent_1 reaches: nothing (alone at the stag), both, hare, nothing.
    const { columns, places } = models.buffer.held('agent_1');
    const labels = Array.from(places, (place) => columns['goals'].data[place]);
    expect(labels).toEqual([0, 0, 1, -1, 0, 0, 1, -1]);
    expect(models.goals).toBe(2);
    models.dispose();
  });

  it('are what HOP believes in, searches with and learns from', async () => {
    const game = hunt();
    const agent = hopAgent({ ...tiny, game, id: 'agent_0', moa, search: { trees: 1, simulations: 4 } });
    // The co-player reaches hare in the second and fourth round.
    const coPlayer = scripted('agent_1', [STAG, HARE, STAG, HARE]);
    const run = selfPlay({ game, agents: [agent, coPlayer], envs: 2, steps: 8, seed: 1, log: [] });
    await run.train({ envSteps: 16 });
    expect(agent.learner.updates).toBe(1);
    const [models] = agent.learner.setup.coPlayerModels.values();
    expect([models.goals, models.updates]).toEqual([2, 1]);
    expect(models.goalCounts('agent_1')[1]).toBeGreaterThan(2); // 1 at first, and four episodes
    // Four episodes ended with hare: its count is about 5, and the other one about 1.
    expect(agent.beliefs!.prior('agent_1')[1]).toBeCloseTo(5 / 6, 1);
    const plan = planner(agent);
    const env = vectorEnv(game, { envs: 2, seed: 2 });
    const { extras } = (await createRollout(env, [plan, coPlayer], createGenerator(2)).step())[0];
    expect(extras!['beliefs'].data.slice(0, 4)).toEqual(Float32Array.of(0, 0, ...agent.beliefs!.prior('agent_1')));
    expect(plan.lastSearch!.result.visits.reduce((sum, visits) => sum + visits, 0)).toBe(2 * 4);
    run.dispose();
  });

  it('are drawn by HOP+ in its search and its imagination', async () => {
    const game = hunt();
    const agent = hopPlusAgent({
      ...{ ...tiny, game, id: 'agent_0', worldModel: 'rules', omg: false, moa },
      imagined: { horizon: 2, startUpdates: 0, minAccuracy: 0, moaAccuracy: 0.01 },
      treeSearch: { trees: 1, simulations: 4 },
    });
    const coPlayer = scripted('agent_1', [STAG, HARE, STAG, HARE]);
    const run = selfPlay({ game, agents: [agent, coPlayer], envs: 2, steps: 8, seed: 1, log: [] });
    const seen: number[] = [];
    await run.train({ envSteps: 32 });
    const env = vectorEnv(game, { envs: 1, seed: 2 });
    const rollout = createRollout(env, [agent, coPlayer], createGenerator(2));
    for (let round = 0; round < 3; round++) {
      const { extras } = (await rollout.step())[0];
      seen.push(...extras!['beliefs'].data.subarray(2, 4));
    }
    const prior = [seen[0], seen[1]];
    expect(prior[1]).toBeGreaterThan(0.8); // eight episodes ended with hare
    expect([seen[4], seen[5]]).toEqual(prior); // it reached hare in the second round
    expect(seen[2] + seen[3]).toBeCloseTo(1, 6);
    run.dispose();
  });

  it('are refused by the name of the option where agents do not see the states that goals read', () => {
    const { goals } = hunt();
    const game = { ...stagHunt({ size: 3, agents: 2 }), goals: { ...goals!, reached: () => -1 } };
    const given = { ...tiny, game, id: 'agent_0', worldModel: 'rules', omg: false, imagined: false, moa } as const;
    const wrong = (option: string, remedy: string) =>
      new RegExp(
        `option ${option}: expected goals that agents recognise without states, .*got stag-hunt, .*${remedy}.*docs`,
      );
    const none = "ive goals: 'none', or declare observesState";
    expect(() => hopAgent({ ...tiny, game, id: 'agent_0' })).toThrow(wrong('goals', none));
    expect(() => hopPlusAgent({ ...given, goalPriors: true })).toThrow(wrong('goalPriors', 'Leave it out, or'));
    const search = { trees: 1, simulations: 4 };
    expect(() => hopPlusAgent({ ...given, treeSearch: search })).toThrow(
      wrong('treeSearch', "Give moa: { goals: 'none' }, or"),
    );
    hopAgent({ ...tiny, game, id: 'agent_0', goals: 'none' });
    hopPlusAgent({ ...given, moa: { ...moa, goals: 'none' }, treeSearch: search });
  });

  it('are refused by name where they cannot be recognised', () => {
    const game = hunt();
    const attempts =
      /createMoa: option attempts: expected false for matrix-stag-hunt, whose goals read states, got true/;
    expect(() => createMoa({ game, id: 'agent_0', attempts: true })).toThrow(attempts);
    const none =
      /option goals: expected none for matrix-stag-hunt, which names no goals.*"Goals" in docs\/writing-an-environment.md/;
    expect(() => createMoa({ game: matrixGame(), id: 'agent_0', goals: 'hindsight' })).toThrow(none);
  });
});
