import { createGenerator, generatorFrom } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { at, Play } from './play';
import { settings } from './stag-hunt-arbitrary';

// Public implementations of this game had three bugs by which an agent's index mattered: (1) a stale loop variable
// cleared the last agent's plane when anyone took a hare; (2) legality was checked anew inside the loop over agents,
// so that the lower index won or paid; (3) moves were made one agent at a time, so that a mask or a count saw
// half-moved agents. Each shows when agents are renumbered: the same must happen, renumbered.

const [UP, , , RIGHT, STAY, STAG, HARE] = [0, 1, 2, 3, 4, 5, 6];

/** All orders of 0..n-1. */
function permutations(n: number): number[][] {
  if (n === 0) return [[]];
  return permutations(n - 1).flatMap((order) => Array.from({ length: n }, (_, i) => order.toSpliced(i, 0, n - 1)));
}

const preyOf = ({ game, state }: Play) =>
  game.scene!(state, 0).items.filter(({ kind }) => kind === 'stag' || kind === 'hare');

const renumbered = <T>(values: readonly T[], order: readonly number[]) => order.map((agent) => values[agent]);

describe('every renumbering of four agents', () => {
  const scenes = {
    'two on one hare, one walks in, one walks by (bug 1)': {
      layout: { agents: at('11 11 10 33'), hares: at('11'), stags: at('22') },
      actions: [HARE, HARE, RIGHT, UP],
      rewards: [0.5, 0.5, 0, 0],
    },
    'three on one stag, one of them only stands there (bug 2)': {
      layout: { agents: at('11 11 11 33'), stags: at('11') },
      actions: [STAG, STAG, STAY, UP],
      rewards: [5, 5, 0, 0],
    },
    'a stag and a hare at once': {
      layout: { agents: at('11 11 22 22'), stags: at('11'), hares: at('22') },
      actions: [STAG, STAG, HARE, STAY],
      rewards: [5, 5, 1, 0],
    },
    'a hunter whose partner leaves the cell in this step, another who enters it (bug 3)': {
      options: { stagNeedsPartner: true },
      layout: { agents: at('11 11 10 00'), stags: at('11') },
      actions: [STAG, UP, RIGHT, STAY],
      rewards: [0, 0, 0, 0],
    },
    'agents that change places': {
      layout: { agents: at('11 12 00 33'), hares: at('11') },
      actions: [RIGHT, 2, STAY, STAY],
      rewards: [0, 0, 0, 0],
    },
  };

  test.each(Object.entries(scenes))('%s', (_, { layout, actions, rewards, ...rest }) => {
    const game = stagHunt({ size: 4, ...('options' in rest && rest.options) });
    const plain = new Play(game).start(layout);
    const played = plain.step(actions);
    expect(played.rewards).toEqual(rewards);
    expect(played.illegal).toEqual([0, 0, 0, 0]);
    for (const order of permutations(4)) {
      const play = new Play(game).start({ ...layout, agents: renumbered(layout.agents, order) });
      const step = play.step(renumbered(actions, order));
      for (const name of ['rewards', 'terminated', 'truncated', 'illegal', 'caughtHare', 'caughtStag'] as const) {
        expect(step[name], name).toEqual(renumbered(played[name], order));
      }
      order.forEach((agent, seat) => {
        expect(play.mask(seat)).toEqual(plain.mask(agent));
        for (const plane of ['self', 'obstacles', 'stags', 'hares']) {
          expect(play.plane(seat, plane), plane).toEqual(plain.plane(agent, plane));
        }
        // Every agent on the map is in some plane of every agent's observation.
        const walkers = (p: Play, a: number) =>
          ['self', 'other_1', 'other_2', 'other_3'].flatMap((name) => p.plane(a, name));
        expect(walkers(play, seat).map(String).sort()).toEqual(walkers(plain, agent).map(String).sort());
      });
    }
  });
});

test('whole random episodes are the same, renumbered', () => {
  fc.assert(
    fc.property(settings, fc.nat(), (options, seed) => {
      const random = createGenerator(seed);
      const order = [...random.shuffle(Int32Array.from({ length: options.agents }, (_, i) => i))];
      const plain = new Play(stagHunt(options), random.split(1)).start();
      const twin = new Play(
        stagHunt({ ...options, strengths: renumbered(options.strengths, order) }),
        generatorFrom(plain.generator.state()),
      );
      const places = plain.game.scene!(plain.state, 0).items;
      const list = (kind: string) =>
        places.filter((item) => item.kind === kind).map(({ row, column }) => [row, column]);
      twin.start({
        agents: renumbered(list('agent'), order),
        obstacles: list('obstacle'),
        stags: list('stag'),
        hares: list('hare'),
      });
      while (!plain.isOver()) {
        const actions = order.map((_, i) => {
          const hunts = plain.mask(i).lastIndexOf(1);
          return hunts > 4 && random.uniform() < 0.6 ? hunts : random.integer(7);
        });
        const one = plain.step(actions);
        const two = twin.step(renumbered(actions, order));
        for (const name of ['terminated', 'truncated', 'illegal', 'caughtHare', 'caughtStag'] as const) {
          expect(two[name], name).toEqual(renumbered(one[name], order));
        }
        // Strengths are added in another order, which may change the last digit.
        for (const [seat, agent] of order.entries()) {
          expect(two.rewards[seat]).toBeCloseTo(one.rewards[agent], 5);
          expect(twin.mask(seat)).toEqual(plain.mask(agent));
        }
      }
      expect(preyOf(twin)).toEqual(preyOf(plain));
    }),
    { numRuns: 100 },
  );
});

test('a game in which prey reappears at once pays the hunters of one step their shares, in any order', () => {
  const game = stagHunt({ size: 2, agents: 3, stags: 0, hares: 1 });
  const respawning: typeof game = {
    ...game,
    step(state, offset, ...rest) {
      game.step(state, offset, ...rest);
      const places = game.agents.map((_, i) => (game.isActive(state, offset, i) ? [0, 0] : null));
      game.readLayout!({ agents: places, hares: at('00'), steps: game.elapsed(state, offset) }, state, offset);
    },
  };
  for (const [one, two, three] of permutations(3)) {
    const play = new Play(respawning).start({ agents: at('00 00 00'), hares: at('00') });
    const hunt = (...hunters: number[]) => play.step([0, 1, 2].map((agent) => (hunters.includes(agent) ? HARE : STAY)));
    const inOrder = (values: number[]) => [one, two, three].map((agent) => values[agent]);
    expect(inOrder(hunt(one, two).rewards)).toEqual([0.5, 0.5, 0]);
    expect(inOrder(hunt(three).rewards)).toEqual([0, 0, 1]);
  }
});
