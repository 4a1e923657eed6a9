import { assertGame, gameContract, parallelEnv } from '@coplay/core';
import { overcooked, renderText } from '@coplay/envs';
import { describe, expect, it } from 'vitest';
import { Play } from './play';
import { expectSameEpisode, recordedCases } from './recorded';

const layouts = [
  'cramped-room',
  'asymmetric-advantages',
  'coordination-ring',
  'forced-coordination',
  'counter-circuit',
];
const [UP, DOWN, RIGHT, LEFT, STAY, INTERACT] = [0, 1, 2, 3, 4, 5];

/** A kitchen where the first agent has all it needs around it. */
const tiny = ['XPXXXX', 'O1S2 X', 'XDXXXX'].join('\n');

describe('overcooked', () => {
  it.each(recordedCases('overcooked'))('plays as overcooked-ai: %s', (name, recorded) => {
    expectSameEpisode('overcooked', name, recorded);
  });

  it.each(recordedCases('overcooked_old'))('plays as overcooked-ai: %s', (name, recorded) => {
    expectSameEpisode('overcooked_old', name, recorded);
  });

  it.each(layouts)('keeps the contract: %s', (layout) => {
    assertGame(overcooked({ layout, maxSteps: 12 }), { episodes: 2 });
  });

  it('keeps the contract in states that random play reaches', () => {
    expect(
      gameContract(overcooked({ layout: tiny, cookTime: 2, maxSteps: 300 }), { episodes: 1, allocation: false }),
    ).toEqual([]);
  });

  it('cooks, plates and serves a soup, and names these as goals', () => {
    const game = overcooked({ layout: tiny, cookTime: 2 });
    const play = new Play(game).start();
    const reached: number[] = [];
    const act = (action: number) => {
      const before = Int32Array.from(play.state);
      const outcome = play.outcome([action, STAY]);
      const step = { agent: 0, action, left: false, observations: {}, row: 0, before, after: play.state };
      const goal = game.goals!.reached(step);
      if (goal >= 0) reached.push(goal);
      return outcome;
    };
    for (let onion = 0; onion < 3; onion++) {
      act(LEFT);
      act(INTERACT); // takes an onion
      act(UP);
      expect(act(INTERACT).infos['shaped']).toEqual([3, 0]); // puts it into the pot
    }
    expect(play.state[play.state.length - 1]).toBe(-1); // the pot waits for an agent with empty hands
    act(INTERACT);
    act(DOWN);
    expect(act(INTERACT).infos['shaped']).toEqual([3, 0]); // a dish, which is needed: the soup cooks
    act(UP);
    expect(act(INTERACT).infos['shaped']).toEqual([5, 0]);
    act(RIGHT);
    const { rewards, infos } = act(INTERACT);
    expect([rewards, infos['sparse'], infos['shaped']]).toEqual([
      [20, 20],
      [20, 0],
      [0, 0],
    ]);
    expect(reached).toEqual([0, 0, 0, 1, 2]);
  });

  it('draws the kitchen, what agents hold and where they look', () => {
    const game = overcooked();
    const env = parallelEnv(game);
    env.reset();
    env.step({ agent_0: UP, agent_1: RIGHT });
    env.step({ agent_0: INTERACT, agent_1: INTERACT });
    const { items } = game.scene!(env.state() as Int32Array, 0);
    const symbolsIn = (row: number, column: number) =>
      items.flatMap((item) => (item.row === row && item.column === column ? [item.symbol] : []));
    expect(symbolsIn(1, 3)).toEqual(['2', '>', 'o']);
    expect(symbolsIn(0, 2)).toEqual(['P']);
    expect(renderText(game, env.state())).toContain('P');
  });

  it('refuses kitchens that it cannot read', () => {
    expect(() => overcooked({ layout: 'big-room' })).toThrow(/cramped-room.*got "big-room"/s);
    expect(() => overcooked({ layout: 'XXXX\nX12X\nXX' })).toThrow(/same length.*got "XX"/s);
    expect(() => overcooked({ layout: 'XXXX\nX12X\nXTXX' })).toThrow(/got "T"/);
    expect(() => overcooked({ layout: 'XXXX\nX1 2\nXXXX' })).toThrow(/floor in row 1, column 3/);
    expect(() => overcooked({ layout: 'XXXX\nX1XX\nXXXX' })).toThrow(/agent 2 once, got 0/);
    expect(() => overcooked({ cookTime: 0 })).toThrow('cookTime');
  });
});
