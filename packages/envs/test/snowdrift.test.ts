import { createGenerator, evaluate, type Game, gameContract, generatorFrom, vectorEnv } from '@coplay/core';
import { allocateGrid, allocateObservations, allocateStepArrays } from '@coplay/core/arrays';
import {
  freeRider,
  limitedView,
  nearestDrift,
  randomAgent,
  renderSvg,
  renderText,
  snowdrift,
  stagHunt,
  timeLimit,
  withPreviousActions,
} from '@coplay/envs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { at, Play } from './play';

const [UP, DOWN, LEFT, RIGHT, STAY, SHOVEL] = [0, 1, 2, 3, 4, 5];

const small = (options = {}) => new Play(snowdrift({ size: 4, agents: 2, ...options }));
const outcome = (rewards: readonly number[], changes = {}) => ({
  rewards: rewards.map(Math.fround),
  terminated: rewards.map(() => 0),
  truncated: rewards.map(() => 0),
  infos: { illegal: rewards.map(() => 0), shovelled: rewards.map(() => 0) },
  ...changes,
});
const infos = (illegal: number[], shovelled: number[]) => ({ infos: { illegal, shovelled } });

/** A legal action, shovelling often where it can. */
function choose(mask: readonly number[], generator: ReturnType<typeof createGenerator>): number {
  if (mask[SHOVEL] === 1 && generator.uniform() < 0.6) return SHOVEL;
  const legal = mask.flatMap((flag, action) => (flag === 1 ? [action] : []));
  return legal[generator.integer(legal.length)];
}

const settings = fc
  .record({
    size: fc.integer({ min: 1, max: 5 }),
    agents: fc.integer({ min: 1, max: 8 }),
    drifts: fc.integer({ min: 1, max: 6 }),
    maxSteps: fc.integer({ min: 1, max: 30 }),
    driftReward: fc.constantFrom(6, 2.5, 0),
    shovelCost: fc.constantFrom(4, 1, 0),
    obstaclePieces: fc.integer({ min: 0, max: 2 }),
  })
  .filter(({ size, agents, drifts }) => agents + drifts <= size * size);

describe('rules', () => {
  test('a drift pays 6 to everyone and costs its shoveller 4', () => {
    const play = small().start({ agents: at('11 33'), drifts: at('11 00') });
    expect(play.mask(0)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(play.mask(1)).toEqual([1, 0, 1, 0, 1, 0]);
    expect(play.outcome([SHOVEL, STAY])).toEqual(outcome([2, 6], infos([0, 0], [1, 0])));
    expect(play.layout()).toBe('d...\n.1..\n....\n...2\nsteps: 1');
  });

  test.each([
    { shovellers: 1, rewards: [2, 6, 6, 6] },
    { shovellers: 2, rewards: [4, 4, 6, 6] },
    { shovellers: 3, rewards: [6 - 4 / 3, 6 - 4 / 3, 6 - 4 / 3, 6] },
    { shovellers: 4, rewards: [5, 5, 5, 5] },
  ])('$shovellers who shovel one drift split its cost', ({ shovellers, rewards }) => {
    const play = small({ agents: 4 }).start({ agents: at('11 11 11 11'), drifts: at('11 00') });
    const shovelled = [0, 1, 2, 3].map((agent) => (agent < shovellers ? 1 : 0));
    const actions = shovelled.map((does) => (does ? SHOVEL : STAY));
    expect(play.outcome(actions)).toEqual(outcome(rewards, infos([0, 0, 0, 0], shovelled)));
    expect(play.plane(0, 'drifts')).toEqual(at('00'));
  });

  test('two drifts in one step pay 12, each at its own cost', () => {
    const play = small({ agents: 4 }).start({ agents: at('00 11 11 33'), drifts: at('00 11 22') });
    const played = play.outcome([SHOVEL, SHOVEL, SHOVEL, LEFT]);
    expect(played).toEqual(outcome([12 - 4, 12 - 2, 12 - 2, 12], infos([0, 0, 0, 0], [1, 1, 1, 0])));
    expect(play.layout()).toBe(
      JSON.stringify({ agents: at('00 11 11 32'), obstacles: [], drifts: at('22'), steps: 1 }),
    );
  });

  test('who arrives in the step does not help, and who shovels where nothing lies stays', () => {
    const play = small({ agents: 3 }).start({ agents: at('11 10 32'), drifts: at('11 00') });
    expect(play.outcome([SHOVEL, RIGHT, SHOVEL])).toEqual(outcome([2, 6, 6], infos([0, 0, 1], [1, 0, 0])));
    expect(play.plane(0, 'other_1')).toEqual(at('11'));
    expect(play.plane(2, 'self')).toEqual(at('32'));
  });

  test('moves: walls and obstacles block', () => {
    const play = small().start('1#..\n....\n..d.\n...2');
    expect(play.mask(0)).toEqual([0, 1, 0, 0, 1, 0]);
    expect(play.outcome([RIGHT, DOWN])).toEqual(outcome([0, 0], infos([1, 1], [0, 0])));
    expect(play.outcome([DOWN, UP])).toEqual(outcome([0, 0]));
    expect(play.layout()).toBe('.#..\n1...\n..d2\n....\nsteps: 2');
  });

  test('all end together when no drift is left, also in the last step', () => {
    for (const maxSteps of [1, 9]) {
      const play = small({ maxSteps }).start({ agents: at('11 33'), drifts: at('11') });
      const ended = { terminated: [1, 1], ...infos([0, 0], [1, 0]) };
      expect(play.outcome([SHOVEL, UP])).toEqual(outcome([2, 6], ended));
      for (const agent of [0, 1]) {
        expect(play.game.isActive(play.state, 0, agent)).toBe(false);
        expect(play.mask(agent)).toEqual([0, 0, 0, 0, 1, 0]);
      }
      expect(play.plane(0, 'other_1')).toEqual(at('23'));
    }
  });

  test('time is up at maxSteps', () => {
    const play = small({ maxSteps: 2 }).start({ agents: at('11 33'), drifts: at('00') });
    expect(play.outcome([STAY, STAY]).truncated).toEqual([0, 0]);
    expect(play.observe(0)['time']).toEqual([0.5]);
    expect(play.outcome([STAY, STAY])).toEqual(outcome([0, 0], { truncated: [1, 1] }));
  });

  test('the best that 4 agents and 6 drifts yield is 30 each on average, and 36 for one who never shovels', () => {
    const six = at('00 01 02 10 11 12');
    const play = small({ agents: 4, drifts: 6 });
    const returns = [0, 0, 0, 0];
    for (const [i, cell] of six.entries()) {
      play.start({ agents: [cell, cell, cell, [3, 3]], drifts: six.slice(i) });
      const { rewards } = play.outcome([SHOVEL, i < 3 ? SHOVEL : STAY, STAY, STAY]);
      rewards.forEach((reward, agent) => {
        returns[agent] += reward;
      });
    }
    expect(returns).toEqual([36 - 3 * 2 - 3 * 4, 36 - 3 * 2, 36, 36]);
    expect(returns.reduce((sum, value) => sum + value, 0) / 4).toBe(30);
  });

  test('the observer is plane 0, the others follow in cyclic order; obstacles and drifts come last', () => {
    const play = small({ agents: 3 }).start('1#..\n..2.\nd...\n...3');
    expect(play.game.observation['planes'].channels).toEqual(['self', 'other_1', 'other_2', 'obstacles', 'drifts']);
    expect(play.game.observation['planes'].shape).toEqual([4, 4, 5]);
    expect(['self', 'other_1', 'other_2', 'obstacles', 'drifts'].map((name) => play.plane(1, name))).toEqual(
      ['12', '33', '00', '01', '20'].map(at),
    );
  });
});

describe('properties', () => {
  test('random settings keep the contract', { tags: ['slow'] }, () => {
    fc.assert(
      fc.property(settings, fc.nat(), (options, seed) => {
        expect(gameContract(snowdrift(options), { episodes: 2, seed, allocation: false })).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  test('conservation: what was paid up to any step follows from the drifts that are gone', () => {
    fc.assert(
      fc.property(settings, fc.nat(), (options, seed) => {
        const random = createGenerator(seed);
        const play = new Play(snowdrift(options), random.split(1)).start();
        let paid = 0;
        while (!play.isOver()) {
          const { rewards } = play.outcome(play.game.agents.map((_, i) => choose(play.mask(i), random)));
          paid += rewards.reduce((sum, reward) => sum + reward, 0);
          const gone = options.drifts - play.plane(0, 'drifts').length;
          expect(paid).toBeCloseTo(gone * (options.agents * options.driftReward - options.shovelCost), 3);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('whole random episodes are the same with agents renumbered', () => {
    fc.assert(
      fc.property(settings, fc.nat(), (options, seed) => {
        const random = createGenerator(seed);
        const order = [...random.shuffle(Int32Array.from({ length: options.agents }, (_, i) => i))];
        const renumbered = <T>(values: readonly T[]) => order.map((agent) => values[agent]);
        const plain = new Play(snowdrift(options), random.split(1)).start();
        const twin = new Play(plain.game, generatorFrom(plain.generator.state()));
        const items = plain.game.scene!(plain.state, 0).items;
        const list = (kind: string) =>
          items.filter((item) => item.kind === kind).map(({ row, column }) => [row, column]);
        twin.start({ agents: renumbered(list('agent')), obstacles: list('obstacle'), drifts: list('drift') });
        while (!plain.isOver()) {
          // Now and then an illegal one.
          const actions = order.map((_, i) => (random.uniform() < 0.1 ? SHOVEL : choose(plain.mask(i), random)));
          const [one, two] = [plain.outcome(actions), twin.outcome(renumbered(actions))];
          for (const name of ['rewards', 'terminated', 'truncated'] as const) {
            expect(two[name], name).toEqual(renumbered(one[name]));
          }
          for (const name in one.infos) expect(two.infos[name], name).toEqual(renumbered(one.infos[name]));
          order.forEach((agent, seat) => {
            expect(twin.mask(seat)).toEqual(plain.mask(agent));
            for (const plane of ['self', 'obstacles', 'drifts']) {
              expect(twin.plane(seat, plane)).toEqual(plain.plane(agent, plane));
            }
          });
        }
      }),
      { numRuns: 60 },
    );
  });

  test('start: distinct free cells, as many drifts as asked; the same from the same seed', () => {
    const game = snowdrift({ obstaclePieces: 5 });
    const places = (seed: number) => {
      const play = new Play(game, createGenerator(seed)).start();
      return game.scene!(play.state, 0).items;
    };
    for (let seed = 0; seed < 50; seed++) {
      const items = places(seed);
      expect(new Set(items.map(({ row, column }) => 8 * row + column)).size).toBe(items.length);
      const count = (kind: string) => items.filter((item) => item.kind === kind).length;
      expect([count('agent'), count('drift')]).toEqual([4, 6]);
      expect(places(seed)).toEqual(items);
    }
    expect(places(1)).not.toEqual(places(2));
  });
});

describe('layouts and pictures', () => {
  const MAP = '1d.\n.#.\n2.d\nsteps: 7';

  test('maps come back, and lists say what a map cannot', () => {
    const play = small({ size: 3 });
    expect(play.start(MAP).layout()).toBe(MAP);
    const text = play.start({ agents: at('12 12'), drifts: at('12') }).layout();
    expect(JSON.parse(text)).toEqual({ agents: at('12 12'), obstacles: [], drifts: at('12') });
    expect(play.start(text).layout()).toBe(text);
  });

  test.each([
    ['no drift at the start', '1..\n...\n2..', /snowdrift layout: expected a drift at the start, got none/],
    ['an agent twice', '1d1\n...\n2..', /agent 1 once, on the map, got 2 on the map/],
    ['an agent missing', '1d.\n...\n...', /agent 2 once, on the map, got 0/],
    ['an unknown character', '1S.\n...\n2..', /the characters \.#d12/],
    ['an unknown line', '1d.\n...\n2..\nleft: 1', /lines below the map named steps/],
    ['too many steps', '1d.\n...\n2..\nsteps: 51', /steps from 0 to maxSteps 50/],
    ['an agent off the map', { agents: [[0, 0], null], drifts: at('11') }, /agents never leave/],
    [
      'an agent on an obstacle',
      { agents: at('00 11'), obstacles: at('11'), drifts: at('22') },
      /agents\[1\] on a free/,
    ],
    ['two things on a cell', { agents: at('00 11'), drifts: at('22 22') }, /drifts\[1\] on a cell of its own/],
  ])('%s is refused', (_, layout, message) => {
    const play = small({ size: 3 }).start(MAP);
    expect(() => play.start(layout)).toThrow(message);
    expect(play.layout()).toBe(MAP);
  });

  test('drifts are drawn', () => {
    const play = small({ size: 3 }).start(MAP);
    expect(renderText(play.game, play.state)).toBe('1 d .\n. # .\n2 . d');
    const svg = renderSvg(play.game, play.state);
    expect(svg).toContain('drift in row 1, column 2; drift in row 3, column 3; agent 1 in row 1, column 1');
    expect(svg.match(/fill="#9fc8e8"/g)).toHaveLength(2);
  });
});

test.each([
  [{ size: 0 }, /option size/],
  [{ drifts: 0 }, /option drifts: expected a whole number from 1/],
  [{ drift: 1 }, /unknown option "drift"/],
  [{ size: 3 }, /a cell for each of 10 agents and drifts/],
])('options %j are refused', (options, message) => {
  expect(() => snowdrift(options as never)).toThrow(message);
});

describe('goals', () => {
  const game = snowdrift({ size: 3, agents: 2, drifts: 2 });
  const goals = game.goals!;

  test('a drift is told by its cell; the last goal is not to shovel again', () => {
    expect(goals.names).toHaveLength(10);
    expect([goals.names[5], goals.names[9]]).toEqual(['drift at 1, 2', "won't shovel again"]);
    expect(goals.noGoal).toBe(9);
    const play = new Play(game).start('1d.\n..d\n2..');
    const open = goals.names.flatMap((_, goal) => (goals.isOpen!(goal, play.state, 0) ? [goal] : []));
    expect(open).toEqual([1, 5, 9]);
  });

  test('reached by shovelling where a drift lies, as the agent itself saw it', () => {
    const play = new Play(game).start({ agents: at('12 01'), drifts: at('12') });
    const seen = allocateObservations(game.observation, 3);
    game.observe(play.state, 0, 0, seen, 1);
    game.observe(play.state, 0, 1, seen, 2);
    expect(goals.reads).toEqual(['planes']);
    const none = new Int32Array(0);
    const reached = (action: number, left: boolean, agent: number) => {
      return goals.reached({ agent, action, left, observations: seen, row: agent + 1, before: none, after: none });
    };
    expect(reached(SHOVEL, false, 0)).toBe(5);
    expect(reached(STAY, true, 0)).toBe(-1);
    expect(reached(SHOVEL, false, 1)).toBe(-1);
  });

  test('are left out where the planes are cut, which they are told by', () => {
    expect(limitedView(game, 1).goals).toBeUndefined();
    expect(withPreviousActions(timeLimit(game, 5)).goals).toBe(goals);
    expect(limitedView(stagHunt(), 1).goals?.names).toEqual(['stag', 'hare']);
  });
});

test('grid parts: read, seen, written and paid as the rules do', () => {
  const game = snowdrift({ size: 4, agents: 3, drifts: 4, maxSteps: 25, obstaclePieces: 1 });
  const parts = game.grid!;
  const random = createGenerator(3);
  const [before, after, seen] = [0, 1, 2].map(() => allocateGrid(parts, 3, 2));
  const result = allocateStepArrays(game, 2);
  let shared = 0;
  for (let episode = 0; episode < 60; episode++) {
    const play = new Play(game, random.split(episode)).start();
    while (!play.isOver()) {
      parts.read(play.state, 0, before, 1);
      for (const seat of [0, 1, 2]) {
        const observations = allocateObservations(game.observation, 2);
        game.observe(play.state, 0, seat, observations, 1);
        parts.see(observations, 1, seat, seen, 1);
        expect(seen).toEqual(before);
      }
      const copy = new Int32Array(game.stateSize).fill(-1);
      parts.write(before, 1, copy, 0);
      expect(copy).toEqual(play.state);
      expect(parts.isOver!(before, 1)).toBe(false);

      // Everyone goes for the first agent's cell, so that some shovel together.
      const actions = [0, 1, 2].map((i) => choose(play.mask(i), random));
      const events = Int32Array.from([0, 0, 0, ...actions].map((action) => parts.eventOf(action, false)));
      const { rewards, terminated } = play.outcome(actions);
      parts.read(play.state, 0, after, 1);
      parts.pay(before, events, result.rewards, 1, after);
      expect([...result.rewards.subarray(3)]).toEqual(rewards);
      expect(parts.isOver!(after, 1)).toBe(terminated[0] === 1);
      if (rewards.some((reward) => reward % 6 === 4)) shared++; // 6 - 4 / 2
    }
  }
  expect(shared).toBeGreaterThan(0);
});

test('a drift that stays, or vanishes unshovelled, pays nothing in a model that errs', () => {
  const game = snowdrift({ size: 2, agents: 1, drifts: 2 });
  const parts = game.grid!;
  const [before, after] = [0, 1].map(() => allocateGrid(parts, 1, 1));
  before.cells[0] = 0;
  before.things.set([1, 1, 0, 0]);
  const rewards = new Float32Array(1);
  const paid = (things: number[], event: number) => {
    after.things.set(things);
    parts.pay(before, Int32Array.of(event), rewards, 0, after);
    return rewards[0];
  };
  expect([paid([1, 1, 0, 0], 0), paid([1, 0, 0, 0], 0), paid([0, 1, 0, 0], -1), paid([0, 1, 0, 0], 0)]).toEqual([
    0, 0, 0, 2,
  ]);
});

describe('rule-based agents', () => {
  /** How often each action is chosen by agent 0 in one state. */
  async function frequencies(game: Game<'int32'>, layout: unknown, agent = nearestDrift): Promise<number[]> {
    const rows = 3000;
    const env = vectorEnv(game, { envs: rows, seed: 1 });
    env.reset({ layout });
    const A = game.agents.length;
    const player = agent({ game, id: 'agent_0' });
    const planes = env.observations['planes'] as Uint8Array;
    const size = planes.length / (rows * A);
    const observations = allocateObservations(game.observation, rows);
    const masks = new Uint8Array(rows * game.actions);
    for (let row = 0; row < rows; row++) {
      (observations['planes'] as Uint8Array).set(planes.subarray(row * A * size, (row * A + 1) * size), row * size);
      masks.set(env.masks.subarray(row * A * game.actions, (row * A + 1) * game.actions), row * game.actions);
    }
    const input = {
      rows,
      observations,
      masks,
      active: new Uint8Array(rows).fill(1),
      isFirst: new Uint8Array(rows),
      previousActions: new Int32Array(rows * A).fill(-1),
    };
    const { actions } = await player.act(input, null, createGenerator(5));
    return game.actionNames.map((_, k) => actions.reduce((sum, action) => sum + (action === k ? 1 : 0), 0) / rows);
  }
  const game = snowdrift({ size: 3, agents: 2, drifts: 1 });
  /** Shares of 3,000 draws differ from p by less than 0.045: five standard deviations of sqrt(0.25 / 3000) = 0.009. */
  const expectShares = (shares: readonly number[], expected: readonly number[]) =>
    shares.forEach((share, k) => {
      expect(Math.abs(share - expected[k]), `action ${k}`).toBeLessThan(expected[k] % 1 === 0 ? 1e-9 : 0.045);
    });

  test('NearestDrift draws uniformly among the moves that begin a shortest path to some nearest drift', async () => {
    // Right and down both lead to (1, 1); up and left to (2, 2) from the far corner would be longer.
    expectShares(await frequencies(game, '1..\n.d.\n..2'), [0, 0.5, 0, 0.5, 0, 0]);
    // From the middle: one drift above, one on the left, one farther off.
    expectShares(await frequencies(game, '.d.\nd1.\n2.d'), [0.5, 0, 0.5, 0, 0, 0]);
    // Around an obstacle.
    expectShares(await frequencies(game, '1#d\n...\n2..'), [0, 1, 0, 0, 0, 0]);
  });

  test('NearestDrift shovels on a drift, and stays where it can reach none', async () => {
    expectShares(await frequencies(game, { agents: at('11 11'), drifts: at('11 00') }), [0, 0, 0, 0, 0, 1]);
    expectShares(await frequencies(game, '1#d\n.#.\n2#.'), [0, 0, 0, 0, 1, 0]);
  });

  test('FreeRider draws uniformly among legal moves and staying, and never shovels', async () => {
    const onDrift = { agents: at('01 22'), drifts: at('01') };
    expectShares(await frequencies(game, onDrift, freeRider), [0, 0.25, 0.25, 0.25, 0.25, 0]);
  });

  test('a cleaner among free riders clears all and is paid for it least', async () => {
    const full = snowdrift({ size: 4 });
    const agents = full.agents.map((id, i) =>
      i === 2 ? nearestDrift({ game: full, id }) : freeRider({ game: full, id }),
    );
    const { returnMean } = await evaluate(full, agents, { episodes: 20, seed: 1 });
    // 6 drifts are cleared: 6 * (6 - 4) for the cleaner, 36 for the others.
    expect(returnMean).toEqual({ agent_0: 36, agent_1: 36, agent_2: 12, agent_3: 36 });
  });

  test('four cleaners earn 30 each, four free riders nothing; random players are in between', async () => {
    const play = async (make: typeof nearestDrift, episodes: number) => {
      const full = snowdrift();
      const agents = full.agents.map((id) => make({ game: full, id }));
      return (await evaluate(full, agents, { episodes, seed: 1 })).mean;
    };
    expect(await play(nearestDrift, 100)).toBeCloseTo(30, 5); // rewards are rounded to float32
    expect(await play(freeRider, 5)).toBe(0);
    const random = await play(randomAgent, 20);
    expect(random).toBeGreaterThan(1);
    expect(random).toBeLessThan(29);
  });

  test('are refused in a game without drifts, and with options that they have not', () => {
    expect(() => nearestDrift({ game, id: 'agent_7' })).toThrow(/one of agent_0, agent_1/);
    expect(() => freeRider({ game, id: 'agent_0', p: 1 } as never)).toThrow(/unknown option "p"/);
  });
});
