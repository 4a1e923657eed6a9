import { type Game, type ParallelEnv, parallelEnv, type VectorEnv, vectorEnv } from '@coplay/core';
import {
  gymEscalation,
  gymHarvest,
  gymHunt,
  limitedView,
  permuteSeats,
  randomAgent,
  recordEpisode,
  snowdrift,
  stagHunt,
  timeLimit,
  withAgentId,
  withPreviousActions,
} from '@coplay/envs';
import { describe, expect, it } from 'vitest';

type Layout = Readonly<Record<string, unknown>>;

const maxSteps = 6;
const agents = [
  [0, 0],
  [2, 1],
];
const sizes = { rows: 3, columns: 3, maxSteps } as const;
const things = { stags: [[0, 2]], hares: [[1, 1]], obstacles: [[2, 2]] };
const hunt = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1, maxSteps });
const drift = snowdrift({ size: 3, agents: 2, drifts: 2, maxSteps });

/** Each game that takes layouts, with one that it takes and the kinds of things whose count is fixed. */
const games: readonly [name: string, game: Game, good: Layout, fixed: readonly string[]][] = [
  ['stagHunt', hunt, { agents, ...things }, []],
  [
    'stagHunt with all options',
    stagHunt({ size: 3, agents: 2, maxSteps, previousActions: true, stepsAfterFirstHunt: 2 }),
    { agents, ...things, steps: 3, firstCatch: 2, previousActions: [null, 2] },
    [],
  ],
  [
    'snowdrift',
    drift,
    {
      agents,
      drifts: [
        [0, 2],
        [1, 1],
      ],
      obstacles: [[2, 2]],
    },
    [],
  ],
  [
    'gymHunt',
    gymHunt({ ...sizes, plants: 2 }),
    {
      agents,
      stag: [[1, 1]],
      plants: [
        [0, 2],
        [2, 2],
      ],
    },
    ['stag', 'plants'],
  ],
  [
    'gymHarvest',
    gymHarvest({ ...sizes, plants: 2 }),
    { agents, young: [[0, 2]], mature: [[2, 2]] },
    ['young', 'mature'],
  ],
  ['gymEscalation', gymEscalation(sizes), { agents, mark: [[1, 1]], streak: 2 }, ['mark']],
  ['permuteSeats', permuteSeats(hunt), { agents, ...things }, []],
  ['withPreviousActions', withPreviousActions(hunt), { agents, ...things }, []],
  [
    'limitedView',
    limitedView(drift, 1),
    {
      agents,
      drifts: [
        [0, 2],
        [1, 1],
      ],
    },
    [],
  ],
  ['withAgentId', withAgentId(hunt), { agents, ...things }, []],
  ['timeLimit', timeLimit(stagHunt({ size: 3, agents: 2, maxSteps: 20 }), maxSteps), { agents, ...things }, []],
];

/** What can't be a place on a board of three rows and columns. */
const noPlaces: readonly unknown[] = [
  [-1, 0],
  [0, -1],
  [3, 0],
  [0, 3],
  [2 ** 32, 0],
  [0.5, 0],
  [0, Number.NaN],
  [0, Number.POSITIVE_INFINITY],
  ['0', 0],
  [0],
  [0, 0, 0],
  [],
  7,
  'a1',
  undefined,
];
/** What can't be the number of steps that were done. */
const noSteps: readonly unknown[] = [
  -1,
  0.5,
  Number.NaN,
  maxSteps,
  maxSteps + 1,
  2 ** 31,
  2 ** 32,
  '3',
  true,
  [],
  null,
];

/** The good layout with one thing wrong in turn. */
function* spoilt(good: Layout, fixed: readonly string[]): Generator<[what: string, layout: unknown]> {
  const lists = Object.keys(good).filter((name) => Array.isArray(good[name]) && name !== 'previousActions');
  for (const name of lists) {
    const places = good[name] as readonly unknown[];
    for (const place of noPlaces)
      yield [`${name}: a place ${String(place)}`, { ...good, [name]: places.with(0, place) }];
    if (name !== 'agents') yield [`${name}: a place null`, { ...good, [name]: places.with(0, null) }];
    for (const none of [null, 7, 'x', {}]) yield [`${name}: ${String(none)}`, { ...good, [name]: none }];
    yield [`${name}: a hole`, { ...good, [name]: new Array(places.length) }];
    if (name !== 'agents') {
      yield [`${name}: twice on a cell`, { ...good, [name]: [...places, places[0]] }];
      yield [`${name}: the first twice`, { ...good, [name]: places.map(() => places[0]).concat([places[0]]) }];
    }
    if (name === 'agents' || fixed.includes(name)) {
      yield [`${name}: one too few`, { ...good, [name]: places.slice(1) }];
      yield [`${name}: one too many`, { ...good, [name]: [...places, [1, 2]] }];
    }
  }
  for (const steps of noSteps) yield [`steps: ${String(steps)}`, { ...good, steps }];
  yield ['an unknown name', { ...good, deer: [] }];
  yield ['agents that are missing', { ...good, agents: undefined }];
  for (const whole of [null, 7, true, [], '', '{', '[]', 'x', new Map(Object.entries(good)), () => good]) {
    yield [`all of it: ${String(whole)}`, whole];
  }
}

/** All that a later step can depend on. */
const pictureOf = (env: VectorEnv) =>
  structuredClone([env.state(), env.observations, env.masks, env.active, env.ended, env.result]);

/** Plays on for a few steps, into the next episodes. */
function futureOf(env: VectorEnv): unknown[] {
  const seen: unknown[] = [];
  for (let t = 0; t < maxSteps + 2; t++) {
    const legal = (row: number) =>
      env.masks.subarray(row * env.game.actions, (row + 1) * env.game.actions).lastIndexOf(1);
    env.step(Int32Array.from({ length: env.active.length }, (_, row) => legal(row)));
    seen.push(env.states.slice());
  }
  return seen;
}

function futureOfOne(env: ParallelEnv): unknown[] {
  const [states, count] = [[] as unknown[], env.game.actions];
  let seen: ReturnType<ParallelEnv['reset']>['observations'] | undefined;
  for (let t = 0; t < 2 * maxSteps; t++) {
    if (!seen || env.agents.length === 0) seen = env.reset().observations;
    const at = seen;
    seen = env.step(
      Object.fromEntries(env.agents.map((id) => [id, at[id].mask.subarray(0, count).lastIndexOf(1)])),
    ).observations;
    states.push(env.state());
  }
  return states;
}

describe.each(games)('a layout that %s cannot use', (_name, game, good, fixed) => {
  it('is refused by name, and the refused reset has changed nothing', () => {
    const make = () => vectorEnv(game, { envs: 2, seed: 1 });
    const [env, single] = [make(), parallelEnv(game, { seed: 1 })];
    env.reset({ layout: good });
    single.reset({ options: { layout: good } });
    const [before, alone] = [pictureOf(env), single.state()];
    for (const [what, layout] of spoilt(good, fixed)) {
      const says = /layout|permuteSeats/;
      expect(() => env.reset({ seed: 5, layout }), what).toThrow(
        expect.objectContaining({ complaint: expect.objectContaining({ where: expect.stringMatching(says) }) }),
      );
      expect(() => single.reset({ seed: 5, options: { layout } }), what).toThrow(says);
    }
    expect(pictureOf(env)).toEqual(before);
    expect(single.state()).toEqual(alone);
    const untouched = make();
    untouched.reset({ layout: good });
    expect(futureOf(env)).toEqual(futureOf(untouched));
    const other = parallelEnv(game, { seed: 1 });
    other.reset({ options: { layout: good } });
    expect(futureOfOne(single)).toEqual(futureOfOne(other));
  });

  it('is refused where an episode is recorded', async () => {
    const agents = game.agents.map((id) => randomAgent({ game, id }));
    await expect(recordEpisode(game, agents, { layout: { ...good, steps: maxSteps } })).rejects.toThrow(/layout/);
  });
});

describe('lines below a map', () => {
  const map = '1.S\n.h.\n.2#';
  const gym = '1.M\n...\n.2.';

  it.each([
    [hunt, `${map}\nsteps:`],
    [hunt, `${map}\nsteps: 0x2`],
    [hunt, `${map}\nsteps: 1e0`],
    [hunt, `${map}\nsteps: 1\nsteps: 2`],
    [gymEscalation(sizes), `${gym}\nsteps:`],
    [gymEscalation(sizes), `${gym}\nsteps: ${maxSteps + 1}`],
    [gymEscalation(sizes), `${gym}\nagents: 2`],
    [gymEscalation(sizes), `${gym}\nmark: 1`],
    [gymEscalation(sizes), gym.replace('2', '1')],
    [gymHunt({ ...sizes, plants: 1 }), '1.S\n.P.\n.2.\nstreak: 1'],
  ])('are refused where they are no number, doubled or of another game: %#', (game, layout) => {
    const state = new Int32Array(game.stateSize).fill(9);
    expect(() => game.readLayout?.(layout, state, 0)).toThrow(/layout/);
    expect(state).toEqual(new Int32Array(game.stateSize).fill(9));
  });
});
