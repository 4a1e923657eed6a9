import { assertGame, parallelEnv } from '@coplay/core';
import { matrixGame } from '@coplay/envs';
import { describe, expect, it } from 'vitest';

/** Rewards of one round in which the players take these actions. */
function payoff(options: Parameters<typeof matrixGame>[0], first: number, second: number): [number, number] {
  const env = parallelEnv(matrixGame(options));
  env.reset();
  const { rewards } = env.step({ agent_0: first, agent_1: second });
  return [rewards['agent_0'], rewards['agent_1']];
}

describe('matrixGame', () => {
  it.each(['stag-hunt', 'prisoners-dilemma', 'chicken', 'coordination'] as const)('%s keeps the contract', (kind) => {
    assertGame(matrixGame({ kind, maxSteps: 7 }));
  });

  // [[4, 0], [2, 2]]: together on the stag 4 each; alone on it 0; the hare always 2.
  it('pays the stag hunt', () => {
    expect(payoff({}, 0, 0)).toEqual([4, 4]);
    expect(payoff({}, 0, 1)).toEqual([0, 2]);
    expect(payoff({}, 1, 0)).toEqual([2, 0]);
    expect(payoff({}, 1, 1)).toEqual([2, 2]);
  });

  it.each([
    ['prisoners-dilemma', (R: number, S: number, T: number, P: number) => T > R && R > P && P > S && 2 * R > T + S],
    ['chicken', (R: number, S: number, T: number, P: number) => T > R && R > S && S > P],
    ['coordination', (R: number, S: number, T: number, P: number) => R > T && P > S],
  ] as const)('%s has its order of payoffs, and is symmetric', (kind, isInOrder) => {
    const [R, same] = payoff({ kind }, 0, 0);
    const [S, T] = payoff({ kind }, 0, 1);
    const [P, second] = payoff({ kind }, 1, 1);
    expect(isInOrder(R, S, T, P)).toBe(true);
    expect([same, second]).toEqual([R, P]);
    expect(payoff({ kind }, 1, 0)).toEqual([T, S]);
  });

  it('pays a pair of tables: line = action of the first player', () => {
    // Matching pennies: the first wins on equal sides, the second on different ones. With an odd entry, 7.
    const first = [
      [1, -1],
      [7, 1],
    ];
    const second = [
      [-1, 1],
      [2, -1],
    ];
    expect(payoff({ payoffs: [first, second] }, 1, 0)).toEqual([7, 2]);
    expect(payoff({ payoffs: [first, second] }, 0, 1)).toEqual([-1, 1]);
  });

  it('pays one table of three actions to both', () => {
    // Rock, paper, scissors.
    const payoffs = [
      [0, -1, 1],
      [1, 0, -1],
      [-1, 1, 0],
    ];
    expect(payoff({ payoffs }, 0, 2)).toEqual([1, -1]);
    expect(payoff({ payoffs }, 1, 2)).toEqual([-1, 1]);
    assertGame(matrixGame({ payoffs, actionNames: ['rock', 'paper', 'scissors'], maxSteps: 3 }));
  });

  it('shows the last round from each side, own action first', () => {
    const env = parallelEnv(matrixGame({ maxSteps: 2 }));
    const start = env.reset().observations;
    for (const id of env.agents) expect(Array.from(start[id]['joint'])).toEqual([0, 0, 0, 0, 1]);
    const { observations, truncations } = env.step({ agent_0: 0, agent_1: 1 });
    // stag/stag, stag/hare, hare/stag, hare/hare, start
    expect(Array.from(observations['agent_0']['joint'])).toEqual([0, 1, 0, 0, 0]);
    expect(Array.from(observations['agent_1']['joint'])).toEqual([0, 0, 1, 0, 0]);
    expect(truncations['agent_0']).toBe(false);
    const last = env.step({ agent_0: 1, agent_1: 1 });
    expect(last.truncations).toEqual({ agent_0: true, agent_1: true });
    expect(last.terminations).toEqual({ agent_0: false, agent_1: false });
    expect(env.game.observation['joint'].channels).toEqual([
      'stag/stag',
      'stag/hare',
      'hare/stag',
      'hare/hare',
      'start',
    ]);
  });

  it.each([
    [{ kind: 'staghunt' }, 'kind'],
    [{ kind: 'chicken', payoffs: [[1]] }, 'either kind or payoffs'],
    [{ payoffs: [[1, 2]] }, 'square'],
    [
      {
        payoffs: [
          [
            [1, 2],
            [3, 4],
          ],
          [[1]],
        ],
      },
      'one size',
    ],
    [
      {
        payoffs: [
          [1, Number.NaN],
          [0, 0],
        ],
      },
      'payoffs',
    ],
    [{ actionNames: ['a', 'b'] }, 'actionNames only together with payoffs'],
    [{ payoffs: [[1]], actionNames: ['a', 'b'] }, '1 names'],
    [{ maxSteps: 0 }, 'maxSteps'],
    [{ rounds: 3 }, '"rounds"'],
  ])('refuses %j', (options, says) => {
    expect(() => matrixGame(options as object)).toThrow(says);
  });
});
