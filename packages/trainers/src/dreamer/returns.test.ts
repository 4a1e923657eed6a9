import { tf, useBackend } from '@coplay/tensor';
import { beforeAll, expect, it } from 'vitest';
import { lowerQuantile, replayReturns } from './returns';

beforeAll(async () => {
  await useBackend('cpu');
});

/** One sequence of three states with imagined returns 5, 6, 7, a discount of 0.9 and a lambda of 0.5. */
function targets({ isTerminal, isLast }: { readonly isTerminal: number[]; readonly isLast: number[] }): number[] {
  return tf.tidy(() => {
    const rows = { rewards: [9, 1, 2], isTerminal, isLast, imagined: [5, 6, 7] };
    const [rewards, terminal, last, imagined] = Object.values(rows).map((row) => tf.tensor2d([row]));
    const terms = { rewards, isTerminal: terminal, isLast: last, imagined };
    return [...replayReturns(terms, 0.9, 0.5).dataSync()];
  });
}

it.each([
  // R_1 = 2 + 0.9 x 7 = 8.3; R_0 = 1 + 0.9 (0.5 x 6 + 0.5 R_1) = 7.435
  ['goes on', { isTerminal: [0, 0, 0], isLast: [0, 0, 0] }, [7.435, 8.3]],
  // The next state is another episode's: R_0 = 1 + 0.9 x 6 = 6.4, from the imagined return alone.
  ['breaks off at state 1', { isTerminal: [0, 0, 0], isLast: [0, 1, 0] }, [6.4, 8.3]],
  // Nothing follows: R_0 = 1.
  ['ends at state 1', { isTerminal: [0, 1, 0], isLast: [0, 1, 0] }, [1, 8.3]],
])('targets of the critic on a real sequence that %s', (_, flags, expected) => {
  targets(flags).forEach((target, t) => void expect(target).toBeCloseTo(expected[t], 5));
});

it('lowerQuantile: as numpy has it', () => {
  const x = tf.tensor2d([
    [10, 0],
    [2, 1],
  ]);
  // Places 0, 0.3, 1.5 of 0, 1, 2, 10
  expect([0, 0.1, 0.5].map((q) => lowerQuantile(x, q).dataSync()[0])).toEqual([0, Math.fround(0.3), 1.5]);
  expect(lowerQuantile(tf.scalar(3), 0.05).dataSync()[0]).toBe(3);
});
