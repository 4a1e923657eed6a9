import {
  type Agent,
  type AgentInput,
  type AgentStep,
  createGenerator,
  evaluate,
  type Game,
  vectorEnv,
} from '@coplay/core';
import { matrixGame, mixed, nearestHare, nearestStag, randomAgent, stagHunt, switcher, titForTat } from '@coplay/envs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { at, Play } from './play';
import { settings } from './stag-hunt-arbitrary';

const [UP, DOWN, LEFT, RIGHT, STAY, STAG, HARE] = [0, 1, 2, 3, 4, 5, 6];

/** What an agent in a seat is asked, for one game. */
function inputOf(play: Play, seat: number, isFirst = 0): AgentInput {
  const seen = Object.entries(play.observe(seat)).map(([name, values]) => [name, Float32Array.from(values)]);
  return {
    rows: 1,
    observations: Object.fromEntries(seen),
    masks: Uint8Array.from(play.mask(seat)),
    active: Uint8Array.of(play.game.isActive(play.state, 0, seat) ? 1 : 0),
    isFirst: Uint8Array.of(isFirst),
    previousActions: new Int32Array(play.A).fill(-1),
  };
}

/** The different actions that an agent chooses when it's asked many times, sorted. */
function choices(make: (options: { game: Game; id: string }) => Agent<null>, play: Play, seat = 0): number[] {
  const agent = make({ game: play.game, id: play.game.agents[seat] });
  const generator = createGenerator(5);
  const input = inputOf(play, seat);
  const chosen = new Set<number>();
  for (let i = 0; i < 60; i++) {
    const output = agent.act(input, null, generator);
    if (output instanceof Promise) throw new Error('rules answer at once');
    chosen.add(output.actions[0]);
  }
  return [...chosen].sort();
}

const game = stagHunt({ size: 5, agents: 2, stags: 2, hares: 2 });
const from = (layout: unknown, options = {}) => new Play(stagHunt({ size: 5, agents: 2, ...options })).start(layout);

describe('NearestStag', () => {
  test('draws among the moves that begin a shortest path, and ignores hares', () => {
    expect(choices(nearestStag, from('.....\n.1h..\n.hh..\n...S.\n2....'))).toEqual([DOWN, RIGHT]);
    expect(choices(nearestStag, from('.....\n.1.S.\n.....\n.....\n2....'))).toEqual([RIGHT]);
  });

  test('goes around obstacles', () => {
    // 1 stands at (1, 1), the stag at (1, 3) behind a wall with its nearer end above: up is 4 moves, down 6.
    expect(choices(nearestStag, from('.....\n.1#S.\n..#..\n..#..\n2....'))).toEqual([UP]);
  });

  test('goes to any of several nearest stags, and to no other', () => {
    expect(choices(nearestStag, from('S....\n.....\n..1..\n.....\nS..2S'))).toEqual([UP, DOWN, LEFT, RIGHT]);
    expect(choices(nearestStag, from('S....\n.....\n..1..\n..S..\n...2.'))).toEqual([DOWN]);
  });

  test('draws uniformly among them', () => {
    const play = from('.....\n.1h..\n.hh..\n...S.\n2....');
    const agent = nearestStag({ game, id: 'agent_0' });
    const generator = createGenerator(3);
    const input = inputOf(play, 0);
    let down = 0;
    for (let i = 0; i < 10_000; i++) {
      const { actions } = agent.act(input, null, generator) as { actions: Int32Array };
      if (actions[0] === DOWN) down++;
    }
    expect(Math.abs(down - 5000)).toBeLessThan(250); // sd 50
  });

  test('hunts alone; with waits stay only when somebody is there', () => {
    const waiting = (options: { game: Game; id: string }) => nearestStag({ ...options, waits: 'stay' });
    const alone = from({ agents: at('11 33'), stags: at('11') });
    const together = from({ agents: at('11 11'), stags: at('11') });
    expect(choices(nearestStag, alone)).toEqual([STAG]);
    expect(choices(waiting, alone)).toEqual([STAY]);
    expect(choices(waiting, together)).toEqual([STAG]);
  });

  test('stays while a lone hunt is illegal', () => {
    const play = from({ agents: at('11 33'), stags: at('11') }, { stagNeedsPartner: true });
    expect(choices(nearestStag, play)).toEqual([STAY]);
  });

  test('when the stags are gone takes the nearest hare, or stays; stays when nothing is left', () => {
    const loyal = (options: { game: Game; id: string }) => nearestStag({ ...options, whenGone: 'stay' });
    const hares = from('.....\n.1..h\n.....\n.....\nh...2');
    expect(choices(nearestStag, hares)).toEqual([RIGHT]);
    expect(choices(loyal, hares)).toEqual([STAY]);
    expect(choices(nearestStag, from('.....\n.1...\n.....\n.....\n....2'))).toEqual([STAY]);
  });

  test('in a limited view goes by what it sees', () => {
    const layout = '1....\n.....\nS..h.\n.....\n2...S';
    expect(choices(nearestStag, from(layout, { viewRadius: 2 }))).toEqual([DOWN]);
    // Nothing is within reach of sight.
    expect(choices(nearestStag, from(layout, { viewRadius: 1 }))).toEqual([STAY]);
  });
});

describe('NearestHare', () => {
  test('goes to a nearest hare, ignores stags, and hunts on it', () => {
    expect(choices(nearestHare, from('.....\n.1S.h\n.....\n.h...\n....2'))).toEqual([DOWN]);
    expect(choices(nearestHare, from({ agents: at('11 33'), hares: at('11') }))).toEqual([HARE]);
  });

  test('stays when the hares are gone', () => {
    expect(choices(nearestHare, from('.....\n.1S..\n.....\n.....\n....2'))).toEqual([STAY]);
  });
});

const withStags = settings.filter(({ stags }) => stags > 0);

test('the first moves are those whose cells are one step nearer, by distances of all pairs', () => {
  fc.assert(
    fc.property(withStags, fc.nat(), (options, seed) => {
      const play = new Play(stagHunt({ ...options, viewRadius: false }), createGenerator(seed));
      play.start();
      const { items } = play.game.scene!(play.state, 0);
      const size = options.size;
      const cells = (kind: string) =>
        items.filter((item) => item.kind === kind).map(({ row, column }) => row * size + column);
      const [start] = cells('agent');
      const distance = allDistances(size, cells('obstacle'));
      const nearest = Math.min(...cells('stag').map((stag) => distance[start][stag]));
      if (nearest === 0) return;
      const expected = [-size, size, -1, 1].flatMap((by, move) => {
        const isStep = distance[start][start + by] === 1;
        return isStep && cells('stag').some((stag) => distance[start + by][stag] === nearest - 1) ? [move] : [];
      });
      expect(choices(nearestStag, play)).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});

/** Floyd and Warshall: the number of moves between any two cells of a square grid. */
function allDistances(size: number, obstacles: number[]): number[][] {
  const N = size * size;
  const isNear = (a: number, b: number) =>
    Math.abs(Math.floor(a / size) - Math.floor(b / size)) + Math.abs((a % size) - (b % size)) === 1;
  const free = (cell: number) => !obstacles.includes(cell);
  const distance = Array.from({ length: N }, (_, a) =>
    Array.from({ length: N }, (_, b) =>
      a === b ? 0 : free(a) && free(b) && isNear(a, b) ? 1 : Number.POSITIVE_INFINITY,
    ),
  );
  for (let k = 0; k < N; k++) {
    for (let a = 0; a < N; a++) {
      for (let b = 0; b < N; b++) distance[a][b] = Math.min(distance[a][b], distance[a][k] + distance[k][b]);
    }
  }
  return distance;
}

describe('Random', () => {
  test('draws uniformly among legal actions', () => {
    const play = from({ agents: at('00 33'), stags: at('00') });
    const agent = randomAgent({ game, id: 'agent_0' });
    const generator = createGenerator(3);
    const input = inputOf(play, 0);
    const counts = new Array<number>(7).fill(0);
    for (let i = 0; i < 40_000; i++) {
      const { actions } = agent.act(input, null, generator) as { actions: Int32Array };
      counts[actions[0]]++;
    }
    // In the corner on a stag: down, right, stay, hunt stag; 10,000 each, sd 87.
    expect(counts.map((count) => Math.abs(count - 10_000) < 450)).toEqual([
      false,
      true,
      false,
      true,
      true,
      true,
      false,
    ]);
    expect(counts[UP] + counts[LEFT] + counts[HARE]).toBe(0);
  });

  test('plays any game', async () => {
    const dilemma = matrixGame({ kind: 'prisoners-dilemma' });
    const agents = dilemma.agents.map((id) => randomAgent({ game: dilemma, id }));
    const { mean } = await evaluate(dilemma, agents, { episodes: 20 });
    expect(Number.isFinite(mean)).toBe(true);
  });
});

/** A step that everyone sees, in which the two agents of each row did what is said. */
function stepOf(
  rows: { actions: [number, number]; ended?: boolean; illegal?: [number, number]; active?: [number, number] }[],
): AgentStep {
  return {
    rows: rows.length,
    actions: Int32Array.from(rows.flatMap((row) => row.actions)),
    active: Uint8Array.from(rows.flatMap((row) => row.active ?? [1, 1])),
    rewards: new Float32Array(rows.length * 2),
    ended: Uint8Array.from(rows, (row) => (row.ended ? 1 : 0)),
    terminated: new Uint8Array(rows.length * 2),
    infos: {
      ...Object.fromEntries(game.infos.map((name) => [name, new Float32Array(rows.length * 2)])),
      illegal: Float32Array.from(rows.flatMap((row) => row.illegal ?? [0, 0])),
    },
  };
}

/** Two rows of the same game, in which a hare is on the left and a stag on the right. */
function twoRows(isFirst: number[]): AgentInput {
  const one = inputOf(from('.....\n.....\nh1..S\n.....\n2....'), 0);
  const twice = (values: ArrayLike<number>) => Float32Array.from([...Array.from(values), ...Array.from(values)]);
  return {
    rows: 2,
    observations: Object.fromEntries(Object.entries(one.observations).map(([name, values]) => [name, twice(values)])),
    masks: Uint8Array.from(twice(one.masks)),
    active: Uint8Array.of(1, 1),
    isFirst: Uint8Array.from(isFirst),
    previousActions: new Int32Array(4).fill(-1),
  };
}

describe('Mixed', () => {
  test('draws its kind at the start of an episode and keeps it', async () => {
    const agent = mixed({ game, id: 'agent_0', p: 0.3 });
    const generator = createGenerator(1);
    let state = agent.initialState(2);
    let stags = 0;
    const [begin, goOn] = [twoRows([1, 1]), twoRows([0, 0])];
    for (let episode = 0; episode < 2000; episode++) {
      let first: number | undefined;
      for (let t = 0; t < 3; t++) {
        const output = await agent.act(t === 0 ? begin : goOn, state, generator);
        state = output.state;
        first ??= output.actions[0];
        expect(output.actions[0]).toBe(first);
      }
      if (first === RIGHT) stags++;
    }
    expect(Math.abs(stags - 600)).toBeLessThan(103); // sd sqrt(2000 * 0.3 * 0.7) = 20.5
  });

  test('leaves the state that it was given as it was', async () => {
    const agent = mixed({ game, id: 'agent_0', p: 1 });
    const state = agent.initialState(2);
    await agent.act(twoRows([1, 1]), state, createGenerator(1));
    expect([...state]).toEqual([0, 0]);
  });
});

describe('Switcher', () => {
  test('plays as the first for k episodes of each row, then as the second', async () => {
    const parts = { first: nearestHare({ game, id: 'agent_0' }), second: nearestStag({ game, id: 'agent_0' }) };
    const agent = switcher({ game, id: 'agent_0', ...parts, episodes: 2 });
    const state = agent.initialState(2);
    const generator = createGenerator(1);
    const actions = async () => [...(await agent.act(twoRows([0, 0]), state, generator)).actions];
    const end = (row: number) => stepOf([0, 1].map((r) => ({ actions: [STAY, STAY], ended: r === row })));
    expect(await actions()).toEqual([LEFT, LEFT]);
    agent.observe!(end(0));
    expect(await actions()).toEqual([LEFT, LEFT]);
    agent.observe!(end(0));
    expect(await actions()).toEqual([RIGHT, LEFT]);
    const saved = agent.save!();
    agent.observe!(end(1));
    agent.observe!(end(1));
    expect(await actions()).toEqual([RIGHT, RIGHT]);
    agent.restore!(saved);
    expect(await actions()).toEqual([RIGHT, LEFT]);
  });
});

describe('TitForTat', () => {
  const make = () => {
    const agent = titForTat({ game, id: 'agent_0' });
    agent.initialState(2);
    const generator = createGenerator(1);
    const actions = () => [...(agent.act(twoRows([0, 0]), null, generator) as { actions: Int32Array }).actions];
    return { agent, actions };
  };
  const idle = { actions: [STAY, STAY] as [number, number] };

  test('begins with stags, and repeats what another did in the last episode of the row', () => {
    const { agent, actions } = make();
    expect(actions()).toEqual([RIGHT, RIGHT]);
    agent.observe!(stepOf([{ actions: [STAY, STAG] }, idle]));
    agent.observe!(
      stepOf([
        { ...idle, ended: true },
        { ...idle, ended: true },
      ]),
    );
    expect(actions()).toEqual([RIGHT, LEFT]);
    agent.observe!(
      stepOf([
        { ...idle, ended: true },
        { actions: [STAY, STAG], ended: true },
      ]),
    );
    expect(actions()).toEqual([LEFT, RIGHT]);
  });

  test('its own hunts, illegal ones and those of the absent do not count', () => {
    const { agent, actions } = make();
    agent.observe!(stepOf([{ actions: [STAG, STAY] }, { actions: [STAY, STAG], illegal: [0, 1] }]));
    agent.observe!(stepOf([{ actions: [STAY, STAG], active: [1, 0] }, idle]));
    agent.observe!(
      stepOf([
        { ...idle, ended: true },
        { ...idle, ended: true },
      ]),
    );
    expect(actions()).toEqual([LEFT, LEFT]);
  });

  test('changes nothing within an episode, and gives its memory out to the bit', () => {
    const { agent, actions } = make();
    agent.observe!(stepOf([{ ...idle, ended: true }, idle]));
    agent.observe!(stepOf([{ actions: [STAY, STAG] }, idle]));
    expect(actions()).toEqual([LEFT, RIGHT]);
    const saved = agent.save!();
    const other = make();
    other.agent.restore!(saved);
    for (const each of [agent, other.agent])
      each.observe!(
        stepOf([
          { ...idle, ended: true },
          { ...idle, ended: true },
        ]),
      );
    expect(other.actions()).toEqual([RIGHT, LEFT]);
    expect(actions()).toEqual(other.actions());
  });
});

describe('in whole games', () => {
  const four = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });

  test('four NearestStag on 4x4 4h1s earn about 2.85 each, four NearestHare less than 1', async () => {
    const stags = await evaluate(
      four,
      four.agents.map((id) => nearestStag({ game: four, id })),
      { episodes: 3000, seed: 1 },
    );
    expect(Math.abs(stags.mean - 2.85)).toBeLessThan(0.04);
    const hares = await evaluate(
      four,
      four.agents.map((id) => nearestHare({ game: four, id })),
      { episodes: 1000, seed: 1 },
    );
    expect(hares.mean).toBeLessThan(1);
  });

  test.each([
    ['one NearestStag among three Random', 1],
    ['three NearestStag and one Random', 3],
  ])(
    '%s: NearestStag earns the same in every seat, and always sees itself in plane 0',
    { tags: ['slow'] },
    async (_, hunters) => {
      const means: number[] = [];
      const errors: number[] = [];
      for (let seat = 0; seat < 4; seat++) {
        const agents = four.agents.map((id, i) => {
          const isHunter = hunters === 1 ? i === seat : i !== (seat + 1) % 4;
          return isHunter ? watchful(nearestStag({ game: four, id }), i) : randomAgent({ game: four, id });
        });
        const { returnMean, returnStandardError } = await evaluate(four, agents, { episodes: 500, seed: 10 + seat });
        means.push(returnMean[four.agents[seat]]);
        errors.push(returnStandardError[four.agents[seat]]);
      }
      for (let seat = 1; seat < 4; seat++) {
        expect(Math.abs(means[seat] - means[0])).toBeLessThan(5 * Math.hypot(errors[seat], errors[0]));
      }
    },
  );

  /** Throws where an active agent isn't shown on exactly one cell of plane 0, the cell where its moves have led it. */
  function watchful(agent: Agent<null>, seat: number): Agent<null> {
    let believed: { cell: number; action: number }[] = [];
    return {
      ...agent,
      act(input, state, generator) {
        const output = agent.act(input, state, generator) as { actions: Int32Array; state: null };
        const next: typeof believed = [];
        for (let row = 0; row < input.rows; row++) {
          const plane = Array.from({ length: 16 }, (_, cell) => input.observations['planes'][row * 112 + cell * 7]);
          const cell = plane.indexOf(1);
          const count = plane.filter((one) => one === 1).length;
          if (count !== input.active[row]) throw new Error(`${agent.id} sees itself ${count} times`);
          const last = believed[row];
          if (last && input.isFirst[row] === 0 && input.active[row] === 1) {
            const led = last.cell + [-4, 4, -1, 1, 0, 0, 0][last.action];
            if (led !== cell) throw new Error(`seat ${seat} is at ${led} and is shown at ${cell}`);
          }
          next[row] = { cell, action: output.actions[row] };
        }
        believed = next;
        return output;
      },
    };
  }
});

describe('bad arguments are refused', () => {
  const fit = { game, id: 'agent_0' };
  test.each([
    [
      () => nearestStag({ game, id: 'agent_9' }),
      /nearestStag: option id: expected one of agent_0, agent_1, got "agent_9"/,
    ],
    [() => randomAgent({ game, id: '' }), /randomAgent: option id: expected one of/],
    [() => nearestStag({ ...fit, waits: 'sit' as never }), /nearestStag: option waits: /],
    [
      () => nearestStag({ ...fit, wait: 'stay' } as never),
      /unknown option "wait"\. Did you mean waits\? The options are: waits, whenGone/,
    ],
    [() => mixed({ ...fit, p: 2 }), /mixed: option p: .*got 2/],
    [() => mixed({ ...fit } as never), /mixed: option p: .*Give p a value/],
    [
      () => switcher({ ...fit, first: nearestStag(fit), second: nearestHare({ game, id: 'agent_1' }), episodes: 1 }),
      /switcher: expected agents with the id agent_0, got agent_1/,
    ],
    [
      () => switcher({ ...fit, first: nearestStag(fit), second: nearestHare(fit), episodes: -1 }),
      /switcher: option episodes: .*got -1/,
    ],
    [
      () => titForTat({ ...fit, watches: ['agent_0'] }),
      /titForTat: option watches: expected other agents of .* than agent_0: agent_1, got "?agent_0/,
    ],
    [() => titForTat({ ...fit, watches: [] }), /titForTat: option watches/],
    [
      () => titForTat(fit).restore!({ lastEpisode: 'x' }),
      /titForTat\.restore: saved\.lastEpisode: expected an Int32Array, got "x"/,
    ],
  ])('refusal %#', (make, message) => {
    expect(make).toThrow(message);
  });

  test('a game that is not seen as planes, or without stags', () => {
    const dilemma = matrixGame({ kind: 'prisoners-dilemma' });
    const [id] = dilemma.agents;
    expect(() => nearestStag({ game: dilemma, id })).toThrow(/nearestStag: expected a game that is seen as planes/);
    expect(() => titForTat({ game: dilemma, id })).toThrow(/titForTat: expected a game with the info illegal/);
  });
});

describe('titForTat that watches some agents', () => {
  const game = stagHunt({ size: 3, agents: 4, stags: 1, hares: 1 });
  /** Who hunts the stag in the only step of an episode; afterwards, whether each kind hunts it in the next. */
  const afterwards = (hunters: readonly number[]) => {
    const watching = titForTat({ game, id: 'agent_1', watches: ['agent_0', 'agent_3'] });
    const all = titForTat({ game, id: 'agent_1' });
    const step: AgentStep = {
      rows: 1,
      actions: Int32Array.from(game.agents, (_, seat) => (hunters.includes(seat) ? STAG : STAY)),
      active: new Uint8Array(4).fill(1),
      rewards: new Float32Array(4),
      ended: Uint8Array.of(1),
      terminated: new Uint8Array(4),
      infos: Object.fromEntries(game.infos.map((name) => [name, new Float32Array(4)])),
    };
    return [watching, all].map((agent) => {
      agent.initialState(1);
      agent.observe!(step);
      return (agent.save!() as { lastEpisode: Int32Array }).lastEpisode[0];
    });
  };

  test.each([
    { hunters: [2], watching: 0, all: 1 },
    { hunters: [0], watching: 1, all: 1 },
    { hunters: [2, 3], watching: 1, all: 1 },
    { hunters: [1], watching: 0, all: 0 },
  ])('hunters $hunters', ({ hunters, watching, all }) => {
    expect(afterwards(hunters)).toEqual([watching, all]);
  });
});

describe('titForTat after a reset within an episode', () => {
  test('forgets what was done in the episode that was broken off', async () => {
    const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1 });
    const agent = titForTat({ game, id: 'agent_0' });
    const hunt = game.actionNames.indexOf('hunt stag');
    const [rows, stay] = [1, game.actionNames.indexOf('stay')];
    const env = vectorEnv(game, { envs: 1 });
    const seen = (isFirst: number): AgentInput => ({
      rows,
      observations: Object.fromEntries(
        Object.entries(env.observations).map(([name, data]) => [name, data.subarray(0, data.length / 2)]),
      ),
      masks: env.masks.subarray(0, game.actions),
      active: Uint8Array.of(1),
      isFirst: Uint8Array.of(isFirst),
      previousActions: Int32Array.of(-1, -1),
    });
    const played = (action: number, ended: number): AgentStep => ({
      rows,
      actions: Int32Array.of(stay, action),
      active: Uint8Array.of(1, 1),
      rewards: new Float32Array(2),
      ended: Uint8Array.of(ended),
      terminated: new Uint8Array(2),
      infos: Object.fromEntries(game.infos.map((name) => [name, new Float32Array(2)])),
    });
    const generator = createGenerator(0);
    await agent.act(seen(1), null, generator);
    agent.observe?.(played(hunt, 0));
    await agent.act(seen(1), null, generator); // reset: a new episode, in which nobody hunts a stag
    agent.observe?.(played(stay, 1));
    expect(agent.save?.()).toEqual({ lastEpisode: Int32Array.of(0), thisEpisode: Int32Array.of(0) });
  });
});
