import { createGenerator } from '@coplay/core';
import { describe, expect, it } from 'vitest';
import type { IteratedGame } from './iterated-game';
import { iteratedGradients } from './iterated-gradients';

/** The iterated prisoner's dilemma of Foerster et al. 2018: action 0 cooperates. */
const dilemma: IteratedGame = {
  payoffs: [Float64Array.of(-1, -3, 0, -2), Float64Array.of(-1, 0, -3, -2)],
  discount: 0.9,
};
/** Payoffs without any symmetry. */
const lopsided: IteratedGame = {
  payoffs: [Float64Array.of(1, -2, 0.5, 3), Float64Array.of(2, 0.3, -1, -0.7)],
  discount: 0.8,
};
const random = (seed: number) => {
  const generator = createGenerator(seed);
  return Float64Array.from({ length: 5 }, () => generator.normal());
};
const SURE = 40; // a logit whose chance is 1 to the last digit
const always = (sign: number) => new Float64Array(5).fill(sign * SURE);
const titForTat = Float64Array.of(SURE, -SURE, SURE, -SURE, SURE);

/** Values by summing payoffs over the chances of each round, one round after another. */
function valuesByRounds({ payoffs, discount }: IteratedGame, first: Float64Array, second: Float64Array): number[] {
  const chance = (logit: number) => 1 / (1 + Math.exp(-logit));
  const joint = (a: number, b: number) => [a * b, a * (1 - b), (1 - a) * b, (1 - a) * (1 - b)];
  const seenBySecond = [0, 2, 1, 3];
  let now = joint(chance(first[4]), chance(second[4]));
  const values = [0, 0];
  for (let round = 0, factor = 1; round < 800; round++, factor *= discount) {
    const next = [0, 0, 0, 0];
    now.forEach((p, pair) => {
      for (const player of [0, 1]) values[player] += factor * p * payoffs[player][pair];
      const after = joint(chance(first[pair]), chance(second[seenBySecond[pair]]));
      for (let i = 0; i < 4; i++) next[i] += p * after[i];
    });
    now = next;
  }
  return values;
}

/** Central differences of V_i by parameter `at` of `player`. */
function slope(game: IteratedGame, i: number, parameters: Float64Array[], player: number, at: number): number {
  const h = 1e-5;
  const moved = (by: number) => {
    const copies = parameters.map((own) => own.slice());
    copies[player][at] += by;
    return valuesByRounds(game, copies[0], copies[1])[i];
  };
  return (moved(h) - moved(-h)) / (2 * h);
}

describe('iteratedGradients', () => {
  it('values policies as by hand', () => {
    const value = (first: Float64Array, second: Float64Array) => iteratedGradients(dilemma, first, second).values;
    expect(value(always(-1), always(-1))[0]).toBeCloseTo(-2 / (1 - 0.9), 10);
    expect(value(titForTat, titForTat)[1]).toBeCloseTo(-1 / (1 - 0.9), 10);
    // Tit-for-tat against defection: -3 once, then -2 for ever; and 0, then -2.
    const [victim, thief] = value(titForTat, always(-1));
    expect(victim).toBeCloseTo(-3 + (-2 * 0.9) / (1 - 0.9), 10);
    expect(thief).toBeCloseTo((-2 * 0.9) / (1 - 0.9), 10);
    const even = value(new Float64Array(5), new Float64Array(5)); // all pairs equal: (-1 - 3 + 0 - 2) / 4 a round
    expect(even[0]).toBeCloseTo(-1.5 / (1 - 0.9), 10);
  });

  it.each([dilemma, lopsided])('agrees with a sum over rounds, and its gradients with differences of that', (game) => {
    for (const seed of [1, 2, 3]) {
      const parameters = [random(seed), random(seed + 10)];
      const found = iteratedGradients(game, parameters[0], parameters[1]);
      const expected = valuesByRounds(game, parameters[0], parameters[1]);
      for (const i of [0, 1]) {
        expect(found.values[i]).toBeCloseTo(expected[i], 9);
        for (const player of [0, 1]) {
          for (let s = 0; s < 5; s++) {
            expect(found.gradients[i][player][s]).toBeCloseTo(slope(game, i, parameters, player, s), 6);
          }
        }
      }
    }
  });

  it.each([dilemma, lopsided])('has second derivatives that agree with differences of its gradients', (game) => {
    const h = 1e-5;
    const parameters = [random(4), random(5)];
    const found = iteratedGradients(game, parameters[0], parameters[1]);
    for (const i of [0, 1]) {
      for (let u = 0; u < 5; u++) {
        const moved = (by: number) => {
          const second = parameters[1].slice();
          second[u] += by;
          return iteratedGradients(game, parameters[0], second).gradients[i][0];
        };
        const [above, below] = [moved(h), moved(-h)];
        for (let s = 0; s < 5; s++) {
          expect(found.mixed[i][s * 5 + u]).toBeCloseTo((above[s] - below[s]) / (2 * h), 6);
        }
      }
    }
  });
});
