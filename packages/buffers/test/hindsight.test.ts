/** Goals in hindsight in a game without a grid, where only the states around a step show them. */
import { attemptRows, createMoaBuffer, moaRows } from '@coplay/buffers';
import { type Agent, createGenerator, createRollout, type Game, type GoalStep, vectorEnv } from '@coplay/core';
import { describe, expect, it } from 'vitest';

const UP = 0;
const DOWN = 1;

/**
 * Two agents at a bucket. The level rises by 1 if both fill (action 1), falls by 1 if both empty (action 0), and stays
 * else. The state is [steps, level]; the level begins at 5, and an episode has 4 steps. Nobody sees the level.
 */
const bucket: Game<'int32'> = {
  name: 'bucket',
  agents: ['a', 'b'],
  actions: 2,
  actionNames: ['empty', 'fill'],
  observation: { clock: { shape: [], dtype: 'float32', kind: 'vector' } },
  stateType: 'int32',
  stateSize: 2,
  maxSteps: 4,
  infos: [],
  options: {},
  goals: {
    names: ['rose', 'fell'],
    readsStates: true,
    reached: ({ before, after }) => (after[1] > before[1] ? UP : after[1] < before[1] ? DOWN : -1),
  },
  reset: (state, offset) => void state.set([0, 5], offset),
  step(state, offset, actions, at, _generator, result, row) {
    state[offset]++;
    state[offset + 1] += actions[at] + actions[at + 1] - 1;
    for (let i = 0; i < 2; i++) {
      result.rewards[row * 2 + i] = 0;
      result.terminated[row * 2 + i] = 0;
      result.truncated[row * 2 + i] = state[offset] >= 4 ? 1 : 0;
    }
  },
  legal: (_state, _offset, _agent, mask, at) => void mask.fill(1, at, at + 2),
  observe(state, offset, _agent, out, row) {
    out['clock'][row] = state[offset];
  },
  isActive: () => true,
  elapsed: (state, offset) => state[offset],
};

/** Plays the same actions in each episode. */
function scripted(id: string, actions: readonly number[]): Agent<null> {
  return {
    id,
    name: 'scripted',
    initialState: () => null,
    act: ({ rows, observations }) => ({
      actions: Int32Array.from({ length: rows }, (_, row) => actions[observations['clock'][row]]),
      state: null,
    }),
  };
}

function rolloutOf(first: readonly number[], second: readonly number[], game: Game = bucket) {
  const agents = [scripted('a', first), scripted('b', second)];
  return createRollout(vectorEnv(game, { envs: 2, seed: 1 }), agents, createGenerator(1));
}

describe('goals that compare the states before and after a step', () => {
  it('label each step with the goal that is reached next, also in the last step of an episode', async () => {
    // The level goes 5, 6 (both fill), 6, 5 (both empty), 4 (both empty): the goals are rose, none, fell, fell.
    const episode = await rolloutOf([1, 1, 0, 0], [1, 0, 0, 0]).collect(4);
    const labels = Array.from(moaRows(episode, 1, { goals: bucket.goals! })['goals'].data);
    expect(labels).toEqual([UP, DOWN, DOWN, DOWN, UP, DOWN, DOWN, DOWN]);
    // Nothing happens in the last step, 1: rose, none, fell, none.
    const open = await rolloutOf([1, 1, 0, 0], [1, 0, 0, 1]).collect(4);
    expect(Array.from(moaRows(open, 0, { goals: bucket.goals! })['goals'].data).slice(4)).toEqual([UP, DOWN, DOWN, -1]);
  });

  it('label episodes that come in pieces', async () => {
    const rollout = rolloutOf([1, 1, 0, 0], [1, 0, 0, 0]);
    const buffer = createMoaBuffer({ coPlayers: ['b'], goals: bucket.goals! });
    expect(buffer.push(await rollout.collect(3))['b']['goals'].shape).toEqual([0]); // no episode has ended
    const { goals, actions } = buffer.push(await rollout.collect(3))['b'];
    expect(Array.from(goals.data)).toEqual([UP, DOWN, DOWN, DOWN, UP, DOWN, DOWN, DOWN]);
    expect(Array.from(actions.data)).toEqual([1, 0, 0, 0, 1, 0, 0, 0]);
  });

  it('receive the agent, its action and two states of the game', async () => {
    const steps: GoalStep[] = [];
    const goals = { ...bucket.goals!, reached: (step: GoalStep) => (steps.push(step) > 0 ? -1 : 0) };
    moaRows(await rolloutOf([1, 1, 0, 0], [1, 0, 0, 0]).collect(4), 1, { goals });
    const seen = steps.slice(0, 4).map(({ agent, action, left, before, after }) => {
      return [agent, action, left, Array.from(before), Array.from(after)];
    });
    expect(seen).toEqual([
      [1, 1, false, [0, 5], [1, 6]],
      [1, 0, false, [1, 6], [2, 6]],
      [1, 0, false, [2, 6], [3, 5]],
      [1, 0, false, [3, 5], [4, 4]],
    ]);
  });

  it('are refused without states, and where attempts in vain are asked for', async () => {
    const { states: _, ...seen } = await rolloutOf([1, 1, 0, 0], [1, 0, 0, 0]).collect(4);
    const { states: __, ...cuts } = seen.cuts;
    const without = /moaRows: experience: expected states, which the goals read, got experience without states.*Goals/;
    expect(() => moaRows({ ...seen, cuts }, 1, { goals: bucket.goals! })).toThrow(without);
    const rows = moaRows({ ...seen, cuts }, 1);
    const attempts = /expected goals that are recognised without states, got goals with readsStates/;
    expect(() => attemptRows(rows, 1, bucket.goals!)).toThrow(attempts);
    expect(() => createMoaBuffer({ coPlayers: ['b'], goals: bucket.goals!, attempts: true })).toThrow(attempts);
  });

  it.each([
    ['undefined', undefined],
    ['NaN', Number.NaN],
    ['1.5', 1.5],
    ['2', 2],
    ['-2', -2],
    ['"rose"', 'rose'],
  ])('are refused where `reached` returns %s', async (shown, value) => {
    const episode = await rolloutOf([1, 1, 0, 0], [1, 0, 0, 0]).collect(4);
    const { readsStates: _, ...seen } = bucket.goals!;
    const goals = { ...seen, reached: () => value as number };
    const wrong = (where: string) =>
      `${where}: goals.reached: expected a goal from 0 to 1, or -1 for none, got ${shown}. Return the index`;
    expect(() => moaRows(episode, 1, { goals })).toThrow(wrong('moaRows'));
    expect(() => attemptRows(moaRows(episode, 1), 1, goals)).toThrow(wrong('attemptRows'));
    const nameless = { reached: seen.reached } as never;
    expect(() => moaRows(episode, 1, { goals: nameless })).toThrow(/the goals of a game/);
  });
});
