import {
  type AnyGame,
  type BoxSpace,
  box,
  type Game,
  gameContract,
  multiDiscrete,
  parallelEnv,
  vectorEnv,
} from '@coplay/core';
import {
  clipActions,
  flattenObservations,
  frameStack,
  limitedView,
  matrixGame,
  noOpAfterEnd,
  optimisticPartners,
  pendulum,
  permuteSeats,
  rescaleActions,
  scaleRewards,
  stagHunt,
  stickyActions,
  timeLimit,
  withAgentId,
  withPreviousActions,
} from '@coplay/envs';
import { describe, expect, it } from 'vitest';
import { mixedGame } from '../../core/test/mixed-game';

const small = () => stagHunt({ size: 3, agents: 2, stags: 0, hares: 2, maxSteps: 8 });

/** Two agents give numbers between `low` and `high`; each earns its own, the state is the last sum. */
function numbers(low: number, high: number): Game<'float32', BoxSpace> {
  return {
    name: 'numbers',
    agents: ['one', 'two'],
    actions: box({ shape: [1], low, high }),
    actionNames: ['number'],
    observation: {
      sum: { shape: [], dtype: 'float32' },
      turn: { shape: [1], dtype: 'uint8', kind: 'indices', classes: 5 },
    },
    stateType: 'float32',
    stateSize: 2,
    maxSteps: 4,
    infos: [],
    observesState: true,
    options: {},
    reset: (state, offset) => void state.fill(0, offset, offset + 2),
    step: (state, offset, actions, at, _generator, { rewards, terminated, truncated }, row) => {
      state[offset] = actions[at] + actions[at + 1];
      state[offset + 1]++;
      for (let agent = 0; agent < 2; agent++) {
        rewards[row * 2 + agent] = actions[at + agent];
        terminated[row * 2 + agent] = 0;
        truncated[row * 2 + agent] = state[offset + 1] >= 4 ? 1 : 0;
      }
    },
    legal: () => {},
    observe: (state, offset, _agent, out, row) => {
      out['sum'][row] = state[offset];
      out['turn'][row] = state[offset + 1];
    },
    isActive: () => true,
    elapsed: (state, offset) => state[offset + 1],
  };
}

/** The wrappers that take any game. */
const wrappers: Readonly<Record<string, (game: AnyGame) => AnyGame>> = {
  timeLimit: (game) => timeLimit(game, 3),
  withAgentId: (game) => withAgentId(game),
  withPreviousActions: (game) => withPreviousActions(game),
  frameStack: (game) => frameStack(game, 3),
  scaleRewards: (game) => scaleRewards(game, -0.5),
  stickyActions: (game) => stickyActions(game, 0.5),
  flattenObservations: (game) => flattenObservations(game),
  noOpAfterEnd: (game) => noOpAfterEnd(game),
  optimisticPartners: (game) => optimisticPartners(game, { chance: 0.5, lacksPartners: () => false, join: () => {} }),
  'all of them': (game) =>
    flattenObservations(
      noOpAfterEnd(
        scaleRewards(frameStack(stickyActions(withPreviousActions(timeLimit(withAgentId(game), 3)), 0.3), 2), 2),
      ),
    ),
};
const games: Readonly<Record<string, () => AnyGame>> = {
  'discrete actions': () => small() as AnyGame,
  'a box': () => pendulum({ maxSteps: 6 }) as AnyGame,
  'a space for each agent': () => mixedGame() as AnyGame,
};
const cases = Object.keys(wrappers).flatMap((wrapper) => Object.keys(games).map((game) => [wrapper, game] as const));

describe('wrapped games of all spaces', () => {
  it.each(cases)('%s keeps the contract with %s', (wrapper, game) => {
    expect(gameContract(wrappers[wrapper](games[game]()), { episodes: 2, allocation: false })).toEqual([]);
  });

  it.each([
    ['clipActions of a box', () => clipActions(pendulum({ maxSteps: 4 }))],
    ['clipActions of one agent of several', () => clipActions(mixedGame())],
    ['rescaleActions', () => rescaleActions(pendulum({ maxSteps: 4 }))],
    ['rescaleActions to other bounds', () => rescaleActions(numbers(0, 10), { low: 1, high: 3 })],
    ['permuteSeats of a box', () => permuteSeats(numbers(0, 1))],
    ['frameStack of images', () => frameStack(limitedView(small(), 1), 2)],
    ['frameStack and layouts', () => stickyActions(frameStack(small(), 2), 0.2)],
  ] as [string, () => AnyGame][])('%s keeps the contract', (_, game) => {
    expect(gameContract(game(), { episodes: 2, allocation: false })).toEqual([]);
  });

  it('says in the options what was done', () => {
    const game = scaleRewards(rescaleActions(numbers(0, 10)), 2);
    expect(game.options).toEqual({
      rescaleActions: [-1, 1],
      scaleRewards: 2,
      wrappers: ['rescaleActions', 'scaleRewards'],
    });
  });

  it.each([
    [
      'clipActions',
      () => clipActions(small()),
      /clipActions: expected a game in which an agent has a box, got stag-hunt/,
    ],
    ['rescaleActions', () => rescaleActions(small()), /rescaleActions: expected a game in which an agent has a box/],
    [
      'a box without bounds',
      () => rescaleActions(mixedGame()),
      /a lower and an upper bound, got one without in mixed-game/,
    ],
    ['bounds in the wrong order', () => rescaleActions(pendulum(), { low: 1, high: 0 }), /low < high/],
    ['one frame', () => frameStack(small(), 1), /frames from 2 to 64, got 1/],
    ['half a frame', () => frameStack(small(), 2.5), /frames from 2 to 64, got 2.5/],
    ['a factor that is no number', () => scaleRewards(small(), Number.NaN), /scaleRewards: factor/],
    ['a probability above 1', () => stickyActions(small(), 1.1), /stickyActions: probability/],
    [
      'other actions in each seat',
      () => permuteSeats(mixedGame()),
      /the same actions for every agent, got other ones of arm/,
    ],
    [
      'a box held in whole numbers',
      () => withPreviousActions({ ...numbers(0, 1), stateType: 'int32' } as never),
      /withPreviousActions: expected a state that holds the actions of a box, got int32 of numbers/,
    ],
  ])('are refused: %s', (_, wrapper, message) => {
    expect(wrapper).toThrow(message);
  });
});

describe('clipActions', () => {
  it('gives the game the nearest action in its box', () => {
    const env = vectorEnv(clipActions(numbers(-1, 2)), { envs: 1 });
    expect(env.game.actions).toEqual(box({ shape: [1] }));
    env.step(Float32Array.of(-7, 0.5));
    expect([...env.result.rewards]).toEqual([-1, 0.5]);
    env.step(Float32Array.of(2, 1e30));
    expect([...env.result.rewards]).toEqual([2, 2]);
  });

  it('leaves the actions of others alone', () => {
    const env = vectorEnv(clipActions(mixedGame()), { envs: 1 });
    env.step(Float32Array.of(1, 0, 3, -1, 1, 2));
    // The arm's first number is clipped to 1: -(1 - 1/2)^2 - (-1 + 1)^2.
    expect([...env.result.rewards]).toEqual([1, -0.25, 2]);
  });
});

describe('rescaleActions', () => {
  it('stretches its bounds to those of the game', () => {
    const env = vectorEnv(rescaleActions(numbers(0, 10)), { envs: 1 });
    expect(env.game.actions).toEqual(box({ shape: [1], low: -1, high: 1 }));
    env.step(Float32Array.of(-1, 1));
    expect([...env.result.rewards]).toEqual([0, 10]);
    env.step(Float32Array.of(0, 0.5));
    expect([...env.result.rewards]).toEqual([5, 7.5]);
    expect(() => env.step(Float32Array.of(2, 0))).toThrow('a number from -1 to 1');
  });

  it('drives the pendulum as its own unit does', () => {
    const own = vectorEnv(pendulum(), { envs: 2, seed: 3 });
    const rescaled = vectorEnv(rescaleActions(pendulum(), { low: 0, high: 4 }), { envs: 2, seed: 3 });
    for (const torque of [-2, -0.5, 0, 1.25, 2]) {
      own.step(Float32Array.of(torque, -torque));
      rescaled.step(Float32Array.of(torque + 2, 2 - torque));
      expect(rescaled.states).toEqual(own.states);
      expect(rescaled.result.rewards).toEqual(own.result.rewards);
    }
  });
});

describe('frameStack', () => {
  it('shows the newest observation last, and the first one in place of those before it', () => {
    const env = vectorEnv(frameStack(numbers(0, 10), 3), { envs: 1 });
    expect(env.game.observation).toEqual({
      sum: { shape: [3], dtype: 'float32' },
      turn: { shape: [3], dtype: 'uint8', kind: 'indices', classes: 5 },
    });
    const seen = () => [[...env.observations['sum'].subarray(3)], [...env.observations['turn'].subarray(3)]];
    expect(seen()).toEqual([
      [0, 0, 0],
      [0, 0, 0],
    ]);
    env.step(Float32Array.of(1, 2));
    expect(seen()).toEqual([
      [0, 0, 3],
      [0, 0, 1],
    ]);
    env.step(Float32Array.of(4, 0));
    expect(seen()).toEqual([
      [0, 3, 4],
      [0, 1, 2],
    ]);
    env.step(Float32Array.of(5, 0));
    expect(seen()).toEqual([
      [3, 4, 5],
      [1, 2, 3],
    ]);
    env.step(Float32Array.of(6, 0)); // the last step of an episode
    expect([...env.finalObservations['sum'].subarray(0, 3)]).toEqual([4, 5, 6]);
    expect(seen()).toEqual([
      [0, 0, 0],
      [0, 0, 0],
    ]);
  });

  it('joins images along their channels', () => {
    const game = frameStack(limitedView(small(), 1), 2);
    const plain = limitedView(small(), 1);
    const C = plain.observation['planes'].shape[2];
    expect(game.observation['planes'].shape).toEqual([3, 3, 2 * C]);
    expect(game.observation['planes'].channels?.[0]).toBe('self 1 ago');
    expect(game.observation['planes'].channels?.[C]).toBe('self');
    const [stacked, single] = [game, plain].map((one) => vectorEnv(one, { envs: 1, seed: 4 }));
    const before = single.observations['planes'].slice();
    const actions = Int32Array.of(4, 4);
    stacked.step(actions);
    single.step(actions);
    const after = single.observations['planes'];
    for (let cell = 0; cell < 2 * 9; cell++) {
      const frames = [...stacked.observations['planes'].subarray(cell * 2 * C, (cell + 1) * 2 * C)];
      expect(frames).toEqual([
        ...before.subarray(cell * C, (cell + 1) * C),
        ...after.subarray(cell * C, (cell + 1) * C),
      ]);
    }
  });

  it('starts anew from a layout', () => {
    const game = frameStack(small(), 2);
    const env = parallelEnv(game, { seed: 1 });
    env.reset();
    env.step({ agent_0: 4, agent_1: 4 });
    const layout = '1h.\n..2\n.h.';
    env.reset({ options: { layout } });
    const S = small().stateSize;
    expect(env.state().subarray(S)).toEqual(env.state().subarray(0, S));
    expect(game.writeLayout?.(env.state(), 0)).toBe(layout);
  });
});

it('scaleRewards multiplies what is paid', () => {
  const env = vectorEnv(scaleRewards(numbers(0, 10), -0.25), { envs: 2 });
  env.step(Float32Array.of(1, 2, 4, 8));
  expect([...env.result.rewards]).toEqual([-0.25, -0.5, -1, -2]);
});

describe('stickyActions', () => {
  const rewardsOf = (game: AnyGame, steps: readonly (readonly number[])[], seed = 1) => {
    const env = vectorEnv(game, { envs: 1, seed });
    return steps.map((actions) => {
      env.step(Float32Array.from(actions));
      return Array.from(env.result.rewards, (reward) => reward + 0); // no -0
    });
  };

  it('plays the first action of an episode for good with probability 1, and every choice with probability 0', () => {
    const steps = [
      [1, 2],
      [3, 4],
      [5, 6],
    ];
    expect(rewardsOf(stickyActions(numbers(0, 10), 1) as AnyGame, steps)).toEqual([
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
    expect(rewardsOf(stickyActions(numbers(0, 10), 0) as AnyGame, steps)).toEqual(steps);
    const next = [
      [1, 2],
      [3, 4],
      [5, 6],
      [7, 8],
      [9, 10],
    ]; // an episode has four steps
    expect(rewardsOf(stickyActions(numbers(0, 10), 1) as AnyGame, next).at(-1)).toEqual([9, 10]);
  });

  it('draws for each agent, and repeats what was played', () => {
    const game = matrixGame({
      payoffs: [
        [0, 0],
        [1, 1],
      ],
      maxSteps: 2,
    }); // pays the own action
    const env = vectorEnv(stickyActions(game, 0.25), { envs: 4000, seed: 2 });
    env.step(new Int32Array(8000));
    env.step(new Int32Array(8000).fill(1));
    const repeated = [0, 1].map(
      (agent) => env.result.rewards.filter((r, i) => i % 2 === agent && r === 0).length / 4000,
    );
    // Binomial(4000, 1/4): standard deviation 0.0068; 4 of them.
    for (const share of repeated) expect(Math.abs(share - 0.25)).toBeLessThan(0.028);
    const both = env.result.rewards.filter((r, i) => i % 2 === 0 && r === 0 && env.result.rewards[i + 1] === 0).length;
    expect(Math.abs(both / 4000 - 1 / 16)).toBeLessThan(0.016);
  });

  it('plays the choice where the last action has become illegal, or another part of it', () => {
    // In even steps the clerk may not take option 0 of its second choice. The walker leaves with step 3.
    const steps = [
      [1, 0, 0.5, -1, 1, 1],
      [0, 0, 0, 0, 0, 0], // repeats (1, 1)
      [0, 0, 0, 0, 0, 2], // repeats (1, 1), again
    ];
    const [, second, third] = rewardsOf(stickyActions(mixedGame(), 1), steps);
    expect(second).toEqual([1, 0, 1]);
    expect(third).toEqual([1, 0, 1]);
    const other = rewardsOf(stickyActions(startsOdd(), 1), [
      [0, 0, 0, 0, 1, 0], // option 0 is legal in step 0 of this game, and not in the next
      [0, 0, 0, 0, 1, 2],
    ]);
    expect(other.map(([, , clerk]) => clerk)).toEqual([1, 2]); // (1, 0), then its own (1, 2)
  });
});

/** The mixed game, in which odd steps mask the clerk's option instead of even ones. */
function startsOdd(): AnyGame {
  const game = mixedGame();
  return {
    ...game,
    legal: (state, offset, agent, mask, at) => {
      game.legal(state as Float64Array, offset, agent, mask, at);
      if (agent === 2) mask[at + 2] = game.elapsed(state as Float64Array, offset) % 2 === 0 ? 1 : 0;
    },
  } as AnyGame;
}

it('flattenObservations shows the fields one after the other, indices as codes', () => {
  const env = vectorEnv(flattenObservations(numbers(0, 10)), { envs: 1 });
  expect(env.game.observation).toEqual({ flat: { shape: [6], dtype: 'float32', kind: 'vector' } });
  env.step(Float32Array.of(1, 2));
  env.step(Float32Array.of(3, 4));
  expect([...env.observations['flat'].subarray(6)]).toEqual([7, 0, 0, 1, 0, 0]);
  const { observation } = flattenObservations(limitedView(small(), 1));
  expect(observation['flat'].kind).toBe('vector'); // the stag hunt shows a fraction of time, too
});

describe('noOpAfterEnd', () => {
  it('lets an agent that ended see zeros, earn nothing and do nothing until all end', () => {
    const env = vectorEnv(noOpAfterEnd(mixedGame()), { envs: 1 });
    const action = Float32Array.of(1, 0, 0.5, -1, 1, 1);
    const results = Array.from({ length: 5 }, () => {
      const { rewards, terminated, truncated } = env.result;
      env.step(action);
      const seen = env.ended[0] === 1 ? env.finalObservations : env.observations;
      return {
        rewards: Array.from(rewards, (reward) => reward + 0),
        ends: [...terminated, ...truncated],
        seen: [...seen['last'].subarray(0, 6)],
      };
    });
    const plays = [0, 0, 0, 0, 0, 0];
    expect(results.map(({ rewards }) => rewards)).toEqual([...Array(3).fill([1, 0, 1]), ...Array(2).fill([0, 0, 1])]);
    expect(results.map(({ ends }) => ends)).toEqual([plays, plays, plays, plays, [1, 0, 0, 0, 1, 1]]);
    expect(results[1].seen).toEqual([1, 0.5, -1, 1, 1, 2]);
    expect(results.slice(2).map(({ seen }) => seen)).toEqual([plays, plays, plays]);
  });

  it('ends with the last agent, without a time limit', () => {
    const env = parallelEnv(noOpAfterEnd(small()));
    env.reset({ options: { layout: '1h.\n..2\n..h' } });
    const first = env.step({ agent_0: 3, agent_1: 1 }); // both next to a hare
    expect(first.terminations).toEqual({ agent_0: false, agent_1: false });
  });
});

describe('withPreviousActions of other spaces', () => {
  it('shows one-hots of choices and the values of a box, the observer first', () => {
    const env = vectorEnv(withPreviousActions(mixedGame()), { envs: 1 });
    const rowOf = (agent: number) => [...env.observations['previousActions'].subarray(agent * 10, agent * 10 + 10)];
    expect(env.game.observation['previousActions']).toEqual({ shape: [10], dtype: 'float32', kind: 'vector' });
    expect(rowOf(1)).toEqual(new Array(10).fill(0));
    env.step(Float32Array.of(2, 0, 0.25, -3, 1, 2));
    const [walker, arm, clerk] = [
      [0, 0, 1],
      [0.25, -3],
      [0, 1, 0, 0, 1],
    ];
    expect(rowOf(0)).toEqual([...walker, ...arm, ...clerk]);
    expect(rowOf(1)).toEqual([...arm, ...clerk, ...walker]);
    expect(rowOf(2)).toEqual([...clerk, ...walker, ...arm]);
    for (let t = 0; t < 3; t++) env.step(Float32Array.of(2, 0, 0.25, -3, 1, 2));
    expect(rowOf(1)).toEqual([...arm, ...clerk, 0, 0, 0]); // the walker has left
  });

  it('names the kind of its numbers', () => {
    const choices = { ...mixedGame(), actions: multiDiscrete([2, 2]), legal: () => {} };
    expect(withPreviousActions(choices as AnyGame).observation['previousActions']).toMatchObject({ kind: 'planes' });
    expect(withPreviousActions(matrixGame()).observation['previousActions']).toMatchObject({
      kind: 'one-hot',
      classes: 2,
    });
  });
});

it('permuteSeats moves the values of a box', () => {
  const env = vectorEnv(permuteSeats(numbers(0, 10)), { envs: 8, seed: 5 });
  env.step(Float32Array.from({ length: 16 }, (_, i) => i / 2));
  // Each agent earns its own number, in any seat.
  expect([...env.result.rewards]).toEqual(Array.from({ length: 16 }, (_, i) => i / 2));
});
