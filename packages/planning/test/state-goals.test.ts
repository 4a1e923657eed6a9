/** Beliefs about goals in a game without a grid, where only the states around a step show them. */
import { type Agent, createGenerator, createRollout, type Game, vectorEnv } from '@coplay/core';
import { createBeliefs, goalMemory, openGoals } from '@coplay/planning';
import { describe, expect, it } from 'vitest';

/**
 * Each of two agents has a number, which action 1 raises by 1. The state is [steps, numbers]; all see all of it, and an
 * episode has 4 steps. An agent that raises its number reaches the goal `even` or `odd`, as the number is then.
 */
const climbers: Game<'int32'> = {
  name: 'climbers',
  agents: ['a', 'b'],
  actions: 2,
  actionNames: ['keep', 'raise'],
  observation: { numbers: { shape: [3], dtype: 'float32', kind: 'vector' } },
  stateType: 'int32',
  stateSize: 3,
  maxSteps: 4,
  infos: [],
  options: {},
  observesState: true,
  goals: {
    names: ['even', 'odd'],
    readsStates: true,
    reached: ({ agent, before, after }) => (after[1 + agent] > before[1 + agent] ? after[1 + agent] % 2 : -1),
  },
  reset: (state, offset) => void state.fill(0, offset, offset + 3),
  step(state, offset, actions, at, _generator, result, row) {
    state[offset]++;
    for (let i = 0; i < 2; i++) {
      state[offset + 1 + i] += actions[at + i];
      result.rewards[row * 2 + i] = 0;
      result.terminated[row * 2 + i] = 0;
      result.truncated[row * 2 + i] = state[offset] >= 4 ? 1 : 0;
    }
  },
  legal: (_state, _offset, _agent, mask, at) => void mask.fill(1, at, at + 2),
  observe(state, offset, _agent, out, row) {
    for (let i = 0; i < 3; i++) out['numbers'][row * 3 + i] = state[offset + i];
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
      actions: Int32Array.from({ length: rows }, (_, row) => actions[observations['numbers'][row * 3]]),
      state: null,
    }),
  };
}

/** Agent a's beliefs about b, [even, odd], before each step. b acts by a script; its steps have these likelihoods. */
async function beliefsOver(script: readonly number[], likelihoods: readonly number[], steps: number) {
  const beliefs = createBeliefs({ game: climbers, id: 'a', inter: () => goalMemory(2, 0.5) });
  const seen: number[][] = [];
  const observer: Agent<null> = {
    ...scripted('a', [0, 0, 0, 0]),
    act(input, state) {
      const now = beliefs.see(input.states!, input.isFirst, Float64Array.of(1, 1, ...likelihoods));
      seen.push(Array.from(now.subarray(2, 4)));
      return { actions: new Int32Array(1), state };
    },
    observe: (step) => beliefs.observe(step),
  };
  const env = vectorEnv(climbers, { envs: 1, seed: 1 });
  await createRollout(env, [observer, scripted('b', script)], createGenerator(1)).collect(steps);
  return seen;
}

describe('beliefs about goals that compare states', () => {
  it('follow Bayes within an episode, begin anew after a goal, and remember the last goal', async () => {
    // b's numbers are 0, 1, 2, 2: it reaches odd in the second step and even in the third.
    const seen = await beliefsOver([0, 1, 1, 0], [0.9, 0.3], 5);
    expect(seen[0]).toEqual([0.5, 0.5]);
    expect(seen[1][0]).toBeCloseTo(0.75, 12); // 0.5 x 0.9 / (0.5 x 0.9 + 0.5 x 0.3)
    expect(seen[2]).toEqual([0.5, 0.5]);
    expect(seen[3]).toEqual([0.5, 0.5]);
    expect(seen[4]).toEqual([0.75, 0.25]); // counts 1, 1 become 0.5 x 1 + 1 and 0.5 x 1
  });

  it('see a goal that is reached in the last step of an episode', async () => {
    const seen = await beliefsOver([0, 0, 0, 1], [1, 1], 5);
    expect(seen[4]).toEqual([0.25, 0.75]);
  });

  it('hold all goals for open where the game does not say', () => {
    expect(Array.from(openGoals(climbers, Int32Array.of(0, 0, 0, 1, 1, 0), 2))).toEqual([1, 1, 1, 1]);
  });

  it.each([
    ['undefined', undefined],
    ['1.5', 1.5],
    ['2', 2],
    ['-2', -2],
  ])('are refused where `reached` returns %s', (shown, value) => {
    const game = { ...climbers, goals: { ...climbers.goals!, reached: () => value as number } };
    const beliefs = createBeliefs({ game, id: 'a' });
    beliefs.see(new Int32Array(3), Uint8Array.of(1));
    const step = { rows: 1, actions: new Int32Array(2), active: Uint8Array.of(1, 1), rewards: new Float32Array(2) };
    const end = { ended: new Uint8Array(1), terminated: new Uint8Array(2), infos: {}, states: Int32Array.of(1, 0, 0) };
    const wrong = `goals.reached of climbers: expected a goal from 0 to 1, or -1 for none, got ${shown}.`;
    expect(() => beliefs.observe({ ...step, ...end })).toThrow(wrong);
    expect(Array.from(beliefs.prior('b'))).toEqual([0.5, 0.5]); // nothing was remembered
  });

  it('are refused where agents do not see the states, and without goals', () => {
    const { observesState: _, ...hidden } = climbers;
    const readsStates = /option game: expected a game with observesState.*goals read states, got climbers without it/;
    expect(() => createBeliefs({ game: hidden, id: 'a' })).toThrow(readsStates);
    const { goals: __, ...plain } = climbers;
    expect(() => createBeliefs({ game: plain, id: 'a' })).toThrow(
      /a game with goals, got climbers.*See "Goals" in docs/,
    );
    const beliefs = createBeliefs({ game: climbers, id: 'a' });
    beliefs.see(new Int32Array(3), Uint8Array.of(1));
    const [two, one] = [new Uint8Array(2), new Uint8Array(1)];
    const step = { rows: 1, actions: new Int32Array(2), active: two.fill(1), rewards: new Float32Array(2), ended: one };
    expect(() => beliefs.observe({ ...step, terminated: new Uint8Array(2), infos: {} })).toThrow(/step\.states/);
  });
});
