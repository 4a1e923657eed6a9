import { createGenerator } from '@coplay/core';
import { stagHunt } from '@coplay/envs';
import { describe, expect, test } from 'vitest';
import { Play } from './play';

describe('the start of an episode', () => {
  test('puts everything on distinct free cells', () => {
    const play = new Play(stagHunt({ size: 6, agents: 8, stags: 3, hares: 6, obstaclePieces: 3 }));
    for (let i = 0; i < 300; i++) {
      const { items } = play.game.scene!(play.start().state, 0);
      const count = (kind: string) => items.filter((item) => item.kind === kind).length;
      expect([count('agent'), count('stag'), count('hare')]).toEqual([8, 3, 6]);
      expect(new Set(items.map(({ row, column }) => `${row},${column}`)).size).toBe(items.length);
    }
  });

  test('is uniform over ordered tuples of cells', () => {
    const game = stagHunt({ size: 2, agents: 1, stags: 1, hares: 1 });
    const play = new Play(game, createGenerator(4));
    const counts = new Map<string, number>();
    for (let i = 0; i < 24_000; i++) {
      const { items } = game.scene!(play.start().state, 0);
      const key = items.map(({ kind, row, column }) => `${kind}${row}${column}`).join(' ');
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    // 4 * 3 * 2 = 24 tuples, 1,000 each; chi-square with 23 degrees of freedom exceeds 59 once in 20,000 times.
    expect(counts.size).toBe(24);
    const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
    expect(chiSquare).toBeLessThan(59);
  });

  test.each([
    [{ size: 8 }, 5],
    [{ size: 7 }, 3], // floor(5 * 49 / 64)
    [{ size: 6 }, 2], // floor(5 * 36 / 64)
    [{ size: 5 }, 0],
    [{ size: 4 }, 0],
    [{ size: 16 }, 20],
  ])('obstacle pieces of %o are %i by default', (options, pieces) => {
    expect(stagHunt(options).options['obstaclePieces']).toBe(pieces);
  });

  test.each([
    { options: { size: 1, agents: 1, stags: 0, hares: 0 }, mask: [0, 0, 0, 0, 1, 0, 0] },
    { options: { size: 2, agents: 1, stags: 0, hares: 0 } },
    { options: { size: 2, agents: 4, stags: 0, hares: 0 } },
    { options: { size: 4, agents: 1 } },
    { options: { size: 4, agents: 8, stags: 0 } },
    { options: { size: 3, agents: 8, stags: 1, hares: 0 } },
  ])('the smallest and largest games work: $options', ({ options, mask }) => {
    const play = new Play(stagHunt(options)).start();
    if (mask) expect(play.mask(0)).toEqual(mask);
    let steps = 0;
    const random = createGenerator(1);
    while (!play.isOver()) {
      const { rewards } = play.step(play.game.agents.map((_, i) => lastLegal(play.mask(i), random)));
      expect(rewards.every(Number.isFinite)).toBe(true);
      steps++;
    }
    expect(steps).toBeLessThanOrEqual(35);
  });
});

function lastLegal(mask: number[], random: { integer(n: number): number }): number {
  const legal = mask.flatMap((one, action) => (one === 1 ? [action] : []));
  return legal[random.integer(legal.length)];
}

describe('options', () => {
  test.each([
    [{ size: 0 }, /stagHunt: option size: expected a whole number from 1 to 64, got 0\. Change size/],
    [{ size: 8.5 }, /option size: expected a whole number from 1 to 64, got 8\.5/],
    [{ size: '8' }, /option size: expected a whole number from 1 to 64, got "8"/],
    [{ agents: 0 }, /option agents: expected a whole number from 1 to 8, got 0/],
    [{ agents: 9 }, /option agents: expected a whole number from 1 to 8, got 9/],
    [{ stags: -1 }, /option stags: expected a whole number from 0 to 4096, got -1/],
    [{ maxSteps: 0 }, /option maxSteps: expected a whole number from 1/],
    [{ stagReward: Number.NaN }, /option stagReward: .*NaN/],
    [{ preyMoves: 1.5 }, /option preyMoves: .*1\.5/],
    [{ stepsAfterFirstHunt: 0 }, /option stepsAfterFirstHunt: expected a whole number from 1 to 1000000, got 0/],
    [{ viewRadius: 0 }, /option viewRadius: expected a whole number from 1 to 64, got 0/],
    [{ strengths: [1, 1, 1] }, /option strengths: expected 4 strengths, one for each agent, got 3 strengths/],
    [{ strengths: [1, 1, 1, 0] }, /option strengths\.3: .*0/],
    [
      { stagsNeedPartner: true },
      /stagHunt: expected known options only, got the unknown option "stagsNeedPartner"\. Did you mean stagNeedsPartner\? The options are: size, agents/,
    ],
    [{ size: 2 }, /option size: expected a cell for each of 9 agents and prey, got size 2 \(4 cells\)/],
  ])('%o is refused', (options, message) => {
    expect(() => stagHunt(options as never)).toThrow(message);
  });

  test('obstacles that leave no room are refused by name', () => {
    const game = stagHunt({ size: 6, agents: 8, stags: 0, hares: 28, obstaclePieces: 0 });
    expect(() => new Play(game).start()).not.toThrow();
    // With 1,000 pieces the number drawn is next to never 0, and more than 12 have no room.
    const full = stagHunt({ size: 6, agents: 8, stags: 0, hares: 28, obstaclePieces: 1000 });
    const message =
      /stagHunt: expected obstacles that leave 36 connected cells free, got obstaclePieces 1000 on 6x6\. Give fewer/;
    expect(() => new Play(full, createGenerator(3)).start()).toThrow(message);
  });
});
