import { assertGame, CoplayError, type Game, type GoalSet, gameContract } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import type { GameRule } from '../src/game-contract/findings';
import { countingGame } from './counting-game';

const sound = countingGame({ agents: 3, leaves: [2, 0, 1], maxSteps: 6 });

/** The sound game with some functions replaced. */
function broken(part: Partial<Game<'int32'>>): Game<'int32'> {
  return { ...sound, ...part };
}

/** A game whose step is followed by something wrong. */
function brokenStep(spoil: (...args: Parameters<Game<'int32'>['step']>) => void, game = sound): Game<'int32'> {
  return {
    ...game,
    step(...args) {
      game.step(...args);
      spoil(...args);
    },
  };
}

/** Wrong games: what is wrong, the game, the rule that must catch it, and what the message must say. */
const cases: [what: string, game: () => Game, rule: GameRule, says: string[]][] = [
  // The description
  ['two agents of one name', () => broken({ agents: ['a', 'a', 'b'] }), 'description', ['agents', 'different names']],
  ['no actions', () => broken({ actions: 0, actionNames: [] }), 'description', ['counting.actions', 'at least 1']],
  ['a name too few', () => broken({ actionNames: ['zero', 'one'] }), 'description', ['actionNames', '3 names']],
  [
    'a bad shape',
    () => broken({ observation: { x: { shape: [0], dtype: 'uint8' } } }),
    'description',
    ['observation.x'],
  ],
  [
    'a field named mask',
    () => broken({ observation: { mask: { shape: [3], dtype: 'uint8' } } }),
    'description',
    ['"mask"'],
  ],
  ['options that JSON loses', () => broken({ options: { cost: Number.NaN } }), 'description', ['options', 'JSON']],
  ['a missing function', () => broken({ legal: undefined as never }), 'description', ['counting.legal', 'a function']],
  [
    'an exception',
    () =>
      brokenStep((state, offset) => {
        if (state[offset] === 3) throw new Error('out of cheese');
      }),
    'exception',
    ['counting.step', 'out of cheese', 'step 3 of episode 0'],
  ],

  // Arrays
  [
    'state written outside its part',
    () =>
      brokenStep((state, offset) => {
        state[offset + 5] = 1;
      }),
    'arrays',
    ['counting.step', 'state written only within the 5 values', 'a change 5 values'],
  ],
  [
    'state at a fixed place instead of the offset',
    () => broken({ reset: (state, _, generator) => sound.reset(state, 0, generator) }),
    'arrays',
    ['counting.reset', 'state written only within', 'a change -5 values'],
  ],
  [
    'rewards of another row',
    () =>
      broken({
        step: (state, at, actions, from, generator, result) =>
          sound.step(state, at, actions, from, generator, result, 0),
      }),
    'arrays',
    ['counting.step', 'rewards written only within the 3 values'],
  ],
  [
    'a mask a byte too long',
    () =>
      broken({
        legal(state, offset, agent, mask, at) {
          sound.legal(state, offset, agent, mask, at);
          mask[at + 3] = 1;
        },
      }),
    'arrays',
    ['counting.legal', 'mask written only within the 3 values'],
  ],
  [
    'observations beyond the row',
    () =>
      broken({
        observe(state, offset, agent, out, row) {
          sound.observe(state, offset, agent, out, row);
          out['present'].fill(1, row * 3, row * 3 + 4);
        },
      }),
    'arrays',
    ['counting.observe', 'observations of "present"', 'a change 3 values'],
  ],
  [
    'a look that changes the state',
    () =>
      broken({
        observe(state, offset, agent, out, row) {
          sound.observe(state, offset, agent, out, row);
          state[offset + 1] += 1;
        },
      }),
    'arrays',
    ['counting.observe', 'the state to be left alone'],
  ],
  [
    'changed actions',
    () =>
      brokenStep((_state, _offset, actions, from) => {
        actions[from] = 2 - actions[from];
      }),
    'arrays',
    ['counting.step', 'the actions to be left alone'],
  ],

  // What carries over
  [
    'a value that reset forgets',
    () =>
      broken({
        reset(state, offset, generator) {
          const old = state[offset + 4];
          sound.reset(state, offset, generator);
          state[offset + 4] = old === 1 ? 1 : old; // who has left stays away
        },
      }),
    'reset',
    ['counting.reset', 'value 4 left over'],
  ],
  ['randomness from elsewhere', () => withClock(), 'determinism', ['the same seed and actions', 'the generator']],
  [
    'a step count outside the state',
    () => withHiddenCount(),
    'hidden-state',
    ['counting.step', 'copied state', 'variables'],
  ],
  ['a picture drawn once per reset', () => withHiddenSight(), 'hidden-state', ['counting.observe', 'observe']],

  // What agents see and may do
  [
    'half an observation',
    () =>
      broken({
        observe(state, offset, _agent, out, row) {
          out['count'][row] = state[offset];
          out['noise'][row] = state[offset + 1];
          out['present'][row * 3] = 1;
        },
      }),
    'observation',
    ['observe: present', 'index 1', 'Write every value'],
  ],
  [
    'a number that does not fit its dtype',
    () =>
      broken({
        observe(state, offset, agent, out, row) {
          sound.observe(state, offset, agent, out, row);
          out['present'][row * 3 + 2] = 0.5;
        },
      }),
    'observation',
    ['observe: present', 'fit uint8', '0.5 at index 2'],
  ],
  [
    'NaN',
    () =>
      broken({
        observe(state, offset, agent, out, row) {
          sound.observe(state, offset, agent, out, row);
          out['noise'][row] = 0 / (sound.elapsed(state, offset) - 1);
        },
      }),
    'observation',
    ['observe: noise', 'fit float32'],
  ],
  [
    'a mask of twos',
    () =>
      broken({
        legal(state, offset, agent, mask, at) {
          sound.legal(state, offset, agent, mask, at);
          for (let k = 0; k < 3; k++) mask[at + k] *= 2;
        },
      }),
    'mask',
    ['counting.legal', '0 or 1', '2 for action'],
  ],
  [
    'a byte of the mask left out',
    () =>
      broken({
        legal(state, offset, agent, mask, at) {
          const last = mask[at + 2];
          sound.legal(state, offset, agent, mask, at);
          mask[at + 2] = last;
        },
      }),
    'mask',
    ['counting.legal', 'which was there before'],
  ],
  // P09
  [
    'no legal action',
    () =>
      broken({
        legal(state, offset, agent, mask, at) {
          sound.legal(state, offset, agent, mask, at);
          if (sound.elapsed(state, offset) === 1) mask.fill(0, at, at + 3);
        },
      }),
    'mask',
    ['counting.legal', 'a legal action for an active agent', '0 for agent_0'],
  ],
  [
    'two actions for one that left',
    () => broken({ legal: (_state, _offset, _agent, mask, at) => void mask.fill(1, at, at + 3) }),
    'mask',
    ['exactly one legal action for an inactive agent', '3 for agent_2'],
  ],
  [
    'agents that are inactive after the time limit',
    () =>
      broken({
        isActive: (state, offset, agent) =>
          sound.isActive(state, offset, agent) && sound.elapsed(state, offset) < sound.maxSteps,
      }),
    'mask',
    ['exactly one legal action for an inactive agent', 'isActive() should be true here'],
  ],

  // Who plays (M10)
  [
    'an agent that joins late',
    () => broken({ isActive: (state, offset, agent) => agent !== 1 || sound.elapsed(state, offset) >= 3 }),
    'activity',
    ['everyone to play from the start', 'agent_1 is inactive', 'not join or return'],
  ],
  [
    'an agent that comes back',
    () =>
      brokenStep((state, offset, _actions, _from, _generator, result, row) => {
        if (state[offset] !== 4) return;
        state[offset + 2] = 0;
        result.terminated[row * 3] = 0;
      }),
    'activity',
    ['an agent that has left to stay away', 'agent_0 is back'],
  ],
  [
    'pay for one that left',
    () =>
      brokenStep((_state, _offset, _actions, _from, _generator, { rewards }, row) => {
        rewards[row * 3 + 2] = 1;
      }),
    'activity',
    ['reward 0 for an agent that has left', '1 for agent_2'],
  ],
  ['an end told only once', () => withBriefEnds(), 'activity', ['terminated to stay 1']],
  [
    'one that plays on after its end',
    () => broken({ isActive: () => true }),
    'activity',
    ['a terminated agent to be inactive', 'agent_2 is active'],
  ],
  [
    'heed paid to the action of one that left',
    () =>
      brokenStep((state, offset, actions, from) => {
        if (state[offset + 4] === 1) state[offset + 1] = actions[from + 2];
      }),
    'activity',
    ['the action of an inactive agent to be ignored'],
  ],

  // The outputs of a step
  [
    'an infinite reward',
    () =>
      brokenStep((_state, _offset, _actions, _from, _generator, { rewards }, row) => {
        rewards[row * 3 + 1] = Number.POSITIVE_INFINITY;
      }),
    'result',
    ['step: rewards', 'a finite number', 'Infinity for agent_1'],
  ],
  [
    'an info that is not written',
    () => broken({ infos: ['illegal', 'caught'] }),
    'result',
    ['infos.caught', 'none was written'],
  ],
  [
    'an end that is not written',
    () => withForgottenEnds(),
    'result',
    ['step: truncated', '0 or 1', 'none was written'],
  ],
  ['an agent gone without a reason', () => withSilentEnd(), 'result', ['a reason for leaving', 'none for agent_2']],

  // Ends and counts
  [
    'no time limit',
    () =>
      brokenStep((_state, _offset, _actions, _from, _generator, { truncated }, row) => {
        truncated.fill(0, row * 3, row * 3 + 3);
      }),
    'ending',
    ['terminated or truncated by step 6', 'goes on after 6 steps'],
  ],
  [
    'a time limit for one only',
    () =>
      brokenStep(
        (state, offset, _actions, _from, _generator, { truncated }, row) => {
          if (state[offset] === 2) truncated[row * 2] = 1;
        },
        countingGame({ agents: 2, maxSteps: 5 }),
      ),
    'ending',
    ['a time limit to end the episode for all', 'agent_1 still playing'],
  ],
  [
    'steps counted by twos',
    () => broken({ elapsed: (state, offset) => 2 * state[offset] }),
    'elapsed',
    ['counting.elapsed', '1 steps, got 2'],
  ],

  // Pictures
  [
    'a map that reads back as another',
    () => broken({ writeLayout: (state, offset) => String(state[offset + 1] + 1) }),
    'layout',
    ['counting.readLayout', 'the map that was written'],
  ],
  [
    'a thing off the map',
    () =>
      broken({
        scene: () => ({ rows: 2, columns: 2, items: [{ kind: 'agent', symbol: '1', row: 0, column: 2 }] }),
      }),
    'scene',
    ['counting.scene', 'inside 2 rows and 2 columns', 'column 2'],
  ],
  // Goals
  ['goals without names', () => withGoals({ names: [] }), 'description', ['goals.names']],
  ['a word for readsStates', () => withGoals({ readsStates: 'yes' as never }), 'description', ['goals.readsStates']],
  ['a goal that does not exist', () => withGoals({ reached: () => 2 }), 'goals', ['goals.reached', '0 to 1', 'got 2']],
  ['a goal by chance', () => withGoals({ reached: alternating() }), 'goals', ['goals.reached', '0 and then 1']],
  [
    'goals of states that are not declared',
    () => withGoals({ reached: ({ after }) => (after[0] > 1 ? 1 : -1) }),
    'goals',
    ['goals.reached', '-1, and 1 with the states', 'readsStates: true'],
  ],
  [
    'a field that is not declared',
    () => withGoals({ reached: ({ observations, row }) => observations['count'][row] - 7 }),
    'exception',
    ['goals.reached', 'goals.reads'],
  ],
  [
    'a goal that changes the state',
    () => withGoals({ readsStates: true, reached: ({ after }) => after.fill(0)[0] - 1 }),
    'arrays',
    ['goals.reached', 'inputs to be left alone'],
  ],
  [
    'a goal that was closed',
    () => withGoals({ reached: () => 1, isOpen: (goal) => goal === 0 }),
    'goals',
    ['goals.reached', 'goal 1, "many", which isOpen had closed'],
  ],
  [
    'an open goal by a number',
    () => withGoals({ isOpen: () => 1 as never }),
    'goals',
    ['goals.isOpen', 'true or false'],
  ],
  [
    'isOpen that ignores its offset',
    () => withGoals({ isOpen: (_goal, state) => state[0] < 3 }),
    'goals',
    ['goals.isOpen', 'of a state at any offset', 'true at offset 0, and false at offset 5 for "one"'],
  ],
  [
    'isOpen that ignores its offset, whose goals agree at offset 0',
    () =>
      withGoals({
        readsStates: true,
        reached: ({ before }) => (before[0] < 3 ? 0 : 1),
        isOpen: (goal, state) => goal === 1 || state[0] < 3,
      }),
    'goals',
    ['goals.isOpen', 'of a state at any offset', 'state[offset + i]'],
  ],
  [
    'isOpen that changes the state',
    () => withGoals({ isOpen: (_goal, state, offset) => state.fill(3, offset, offset + 1) !== undefined }),
    'arrays',
    ['goals.isOpen', 'the state to be left alone'],
  ],
  [
    'an array made in every step',
    () =>
      broken({
        step: (state, offset, actions, from, generator, result, row) =>
          sound.step(state, offset, actions.slice(), from, generator, result, row),
      }),
    'allocation',
    ['counting.step', 'no allocation', 'bytes a call'],
  ],
];

/** The sound game with goals, of which some parts are wrong. */
function withGoals(part: Partial<GoalSet<'int32'>>): Game<'int32'> {
  return broken({ goals: { names: ['one', 'many'], reached: () => -1, ...part } });
}

function alternating(): () => number {
  let goal = 1;
  return () => (goal = 1 - goal);
}

/** Rewards count the calls of step in the whole program. */
function withClock(): Game<'int32'> {
  let now = 0;
  return brokenStep((_state, _offset, _actions, _from, _generator, { rewards }, row) => {
    rewards[row * 3 + 1] += now++;
  });
}

/** The step count lives in a variable, though reset() sets it. */
function withHiddenCount(): Game<'int32'> {
  let steps = 0;
  return broken({
    reset(state, offset, generator) {
      steps = 0;
      sound.reset(state, offset, generator);
    },
    step(state, offset, actions, from, generator, result, row) {
      sound.step(state, offset, actions, from, generator, result, row);
      steps++;
      result.rewards[row * 3 + 1] = steps;
    },
  });
}

/** The observation is the random number of the last reset or step, for every state. */
function withHiddenSight(): Game<'int32'> {
  let noise = 0;
  return broken({
    reset(state, offset, generator) {
      sound.reset(state, offset, generator);
      noise = state[offset + 1];
    },
    step(state, offset, actions, from, generator, result, row) {
      sound.step(state, offset, actions, from, generator, result, row);
      noise = state[offset + 1];
    },
    observe(state, offset, agent, out, row) {
      sound.observe(state, offset, agent, out, row);
      out['noise'][row] = noise;
    },
  });
}

/** Says that an agent ended in the step in which it did, and not later. */
function withBriefEnds(): Game<'int32'> {
  return brokenStep((state, offset, _actions, _from, _generator, { terminated }, row) => {
    if (state[offset] === 2) terminated[row * 3 + 2] = 0;
  });
}

function withForgottenEnds(): Game<'int32'> {
  return broken({
    step(state, offset, actions, from, generator, result, row) {
      const [first] = result.truncated.subarray(row * 3);
      sound.step(state, offset, actions, from, generator, result, row);
      if (state[offset] < 6) result.truncated[row * 3] = first;
    },
  });
}

function withSilentEnd(): Game<'int32'> {
  return brokenStep((state, offset, _actions, _from, _generator, { terminated }, row) => {
    if (state[offset] === 1) terminated[row * 3 + 2] = 0;
  });
}

describe('gameContract', () => {
  /** What a shared process allocates depends on what ran in it before. */
  const quiet = { allocation: false };

  it('finds nothing in a sound game', () => {
    expect(gameContract(sound, quiet)).toEqual([]);
    expect(gameContract(countingGame({ agents: 1, maxSteps: 1 }), quiet)).toEqual([]);
    expect(gameContract(countingGame({ agents: 8, leaves: [1, 1, 1, 1, 1, 1, 1, 1] }), quiet)).toEqual([]);
    const byState = withGoals({ readsStates: true, reached: ({ after }) => (after[0] > 1 ? 1 : -1) });
    const byField = withGoals({
      reads: ['count'],
      reached: ({ observations, row }) => +(observations['count'][row] > 2),
    });
    const open = withGoals({ isOpen: (_goal, state, offset) => state[offset] < 3 });
    for (const game of [byState, byField, open]) expect(gameContract(game, quiet)).toEqual([]);
    expect(() => assertGame(sound)).not.toThrow();
  });

  it.each(cases)('catches %s', (_, game, rule, says) => {
    const violations = gameContract(game());
    const caught = violations.find((violation) => violation.rule === rule && saysAll(violation, says));
    expect(caught, JSON.stringify(violations, null, 2)).toBeDefined();
  });

  it('names the first violation and counts the others when asserted', () => {
    const game = broken({ elapsed: () => 7, isActive: () => true });
    const violations = gameContract(game);
    expect(violations.length).toBeGreaterThan(1);
    expect(() => assertGame(game)).toThrow(CoplayError);
    expect(() => assertGame(game)).toThrow(
      /counting\.elapsed: expected 0 steps, got 7 .*rule: elapsed.*lists \d+ more/,
    );
  });

  it('refuses bad options', () => {
    expect(() => gameContract(sound, { episodes: 0 })).toThrow(/gameContract: option episodes/);
    expect(() => gameContract(sound, { episode: 3 } as object)).toThrow(/"episode"/);
    for (const allocation of [true, false, 1]) {
      const refused = `assertGame: option allocation: expected no such option, got ${allocation}.`;
      expect(() => assertGame(sound, { allocation } as object)).toThrow(refused);
    }
    expect(() => assertGame(sound, { allocation: true } as object)).toThrow(
      /gameContract\(game\) in a process of its own/,
    );
    expect(() => assertGame(sound, { episode: 3 } as object)).toThrow(/The options are: episodes, seed\./);
  });

  it('finds the same violations with the same seed', () => {
    const game = withClock();
    expect(gameContract(game, { seed: 4, episodes: 2 })[0].rule).toBe(
      gameContract(withClock(), { seed: 4, episodes: 2 })[0].rule,
    );
  });
});

function saysAll(
  { where, expected, got, remedy }: { where: string; expected: string; got: string; remedy: string },
  parts: string[],
) {
  const message = `${where}: expected ${expected}, got ${got}. ${remedy}`;
  return parts.every((part) => message.includes(part));
}
