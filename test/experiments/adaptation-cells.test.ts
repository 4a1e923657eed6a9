import type { Agent } from '@coplay/core';
import { mixed } from '@coplay/envs';
import { describe, expect, it } from 'vitest';
import { BOARDS } from '../../studies/adaptation/boards';
import { CO_PLAYERS } from '../../studies/adaptation/co-players';
import { cellsOf, lowerEnd, shareBehind } from '../../studies/adaptation/comparison';
import { distinctByLineUp } from '../../studies/adaptation/distinct';
import type { Returns } from '../../studies/adaptation/trial';

const EPISODES = 6;
const listed = (...labels: string[]) => Object.fromEntries(labels.map((label) => [label, CO_PLAYERS[label]]));

describe('co-players of the study adaptation', () => {
  it('are one cell, named after all, where they act equally; where they do so only at first, later episodes count', {
    tags: ['slow'],
  }, async () => {
    const labels = ['NearestStag', 'NearestHare', 'Switcher, hare to stag', 'TitForTat of all others'];
    const found = await distinctByLineUp(BOARDS.cost.make(), listed(...labels), EPISODES, 4);
    expect(found['1 + 3']).toEqual({
      NearestStag: { from: 0, equals: undefined },
      NearestHare: { from: 0, equals: undefined },
      'Switcher, hare to stag': { from: 3, equals: 'NearestHare' },
      'TitForTat of all others': { from: EPISODES, equals: 'NearestStag' },
    });
    // Alone, it answers the focal agents, among whom are hare hunters.
    expect(found['3 + 1']['TitForTat of all others']).toEqual({ from: 1, equals: 'NearestStag' });
    const cells = cellsOf(labels, found, EPISODES).map(({ lineUp, coPlayer, from }) => `${lineUp} ${coPlayer} ${from}`);
    expect(cells).toContain('1 + 3 Switcher, hare to stag 3');
    expect(cells).not.toContain(`1 + 3 TitForTat of all others ${EPISODES}`);
    expect(cellsOf(labels, found, 3).filter(({ coPlayer }) => coPlayer.startsWith('Switcher'))).toEqual([]);
  });

  it('are equal though one of them draws more numbers, and only where they act equally', async () => {
    const rule = (p: number) => ({
      habit: 'other' as const,
      make: (game: ReturnType<typeof BOARDS.cost.make>, id: string) => mixed({ game, id, p }) as Agent,
    });
    const rules = { NearestHare: CO_PLAYERS['NearestHare'], 'Mixed(0)': rule(0), 'Mixed(0.5)': rule(0.5) };
    const found = await distinctByLineUp(BOARDS.cost.make(), rules, EPISODES, 4);
    expect(found['1 + 3']['Mixed(0)']).toEqual({ from: EPISODES, equals: 'NearestHare' });
    expect(found['1 + 3']['Mixed(0.5)'].from).toBe(0);
  });

  it('compare HOP with the better of its rivals, as a share of the range', () => {
    const cell = { lineUp: '1 + 3', coPlayer: 'X', from: 1 } as const;
    // The first episode is no part of the cell.
    const earned = (value: number): Returns => ({ '1 + 3': { X: [100, value, value] }, '3 + 1': {} });
    const trial = (value: number) => [{ selfPlay: 0, returns: earned(value) }];
    const found = { hop: trial(2), ppo: trial(1), direct: trial(2.5) };
    const references = [{ random: earned(-1), stag: earned(3), hare: earned(0.5) }];
    // 2 - 2.5, of the range from -1 to 3; one seed has no interval.
    expect(shareBehind(found, references, cell)).toBeCloseTo(-0.5 / 4, 12);
    expect(shareBehind({ hop: trial(2) }, references, cell)).toBeUndefined();
    expect(lowerEnd({ value: 2, lower: 1, upper: 3 } as never)).toBe(1);
  });
});
