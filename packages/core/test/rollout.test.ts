import {
  type Agent,
  type AgentInput,
  createGenerator,
  createRollout,
  evaluate,
  type Game,
  imagine,
  ndarray,
  rulesSimulator,
  vectorEnv,
} from '@coplay/core';
import { describe, expect, it } from 'vitest';
import { clockGame } from './clock-game';

/** An agent whose action is its own number, and whose extra is its observation. */
function speaker(id: string, says: number, seen: AgentInput[] = []): Agent<number> {
  return {
    id,
    name: 'speaker',
    initialState: () => 0,
    act: (input, state) => {
      seen.push(structuredClone(input));
      const saw = Float32Array.from(input.observations['step'], (step) => 100 * says + step);
      return { actions: new Int32Array(input.rows).fill(says), state: state + 1, extras: { saw: ndarray(saw) } };
    },
  };
}

const collect = (game: Game, agents: Agent[], envs: number, steps: number) =>
  createRollout(vectorEnv(game, { envs }), agents, createGenerator(0)).collect(steps);

describe('rollout', () => {
  it('records what was seen before an action, the action, and the reward it earned', async () => {
    const game = clockGame({ maxSteps: 3, agents: 2, ends: [2, undefined], rewards: [10, 1] });
    const agents = [speaker('agent_1', 1), speaker('agent_0', 0)]; // the order of the list means nothing
    const experience = await collect(game, agents, 1, 4);
    // Episode of 3 steps (agent 0 ends after 2), then the first step of the next; agents side by side.
    expect([...experience.observations['step']]).toEqual([0, 0, 1, 1, 2, 2, 0, 0]);
    expect([...experience.actions]).toEqual([0, 1, 0, 1, 0, 1, 0, 1]);
    expect([...experience.rewards]).toEqual([10, 1, 10, 1, 0, 1, 10, 1]);
    expect([...experience.active]).toEqual([1, 1, 1, 1, 0, 1, 1, 1]);
    expect([...experience.terminated]).toEqual([0, 0, 1, 0, 1, 0, 0, 0]);
    expect([...experience.truncated]).toEqual([0, 0, 0, 0, 0, 1, 0, 0]);
    expect([...experience.isFirst]).toEqual([1, 0, 0, 1]);
    expect([...experience.ended]).toEqual([0, 0, 1, 0]);
    expect([...experience.previousActions]).toEqual([-1, -1, 0, 1, 0, 1, -1, -1]);
    expect([...experience.extras['saw'].data]).toEqual([0, 100, 1, 101, 2, 102, 0, 100]);
    expect([...experience.extras['info/played'].data]).toEqual([1, 1, 1, 1, 0, 1, 1, 1]);
  });

  it('keeps what came after each cut: a time limit, and the end of the rollout', async () => {
    const game = clockGame({ maxSteps: 3, agents: 2, ends: [2, undefined] });
    const { cuts } = await collect(game, [speaker('agent_0', 0), speaker('agent_1', 1)], 2, 4);
    expect([...cuts.env]).toEqual([0, 1, 0, 1]);
    expect([...cuts.step]).toEqual([2, 2, 3, 3]);
    expect([...cuts.observations['step']]).toEqual([3, 3, 3, 3, 1, 1, 1, 1]);
    // Agent 0 had left before the step of the first two cuts.
    expect([...cuts.previousActions]).toEqual([-1, 1, -1, 1, 0, 1, 0, 1]);
  });

  it('keeps what was seen after an end by the rules, not the next reset', async () => {
    const game = clockGame({ maxSteps: 9, agents: 2, ends: [1, 3] });
    const { cuts, ended } = await collect(game, [speaker('agent_0', 0), speaker('agent_1', 0)], 1, 3);
    expect([...ended]).toEqual([0, 0, 1]);
    expect([...cuts.step]).toEqual([2]);
    expect([...cuts.observations['step']]).toEqual([3, 3]);
  });

  it('keeps what was legal after each cut, not what is legal after the next reset', async () => {
    // Action 0 is legal in even steps, action 1 in odd ones.
    const game: Game<'int32'> = {
      ...clockGame({ maxSteps: 3, agents: 1 }),
      legal: (state, offset, _agent, masks, at) => {
        masks[at] = state[offset] % 2 === 0 ? 1 : 0;
        masks[at + 1] = 1 - masks[at];
      },
    };
    const alternating: Agent<null> = {
      id: 'agent_0',
      name: 'alternating',
      initialState: () => null,
      act: ({ rows, masks }, state) => ({
        actions: Int32Array.from({ length: rows }, (_, e) => masks[2 * e + 1]),
        state,
      }),
    };
    const { cuts } = await collect(game, [alternating], 1, 5);
    // The first cut is the time limit after 3 steps, where the next reset is at step 0; the second one the end of the
    // rollout.
    expect([...cuts.step]).toEqual([2, 4]);
    expect([...cuts.masks]).toEqual([0, 1, 1, 0]);
  });

  it('an extra that some agents do not give is NaN for them', async () => {
    const silent: Agent<null> = {
      id: 'agent_1',
      name: 'silent',
      initialState: () => null,
      act: ({ rows }) => ({ actions: new Int32Array(rows), state: null }),
    };
    const { extras } = await collect(clockGame({ agents: 2 }), [speaker('agent_0', 0), silent], 1, 2);
    expect([...extras['saw'].data]).toEqual([0, Number.NaN, 1, Number.NaN]);
  });

  it('one agent’s appetite for random numbers changes nothing for the others', async () => {
    const gambler = (id: string, draws: number): Agent<null> => ({
      id,
      name: 'gambler',
      initialState: () => null,
      act: ({ rows }, _state, generator) => {
        const actions = Int32Array.from({ length: rows }, () => generator.integer(2));
        for (let i = 0; i < draws; i++) generator.uniform();
        return { actions, state: null };
      },
    });
    const game = clockGame({ agents: 2 });
    const columns = async (draws: number) => {
      const { actions } = await collect(game, [gambler('agent_0', draws), gambler('agent_1', 0)], 2, 8);
      return actions.filter((_, row) => row % 2 === 1);
    };
    expect(await columns(0)).toEqual(await columns(13));
  });

  it('refuses an illegal action with agent, environment, step and what is legal', async () => {
    const game = clockGame({ maxSteps: 5, agents: 1 });
    const strict = {
      ...game,
      legal: (_s: Int32Array, _o: number, _a: number, mask: Uint8Array, at: number) => void mask.set([1, 0], at),
    };
    await expect(collect(strict, [speaker('agent_0', 1)], 1, 2)).rejects.toThrow(
      /speaker \(agent_0\)\.act: expected a legal action for agent_0 in environment 0, step 0: 0 left, got 1/,
    );
  });

  it('refuses a game that leaves an active agent nothing to do', async () => {
    const game = clockGame({ maxSteps: 5, agents: 1 });
    const mute = {
      ...game,
      legal: (_s: Int32Array, _o: number, _a: number, mask: Uint8Array, at: number) => void mask.fill(0, at, at + 2),
    };
    await expect(collect(mute, [speaker('agent_0', 1)], 1, 2)).rejects.toThrow(
      /clock: expected a legal action for agent_0 in environment 0, step 0, got a mask of zeros/,
    );
  });

  it.each([
    ['nobody for an id', [speaker('agent_0', 0)], /one agent with the id "agent_1"/],
    ['two for an id', [speaker('agent_0', 0), speaker('agent_0', 0), speaker('agent_1', 0)], /"agent_0", got 2/],
    ['a stranger', [speaker('agent_0', 0), speaker('agent_1', 0), speaker('bob', 0)], /"bob"/],
  ])('refuses %s', (_, agents, message) => {
    expect(() => createRollout(vectorEnv(clockGame({ agents: 2 }), { envs: 1 }), agents, createGenerator(0))).toThrow(
      message,
    );
  });
});

describe('imagine', () => {
  it('marks what it makes, row by row, and ends a row where its episode ends', async () => {
    const game = clockGame({ maxSteps: 3, agents: 1, rewards: [5] });
    const starts = {
      states: new Int32Array(2 * game.stateSize),
      previousActions: Int32Array.of(-1, 0),
      isFirst: Uint8Array.of(1, 0),
    };
    starts.states[game.stateSize] = 2; // the second row begins one step before the time limit
    const generator = createGenerator(1);
    const made = await imagine(rulesSimulator(game), [speaker('agent_0', 0)], starts, { horizon: 4, generator });
    expect([...made.isImagined]).toEqual([1, 1]);
    expect([...made.lengths]).toEqual([3, 1]);
    expect([...made.observations['step'].subarray(0, 3)]).toEqual([0, 1, 2]);
    expect(made.observations['step'][4]).toBe(2);
    const real = await collect(game, [speaker('agent_0', 0)], 2, 4);
    expect([...real.isImagined]).toEqual([0, 0]);
  });
});

describe('evaluate', () => {
  /** Half of the episodes last 1 step and pay 0, half last 35 and pay 1 (drawn at the start). */
  const uneven: Game<'int32'> = {
    ...clockGame({ maxSteps: 35 }),
    step: (state, offset, _actions, _at, _generator, result, row) => {
      state[offset]++;
      const isShort = state[offset + 1] % 2 === 0;
      result.terminated[row] = isShort || state[offset] === 35 ? 1 : 0;
      result.truncated[row] = 0;
      result.rewards[row] = !isShort && state[offset] === 35 ? 1 : 0;
      result.infos['played'][row] = 1;
    },
  };

  it.each([64, 100, 200])(
    'does not count short episodes more often: %i episodes in 64 environments',
    async (episodes) => {
      let sum = 0;
      const repeats = 30;
      for (let seed = 0; seed < repeats; seed++) {
        sum += (await evaluate(uneven, [speaker('agent_0', 0)], { episodes, envs: 64, seed })).mean;
      }
      // Standard error: 0.5 / sqrt(30 x 64) = 0.011. Taking the first that finish gives 0.07, 0.33 and 0.37.
      expect(Math.abs(sum / repeats - 0.5)).toBeLessThan(0.05);
    },
  );

  it('reports each agent’s own mean and one mean over agents', async () => {
    const game = clockGame({ maxSteps: 1, agents: 4, rewards: [10, 0, 0, 0] });
    const agents = game.agents.map((id) => speaker(id, 0));
    const result = await evaluate(game, agents, { episodes: 10 });
    expect(result.returnMean).toEqual({ agent_0: 10, agent_1: 0, agent_2: 0, agent_3: 0 });
    expect(result.mean).toBe(2.5);
    expect([...result.lengths]).toEqual(new Array(10).fill(1));
    expect(result.infos['played']['agent_3']).toBe(1);
    expect(result.byAgent['agent_0']).toEqual({ return: 10, 'standard error': 0, played: 1 });
  });

  it('gives the standard error of each mean, from the returns of its episodes', async () => {
    const { returns, returnMean, returnStandardError } = await evaluate(uneven, [speaker('agent_0', 0)], {
      episodes: 40,
      envs: 8,
      seed: 3,
    });
    const ones = returns.filter((value) => value === 1).length;
    expect(ones).toBeGreaterThan(5);
    expect(returnMean['agent_0']).toBeCloseTo(ones / 40, 12);
    // n p (1 - p) is the sum of squares about the mean of n zeros and ones; variance by n - 1, of a mean by n again.
    const p = ones / 40;
    expect(returnStandardError['agent_0']).toBeCloseTo(Math.sqrt((40 * p * (1 - p)) / 39 / 40), 12);
    const { lengths } = await evaluate(uneven, [speaker('agent_0', 0)], { episodes: 40, envs: 8, seed: 3 });
    expect([...lengths]).toEqual(Array.from(returns, (value) => (value === 1 ? 35 : 1)));
  });

  it('puts memories back', async () => {
    let memory = 5;
    const agent: Agent<number> = {
      ...speaker('agent_0', 0),
      observe: () => void memory++,
      save: () => ({ memory }),
      restore: (saved) => {
        memory = saved['memory'] as number;
      },
    };
    await evaluate(clockGame({}), [agent], { episodes: 3 });
    expect(memory).toBe(5);
  });

  it('refuses a game whose episodes do not end', async () => {
    const game = clockGame({ maxSteps: 3 });
    const endless: Game<'int32'> = {
      ...game,
      step: (state, offset, actions, at, generator, result, row) => {
        game.step(state, offset, actions, at, generator, result, row);
        result.truncated[row] = 0;
      },
    };
    await expect(evaluate(endless, [speaker('agent_0', 0)], { episodes: 2 })).rejects.toThrow(
      /evaluate: expected episodes of clock that end within its maxSteps, 3, got 4 steps/,
    );
  });

  it.each([0, 1.5, -2])('refuses %s episodes', async (episodes) => {
    await expect(evaluate(clockGame({}), [speaker('agent_0', 0)], { episodes })).rejects.toThrow(
      /evaluate: option episodes: expected/,
    );
  });
});
