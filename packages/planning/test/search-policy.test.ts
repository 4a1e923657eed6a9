import { createGenerator } from '@coplay/core';
import { createSearch, type SearchNetworks, type SearchOptions } from '@coplay/planning';
import { describe, expect, it } from 'vitest';
import { uniform } from './networks';
import { type Place, tableGame } from './table-game';

/** Four actions that pay 0, 1, 2, 3 and end; those with 0 in `legal` are illegal. */
function choice(legal: readonly number[]) {
  const places: Place[] = [{ next: [-1, -1, -1, -1], rewards: [[0], [1], [2], [3]], legal: [legal] }];
  return tableGame({ agents: 1, actions: 4, places });
}

const root = () => ({ rows: 1, states: new Int32Array(2), seats: Int32Array.of(0), generator: createGenerator(1) });
const search = (legal: readonly number[], options: Partial<SearchOptions>, networks: SearchNetworks = uniform(4)) =>
  createSearch({ game: choice(legal), trees: 2, simulations: 40, ...options }).search(root(), networks);
const withLogits = (...logits: number[]): SearchNetworks => ({
  focal: ({ rows }) => ({
    logits: Float32Array.from({ length: 4 * rows }, (_, i) => logits[i % 4]),
    values: new Float32Array(rows),
  }),
});

describe('the policy', () => {
  it('is proportional to exp(rationality Q) among legal actions', async () => {
    const { policy, q } = await search([1, 1, 0, 1], { rationality: 0.5, exploration: 9 });
    expect(Array.from(q)).toEqual([0, 1, 0, 3]);
    const sum = 1 + Math.exp(0.5) + Math.exp(1.5);
    [1, Math.exp(0.5), 0, Math.exp(1.5)].forEach((weight, k) => {
      expect(policy[k]).toBeCloseTo(weight / sum, 6);
    });
  });

  it('never tries an illegal action, though all others lose', async () => {
    const places: Place[] = [{ next: [-1, -1, -1, -1], rewards: [[-100], [-200], [0], [-300]], legal: [[1, 1, 0, 1]] }];
    const game = tableGame({ agents: 1, actions: 4, places });
    const { visits, policy } = await createSearch({ game, trees: 2, simulations: 40 }).search(root(), uniform(4));
    expect([visits[2], policy[2]]).toEqual([0, 0]);
    expect(visits.reduce((a, b) => a + b)).toBe(80);
  });

  it('may be how often actions were tried', async () => {
    const { policy, visits } = await search([1, 1, 0, 1], { policy: 'visits' });
    visits.forEach((count, k) => {
      expect(policy[k]).toBeCloseTo(count / 80, 6);
    });
    expect(visits.reduce((a, b) => a + b)).toBe(80);
  });

  it('is the prior where nothing was simulated', async () => {
    const networks = withLogits(0, Math.log(3), 5, Math.log(6));
    const { policy, visits, values } = await search([1, 1, 0, 1], { simulations: 0 }, networks);
    [0.1, 0.3, 0, 0.6].forEach((p, k) => {
      expect(policy[k]).toBeCloseTo(p, 6);
    });
    expect(Array.from(visits)).toEqual([0, 0, 0, 0]);
    expect(values[0]).toBe(0);
  });

  const low = Number.NEGATIVE_INFINITY;
  it.each([
    ['none of the legal ones', [low, low, 0, low]],
    ['very little to them', [-1e9, -1e9, 0, -1e9]],
    ['nothing to anything', [low, low, low, low]],
  ])('is legal, finite and sums to 1 where the prior gives %s', async (_, logits) => {
    for (const simulations of [0, 1, 40]) {
      for (const legal of [
        [1, 1, 0, 1],
        [0, 1, 0, 0],
      ]) {
        const { policy, visits, actions } = await search(legal, { simulations }, withLogits(...logits));
        expect(policy.reduce((a, b) => a + b)).toBeCloseTo(1, 6);
        legal.forEach((isLegal, k) => {
          if (!isLegal) expect([policy[k], visits[k]]).toEqual([0, 0]);
        });
        expect(legal[actions[0]]).toBe(1);
      }
    }
  });

  it('is drawn from at a temperature', async () => {
    const game = choice([1, 1, 1, 1]);
    const drawn = async (temperature: number) => {
      const rows = 4000;
      const all = createSearch({ game, trees: 1, simulations: 20, rationality: 0.4, exploration: 9, temperature });
      const states = new Int32Array(2 * rows);
      const { actions, policy } = await all.search(
        { rows, states, seats: new Int32Array(rows), generator: createGenerator(1) },
        uniform(4),
      );
      const shares = [0, 1, 2, 3].map((k) => actions.filter((action) => action === k).length / rows);
      return { shares, policy: Array.from(policy.subarray(0, 4)) };
    };
    const { shares, policy } = await drawn(1);
    shares.forEach((share, k) => {
      expect(Math.abs(share - policy[k])).toBeLessThan(0.03);
    });
    const sharper = policy.map((p) => p ** 2);
    const sum = sharper.reduce((a, b) => a + b);
    (await drawn(0.5)).shares.forEach((share, k) => {
      expect(Math.abs(share - sharper[k] / sum)).toBeLessThan(0.03);
    });
    expect((await drawn(0)).shares).toEqual([0, 0, 0, 1]);
  });
});

describe('errors', () => {
  const game = choice([1, 1, 1, 1]);
  it.each([
    [{ simulation: 5 }, /unknown option "simulation"/],
    [{ trees: 0 }, /option trees: expected a whole number, at least 1/],
    [{ rootNoise: { alpha: 0, fraction: 1 } }, /rootNoise/],
    [{ simulator: {} }, /simulator/],
  ])('options are checked: %j', (options, message) => {
    expect(() => createSearch({ game, ...options } as SearchOptions)).toThrow(message);
  });

  it.each([
    ['states of another type', { states: new Float32Array(2) }, /states: expected int32 of table, got float32/],
    ['too few states', { states: new Int32Array(1) }, /states: expected 2 numbers/],
    ['an unknown seat', { seats: Int32Array.of(1) }, /seats in 0..0, got 1/],
    ['somebody who has left', { states: Int32Array.of(1, 1) }, /agent_0, which has left/],
    ['beliefs that are no numbers', { beliefs: Float64Array.of(Number.NaN, 1) }, /beliefs: expected finite numbers/],
    ['generators for other roots', { generator: [] }, /one generator, or 1, got 0/],
  ])('roots are checked: %s', async (_, wrong, message) => {
    await expect(createSearch({ game }).search({ ...root(), ...wrong }, uniform(4))).rejects.toThrow(message);
  });

  it.each([
    [
      'too few logits',
      { logits: new Float32Array(3), values: new Float32Array(1) },
      /focal.logits: expected an array of at least 4/,
    ],
    ['no values', { logits: new Float32Array(4), values: new Float32Array(0) }, /networks: focal.values/],
    [
      'NaN',
      { logits: new Float32Array(4).fill(Number.NaN), values: new Float32Array(1) },
      /search: answer of networks: focal.logits: expected numbers/,
    ],
    [
      'an infinite value',
      { logits: new Float32Array(4), values: Float32Array.of(1 / 0) },
      /search: answer of networks: focal.values: expected numbers/,
    ],
  ])('answers are checked, and the next search is none the worse: %s', async (_, answer, message) => {
    const own = createSearch({ game, simulations: 5 });
    await expect(own.search(root(), { focal: () => answer })).rejects.toThrow(message);
    expect(await own.search(root(), uniform(4))).toEqual(
      await createSearch({ game, simulations: 5 }).search(root(), uniform(4)),
    );
  });
});
