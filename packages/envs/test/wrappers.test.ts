import {
  assertGame,
  type Game,
  type GoalSet,
  gameContract,
  type ObservationArrays,
  otherView,
  parallelEnv,
  type VectorEnv,
  vectorEnv,
} from '@coplay/core';
import {
  cartPole,
  catchGame,
  gymHunt,
  limitedView,
  matrixGame,
  nearestStag,
  optimisticPartners,
  permuteSeats,
  randomAgent,
  recordEpisode,
  replayEpisode,
  stagHunt,
  timeLimit,
  withAgentId,
  withPreviousActions,
} from '@coplay/envs';
import { describe, expect, it } from 'vitest';

const small = () => stagHunt({ size: 4 });

/** Random actions in range for every agent of every environment. */
function randomActions(env: VectorEnv, seed: number): Int32Array {
  let word = seed;
  return Int32Array.from({ length: env.active.length }, (_, row) => {
    word = (Math.imul(word, 1103515245) + 12345) >>> 0;
    const K = env.game.actions;
    const legal = Array.from({ length: K }, (_, k) => k).filter((k) => env.masks[row * K + k] === 1);
    return legal[(word >>> 8) % legal.length];
  });
}

/** Compares every field; as `toEqual`, but quick for long arrays. */
function expectSame(observations: ObservationArrays, expected: ObservationArrays): void {
  expect(Object.keys(observations).sort()).toEqual(Object.keys(expected).sort());
  for (const [name, values] of Object.entries(expected)) {
    expect(observations[name].length).toBe(values.length);
    const different = observations[name].findIndex((value, i) => value !== values[i]);
    expect(different, `first difference in ${name}`).toBe(-1);
  }
}

const wrapped: [name: string, game: () => Game][] = [
  ['permuteSeats', () => permuteSeats(small())],
  ['permuteSeats, agents that leave sooner', () => permuteSeats(stagHunt({ size: 2, agents: 3, stags: 0, hares: 1 }))],
  ['timeLimit', () => timeLimit(small(), 5)],
  ['timeLimit 1', () => timeLimit(catchGame(), 1)],
  ['withPreviousActions', () => withPreviousActions(small())],
  ['withAgentId', () => withAgentId(small())],
  ['withAgentId around the others', () => withAgentId(permuteSeats(withPreviousActions(limitedView(small(), 1))))],
  ['limitedView', () => limitedView(small(), 1)],
  ['limitedView without obstacles', () => limitedView(gymHunt({ maxSteps: 20 }), 1)],
  ['all of them', () => timeLimit(limitedView(withPreviousActions(permuteSeats(small())), 2), 9)],
  ['all of them, the other way round', () => permuteSeats(withPreviousActions(limitedView(timeLimit(small(), 9), 2)))],
  ['a game of float64', () => withPreviousActions(permuteSeats(timeLimit(cartPole(), 20)))],
  ['a game without layouts and scenes', () => permuteSeats(withPreviousActions(matrixGame({ maxSteps: 4 })))],
];

describe('wrapped games', () => {
  it.each(wrapped)('%s keeps the contract', (_, game) => {
    expect(gameContract(game(), { allocation: false })).toEqual([]);
  });

  it('may be instances of a class', () => {
    class Held {
      private readonly game = small();
      readonly name = 'held';
      readonly agents = this.game.agents;
      readonly actions = 7;
      readonly actionNames = this.game.actionNames;
      readonly observation = this.game.observation;
      readonly stateType = 'int32';
      readonly stateSize = this.game.stateSize;
      readonly maxSteps = this.game.maxSteps;
      readonly infos = this.game.infos;
      readonly options = {};
      reset(...args: Parameters<Game<'int32'>['reset']>) {
        this.game.reset(...args);
      }
      step(...args: Parameters<Game<'int32'>['step']>) {
        this.game.step(...args);
      }
      legal(...args: Parameters<Game<'int32'>['legal']>) {
        this.game.legal(...args);
      }
      observe(...args: Parameters<Game<'int32'>['observe']>) {
        this.game.observe(...args);
      }
      isActive(...args: Parameters<Game<'int32'>['isActive']>) {
        return this.game.isActive(...args);
      }
      elapsed(...args: Parameters<Game<'int32'>['elapsed']>) {
        return this.game.elapsed(...args);
      }
    }
    assertGame(permuteSeats(withPreviousActions(limitedView(timeLimit(new Held(), 5), 1))), { episodes: 2 });
  });

  it('says in the options what was done', () => {
    expect(timeLimit(permuteSeats(small()), 7).options).toEqual({
      ...small().options,
      permuteSeats: true,
      timeLimit: 7,
      wrappers: ['permuteSeats', 'timeLimit'],
    });
    expect(timeLimit(small(), 7).options).toEqual({ ...small().options, timeLimit: 7 });
  });

  it.each([
    ['timeLimit', (game: Game) => timeLimit(game, 3), true],
    ['withAgentId', (game: Game) => withAgentId(game), true],
    ['withPreviousActions', (game: Game) => withPreviousActions(game), true],
    ['permuteSeats', (game: Game) => permuteSeats(game), false], // who sits where isn't seen
  ])('say that the whole state is seen where it is: %s', (_name, wrapper, isSeen) => {
    const game = wrapper(matrixGame({ maxSteps: 5 }));
    expect(game.observesState ?? false).toBe(isSeen);
    assertGame(game, { episodes: 3 });
  });

  it('keep the parts of a grid where state and fields stay as they are', () => {
    const game = timeLimit(small(), 7);
    assertGame(game, { episodes: 3 });
    expect(game.grid?.rows).toBe(4);
    expect(limitedView(small(), 1).grid).toBeUndefined();
  });

  it('are another game in another order, in which no recording is replayed', async () => {
    const one = withAgentId(permuteSeats(withPreviousActions(small())));
    const other = permuteSeats(withAgentId(withPreviousActions(small())));
    expect(one.options['wrappers']).toEqual(['withPreviousActions', 'permuteSeats', 'withAgentId']);
    const recording = await recordEpisode(
      one,
      one.agents.map((id) => randomAgent({ game: one, id })),
      { seed: 1 },
    );
    expect(() => replayEpisode(one, recording)).not.toThrow();
    expect(() => replayEpisode(other, recording)).toThrow(/wrappers/);
  });

  it.each([
    ['permuteSeats', (game: Game) => permuteSeats(game)],
    ['timeLimit', (game: Game) => timeLimit(game, 3)],
    ['withPreviousActions', (game: Game) => withPreviousActions(game)],
    ['withAgentId', (game: Game) => withAgentId(game)],
    ['limitedView', (game: Game) => limitedView(game, 1)],
  ])('%s asks for a game', (name, wrapper) => {
    expect(() => wrapper(undefined as never)).toThrow(`${name}: expected a game`);
    expect(() => wrapper(stagHunt as never)).toThrow('Call it.');
  });
});

describe('withAgentId', () => {
  const idsOf = (game: Game) => {
    const env = vectorEnv(game, { envs: 2, seed: 1 });
    return Array.from({ length: 2 * 4 }, (_, row) => [...env.observations['agentId'].subarray(row * 4, row * 4 + 4)]);
  };
  const each = [
    [1, 0, 0, 0],
    [0, 1, 0, 0],
    [0, 0, 1, 0],
    [0, 0, 0, 1],
  ];

  it('tells each agent who it is, also where seats are drawn', () => {
    expect(idsOf(withAgentId(small()))).toEqual([...each, ...each]);
    expect(idsOf(withAgentId(permuteSeats(small())))).toEqual([...each, ...each]);
  });

  it('tells the seat where seats are drawn around it', () => {
    const game = permuteSeats(withAgentId(small()));
    const env = vectorEnv(game, { envs: 2, seed: 1 });
    const seats = [0, 1].flatMap((e) => [
      ...env.states.subarray((e + 1) * game.stateSize - 4, (e + 1) * game.stateSize),
    ]);
    expect(seats).not.toEqual([0, 1, 2, 3, 0, 1, 2, 3]);
    expect(idsOf(game)).toEqual(seats.map((seat) => each[seat]));
  });

  it('shows another view with its own id, and the rest as before', () => {
    const env = vectorEnv(withAgentId(small()), { envs: 3, seed: 2 });
    const plain = vectorEnv(small(), { envs: 3, seed: 2 });
    expect([...env.observations['planes']]).toEqual([...plain.observations['planes']]);
    const own = Object.fromEntries(
      Object.entries(env.observations).map(([name, data]) => [name, data.slice(0, data.length / 12)]),
    );
    const { observations } = otherView(env.game, own, 1, 0, 2);
    expect([...observations['agentId']]).toEqual(each[2]);
  });

  it('is refused twice', () => {
    expect(() => withAgentId(withAgentId(small()))).toThrow(/withAgentId.*stag-hunt, which has it/);
  });
});

describe('permuteSeats', () => {
  const game = permuteSeats(small());
  const seatsOf = (state: ArrayLike<number>) => Array.from(state).slice(-4);

  it('gives goals that read states the agent by its seat', () => {
    const matrix = matrixGame();
    const { goals } = permuteSeats({
      ...matrix,
      goals: { names: ['first', 'second'], readsStates: true, reached: ({ agent }) => agent },
    });
    const state = Int32Array.of(0, 0, 1, 0); // the agents sit in the seats 1 and 0
    const step = { action: 0, left: false, observations: {}, row: 0, before: state, after: state };
    expect([0, 1].map((agent) => goals!.reached({ ...step, agent }))).toEqual([1, 0]);
    expect(goals!.isOpen).toBeUndefined(); // as in the game itself
  });

  it('gives goals the state of the game itself', () => {
    const matrix = matrixGame();
    const sizes: number[] = [];
    const goals = {
      names: ['any'],
      readsStates: true,
      reached: ({ before, after }: { before: ArrayLike<number>; after: ArrayLike<number> }) =>
        sizes.push(before.length, after.length) * 0,
    };
    for (const wrapper of [permuteSeats, withPreviousActions]) {
      const { goals: wrapped, stateSize } = wrapper({ ...matrix, goals });
      expect(stateSize).toBe(matrix.stateSize + 2);
      const state = new Int32Array(stateSize);
      const step = { agent: 0, action: 0, left: false, observations: {}, row: 0, before: state, after: state };
      expect(wrapped!.reached(step)).toBe(0);
    }
    expect(sizes).toEqual(new Array(4).fill(matrix.stateSize));
  });

  it('refuses goals that depend on the seat, and read no states', () => {
    const goals = (reached: GoalSet<'int32'>['reached']) =>
      permuteSeats({ ...matrixGame(), goals: { names: ['first', 'second'], reached } });
    const state = new Int32Array(0);
    const step = { agent: 1, action: 1, left: false, observations: {}, row: 0, before: state, after: state };
    expect(goals(({ action }) => action).goals!.reached(step)).toBe(1);
    const bySeat = goals(({ agent, action }) => (agent === 0 ? action : -1));
    const wrong =
      /permuteSeats: goals\.reached: expected goals that don't depend on the seat.*step\.agent.*goals\.readsStates: true/;
    expect(() => bySeat.goals!.reached(step)).toThrow(wrong);
    expect(() => assertGame(bySeat)).toThrow(wrong);
  });

  it('draws each order of four equally often', () => {
    const env = vectorEnv(game, { envs: 2400, seed: 3 });
    const counts = new Map<string, number>();
    for (let e = 0; e < env.envs; e++) {
      const order = seatsOf(env.states.subarray(e * game.stateSize, (e + 1) * game.stateSize)).join('');
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    expect(counts.size).toBe(24);
    // 100 of each expected, standard deviation 9.8; 5 of them.
    for (const count of counts.values()) expect(Math.abs(count - 100)).toBeLessThan(49);
  });

  it('gives each agent what its seat sees, may do and earns', () => {
    const map = 'seats: 3 1 4 2\n12..\n..S.\n34..\n.h..';
    const plain = parallelEnv(small());
    const env = parallelEnv(game);
    const seats = plain.reset({ options: { layout: map.split('\n').slice(1).join('\n') } });
    const agents = env.reset({ options: { layout: map } });
    // Agent 1 sits in seat 3, agent 2 in seat 1, agent 3 in seat 4, agent 4 in seat 2.
    const seat: Record<string, string> = {
      agent_0: 'agent_2',
      agent_1: 'agent_0',
      agent_2: 'agent_3',
      agent_3: 'agent_1',
    };
    for (const id of game.agents) expect(agents.observations[id]).toEqual(seats.observations[seat[id]]);
    // The second seat goes down, the third and the fourth to the hare at [3, 1].
    const steps: Record<string, number>[] = [
      { agent_0: 4, agent_1: 1, agent_2: 1, agent_3: 1 },
      { agent_0: 4, agent_1: 4, agent_2: 4, agent_3: 6 },
    ];
    for (const bySeat of steps) {
      const byAgent = Object.fromEntries(env.agents.map((id) => [id, bySeat[seat[id]]]));
      const expected = plain.step(bySeat);
      const step = env.step(byAgent);
      for (const id of game.agents) {
        expect(step.rewards[id]).toBe(expected.rewards[seat[id]]);
        expect(step.terminations[id]).toBe(expected.terminations[seat[id]]);
        expect(step.infos[id]).toEqual(expected.infos[seat[id]]);
        expect(step.observations[id]).toEqual(expected.observations[seat[id]]);
      }
    }
    // Seat 4 was agent 3.
    expect(env.agents).toEqual(['agent_0', 'agent_1', 'agent_3']);
  });

  it('numbers agents, not seats, on pictures; layouts keep the seats', () => {
    const env = parallelEnv(game);
    env.reset({ options: { layout: 'seats: 3 1 4 2\n12..\n..S.\n34..\n.h..' } });
    const places = Object.fromEntries(
      (game.scene?.(env.state(), 0).items ?? []).map(({ symbol, row, column }) => [symbol, [row, column]]),
    );
    // The seats 1, 2, 3, 4 at [0,0], [0,1], [2,0], [2,1] are the agents 2, 4, 1, 3.
    expect(places).toMatchObject({ 2: [0, 0], 4: [0, 1], 1: [2, 0], 3: [2, 1], S: [1, 2], h: [3, 1] });
    const layout = game.writeLayout?.(env.state(), 0);
    expect(layout).toMatch(/^seats: 3 1 4 2\n12\.\./);
    const again = parallelEnv(game);
    again.reset({ options: { layout } });
    expect(again.state()).toEqual(env.state());
    again.reset({ options: { layout: '12..\n..S.\n34..\n.h..' } });
    expect(seatsOf(again.state())).toEqual([0, 1, 2, 3]);
    expect(() => again.reset({ options: { layout: 'seats: 1 1 2 3\n12..' } })).toThrow(
      'the numbers 1 to 4 in some order',
    );
  });

  it('evens out what a seat is good for', () => {
    // A game that pays the first seat only.
    const base = matrixGame({ payoffs: [[[1]], [[0]]], maxSteps: 1 });
    const env = vectorEnv(permuteSeats(base), { envs: 1000, seed: 1 });
    env.step(new Int32Array(2000));
    const first = env.result.rewards.filter((_, row) => row % 2 === 0).reduce((a, b) => a + b);
    // Binomial(1000, 1/2): standard deviation 15.8; 4.5 of them.
    expect(Math.abs(first - 500)).toBeLessThan(71);
  });
});

describe('timeLimit', () => {
  it('truncates who still plays, and nobody else', () => {
    // Agent 2 takes the hare in step 2, the last step of the limit.
    const env = parallelEnv(timeLimit(stagHunt({ size: 3, agents: 2, stags: 1, hares: 1 }), 2));
    env.reset({ options: { layout: '1..\n..S\n2h.' } });
    const first = env.step({ agent_0: 4, agent_1: 3 });
    expect(first.truncations).toEqual({ agent_0: false, agent_1: false });
    const last = env.step({ agent_0: 4, agent_1: 6 });
    expect(last.rewards).toEqual({ agent_0: 0, agent_1: 1 });
    expect(last.terminations).toEqual({ agent_0: false, agent_1: true });
    expect(last.truncations).toEqual({ agent_0: true, agent_1: false });
    expect(env.agents).toEqual([]);
  });

  it.each([0, 36, 2.5, Number.NaN])('refuses %s steps', (steps) => {
    expect(() => timeLimit(small(), steps)).toThrow(/timeLimit: expected steps from 1 to 35/);
  });
});

describe('withPreviousActions', () => {
  it('is what the stag hunt has as an option', () => {
    const own = vectorEnv(stagHunt({ size: 4, previousActions: true }), { envs: 8, seed: 2 });
    const added = vectorEnv(withPreviousActions(small()), { envs: 8, seed: 2 });
    expect(added.game.observation['previousActions'].shape).toEqual(own.game.observation['previousActions'].shape);
    for (let t = 0; t < 60; t++) {
      const actions = randomActions(own, t);
      own.step(actions);
      added.step(actions);
      expectSame(added.observations, own.observations);
      expectSame(added.finalObservations, own.finalObservations);
    }
  });

  it('shows the own action first', () => {
    const env = parallelEnv(withPreviousActions(matrixGame()));
    expect(Array.from(env.reset().observations['agent_1']['previousActions'])).toEqual([0, 0, 0, 0]);
    const { observations } = env.step({ agent_0: 0, agent_1: 1 });
    expect(Array.from(observations['agent_0']['previousActions'])).toEqual([1, 0, 0, 1]);
    expect(Array.from(observations['agent_1']['previousActions'])).toEqual([0, 1, 1, 0]);
  });

  it('is refused twice', () => {
    expect(() => withPreviousActions(withPreviousActions(small()))).toThrow('which has it');
  });
});

describe('limitedView', () => {
  it.each([1, 2, 5])('of radius %d is what the stag hunt has as an option', (radius) => {
    const options = { size: 6, obstaclePieces: 3 };
    const own = vectorEnv(stagHunt({ ...options, viewRadius: radius }), { envs: 8, seed: 4 });
    const cut = vectorEnv(limitedView(stagHunt(options), radius), { envs: 8, seed: 4 });
    expect(cut.game.observation).toEqual(own.game.observation);
    for (let t = 0; t < 60; t++) {
      const actions = randomActions(own, t);
      own.step(actions);
      cut.step(actions);
      expectSame(cut.observations, own.observations);
    }
  });

  it('shows the outside in a plane of its own where there are no obstacles', () => {
    const game = limitedView(gymHunt({ plants: 1 }), 1);
    expect(game.observation['planes']).toMatchObject({ shape: [3, 3, 5] });
    expect(game.observation['planes'].channels?.at(-1)).toBe('outside');
    const env = parallelEnv(game);
    const layout = ['1P..2', '.....', '..S..', '.....', '.....'].join('\n');
    const planes = Array.from(env.reset({ options: { layout } }).observations['agent_0']['planes']);
    const plane = (c: number) => planes.filter((_, i) => i % 5 === c).join('');
    // Agent 1 in the top left corner: the row above and the column to the left are outside.
    expect(plane(0)).toBe('000' + '010' + '000'); // itself in the middle
    expect(plane(3)).toBe('000' + '001' + '000'); // the plant to its right
    expect(plane(4)).toBe('111' + '100' + '100');
    expect(plane(1) + plane(2)).toBe('0'.repeat(18));
  });

  it('refuses games without planes, and odd radii', () => {
    expect(() => limitedView(matrixGame(), 1)).toThrow(/seen as planes \[rows, columns, C\], got joint \[5\]/);
    for (const radius of [0, 1.5, 65]) expect(() => limitedView(small(), radius)).toThrow('radius from 1 to 64');
  });
});

describe('recordEpisode', () => {
  const game = small();
  const hunters = () => game.agents.map((id) => nearestStag({ game, id }));

  it('writes down what happened, as JSON that replays', async () => {
    const recording = await recordEpisode(game, hunters(), { seed: 5 });
    const read = JSON.parse(JSON.stringify(recording));
    expect(read).toEqual(recording);
    expect(() => replayEpisode(game, read)).not.toThrow();
    expect(recording.frames).toHaveLength(recording.steps.length + 1);
    expect(recording.players).toEqual(['NearestStag', 'NearestStag', 'NearestStag', 'NearestStag']);
    const paid = recording.steps.flatMap((step) => step.rewards).reduce((a, b) => a + b);
    expect(paid).toBeGreaterThan(0);
    const last = recording.steps.at(-1);
    expect(last?.terminated.every((ended, i) => ended || last.truncated[i])).toBe(true);
    expect(recording.frames[0].layout).toBe(game.writeLayout?.(Int32Array.from(recording.frames[0].state), 0));
    expect(recording.frames[0].scene?.items.filter((item) => item.kind === 'agent')).toHaveLength(4);
    expect(JSON.stringify(recording).length).toBeLessThan(60_000);
  });

  it('plays the same with the same seed, and from a layout', async () => {
    expect(await recordEpisode(game, hunters(), { seed: 5 })).toEqual(
      await recordEpisode(game, hunters(), { seed: 5 }),
    );
    const layout = '12..\n..S.\n34..\nh...';
    const { frames } = await recordEpisode(game, hunters(), { layout });
    expect(frames[0].layout).toBe(layout);
  });

  it('marks who has left, and records games without pictures', async () => {
    const two = stagHunt({ size: 3, agents: 2, stags: 0, hares: 1 });
    const { steps } = await recordEpisode(
      two,
      two.agents.map((id) => nearestStag({ game: two, id })),
    );
    const taken = steps.findIndex((step) => step.rewards.some((reward) => reward > 0));
    const leaver = steps[taken].rewards.findIndex((reward) => reward > 0);
    expect(steps[taken].actions[leaver]).toBe(6);
    if (steps[taken + 1]) expect(steps[taken + 1].actions[leaver]).toBeNull();

    const matrix = matrixGame({ maxSteps: 3 });
    const plain = await recordEpisode(
      matrix,
      matrix.agents.map((id) => randomAgent({ game: matrix, id })),
    );
    expect(plain.steps).toHaveLength(3);
    expect(Object.keys(plain.frames[0])).toEqual(['state']);
    expect(() => replayEpisode(matrix, plain)).not.toThrow();
  });

  it('leaves agents as they were', async () => {
    let memory = 0;
    const saved: unknown[] = [];
    const agents = game.agents.map((id) => ({
      ...randomAgent({ game, id }),
      observe: () => void memory++,
      save: () => ({ memory }),
      restore: (state: unknown) => void saved.push(state),
    }));
    await recordEpisode(game, agents);
    expect(memory).toBeGreaterThan(0);
    expect(saved).toEqual([{ memory: 0 }, { memory: 0 }, { memory: 0 }, { memory: 0 }]);
  });

  it('notices a recording that does not fit', async () => {
    const recording = await recordEpisode(game, hunters(), { seed: 5 });
    expect(() => replayEpisode(stagHunt({ size: 5 }), recording)).toThrow('"size":4');
    const changed = structuredClone(recording) as { steps: { rewards: number[] }[] } & typeof recording;
    changed.steps[1].rewards[0] += 1;
    expect(() => replayEpisode(game, changed)).toThrow('step 2 as it was recorded');
    expect(() => replayEpisode(catchGame(), recording)).toThrow('a recording of catch');
    expect(() => replayEpisode(game, { ...recording, version: 3 as 1 })).toThrow('version 1 or 2');
    await expect(recordEpisode(game, hunters(), { sed: 1 } as object)).rejects.toThrow('"sed"');
    await expect(recordEpisode(game, hunters().slice(1))).rejects.toThrow('agent_0');
  });
});

describe('optimisticPartners', () => {
  // Rows: own action. Hunting the stag alone pays 0, together 4; the hare always pays 1.
  const round = matrixGame({
    payoffs: [
      [4, 0],
      [1, 1],
    ],
    actionNames: ['stag', 'hare'],
    maxSteps: 50,
  });
  const [STAG, HARE] = [0, 1];
  const easier = (chance: number) =>
    optimisticPartners(round, {
      chance,
      lacksPartners: (_, __, actions, at, agent) => actions[at + agent] === STAG && actions[at + 1 - agent] === HARE,
      join: (_, __, agent, result, row) => {
        result.rewards[row * 2 + agent] = 4;
      },
    });
  const rewardsOf = (game: Game<'int32'>, actions: readonly number[]) => {
    const env = vectorEnv(game, { envs: 1, seed: 1 });
    env.step(Int32Array.from(actions));
    return [...env.result.rewards];
  };

  it('gives a lone agent the outcome, and leaves all other steps alone', () => {
    expect(rewardsOf(easier(1), [STAG, HARE])).toEqual([4, 1]);
    expect(rewardsOf(easier(1), [HARE, STAG])).toEqual([1, 4]);
    expect(rewardsOf(easier(1), [STAG, STAG])).toEqual([4, 4]);
    expect(rewardsOf(easier(1), [HARE, HARE])).toEqual([1, 1]);
    expect(rewardsOf(easier(0), [STAG, HARE])).toEqual([0, 1]);
  });

  it('joins with the given probability', () => {
    const env = vectorEnv(easier(0.25), { envs: 4000, seed: 1 });
    env.step(Int32Array.from({ length: 8000 }, (_, i) => (i % 2 === 0 ? STAG : HARE)));
    const joined = env.result.rewards.filter((reward, i) => i % 2 === 0 && reward === 4).length;
    expect(Math.abs(joined / 4000 - 0.25)).toBeLessThan(0.03);
  });

  it('is a game', () => {
    assertGame(easier(0.5));
    expect(easier(0.5).options).toEqual({ ...round.options, optimisticPartners: 0.5 });
  });

  it('refuses a chance that is none', () => {
    expect(() => easier(2)).toThrow(/optimisticPartners: option chance/);
  });
});
