import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { show } from './errors';
import { createGenerator, type GeneratorState, generatorFrom, splitSeed } from './generator';

/** xoshiro128** as its authors print it, in BigInt. */
function reference(state: GeneratorState, count: number): number[] {
  const mask = 0xffffffffn;
  const rotate = (x: bigint, k: bigint) => ((x << k) | (x >> (32n - k))) & mask;
  const s = state.map(BigInt);
  return Array.from({ length: count }, () => {
    const result = (rotate((s[1] * 5n) & mask, 7n) * 9n) & mask;
    const t = (s[1] << 9n) & mask;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 11n);
    return Number(result);
  });
}

const word = fc.integer({ min: 0, max: 0xffffffff });

describe('the generator', () => {
  it('is xoshiro128**: the first words from state 1, 2, 3, 4', () => {
    // By hand: rotl(2 * 5, 7) * 9 = 1280 * 9; then s1 = 0; then rotl(1029 * 5, 7) * 9.
    const generator = generatorFrom([1, 2, 3, 4]);
    expect([generator.uint32(), generator.uint32(), generator.uint32()]).toEqual([11520, 0, 5927040]);
  });

  it('agrees with the reference from any state', () => {
    fc.assert(
      fc.property(fc.tuple(word, word, word, word), (state) => {
        fc.pre(state.some((part) => part !== 0));
        const generator = generatorFrom(state);
        expect(Array.from({ length: 20 }, () => generator.uint32())).toEqual(reference(state, 20));
      }),
    );
  });

  it('goes on from a saved state', () => {
    const generator = createGenerator(7);
    generator.normal();
    const copy = generatorFrom(generator.state());
    expect(Array.from({ length: 5 }, () => copy.uniform())).toEqual(
      Array.from({ length: 5 }, () => generator.uniform()),
    );
  });

  it('uniform is in [0, 1) with the right mean and variance', () => {
    const generator = createGenerator(1);
    const values = Array.from({ length: 50_000 }, () => generator.uniform());
    expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    // Standard error of the mean: sqrt(1 / 12 / 50,000) = 0.0013; five of them.
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.0065);
    expect(Math.abs(variance - 1 / 12)).toBeLessThan(0.002);
  });

  it('integer is uniform: chi-squared over 7 values', () => {
    const generator = createGenerator(2);
    const counts = new Array<number>(7).fill(0);
    for (let i = 0; i < 70_000; i++) counts[generator.integer(7)]++;
    const chi = counts.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0);
    expect(chi).toBeLessThan(22.5); // 6 degrees of freedom, p = 0.001
  });

  it('normal has mean 0, variance 1 and the tails of a normal', () => {
    const generator = createGenerator(3);
    const values = Array.from({ length: 50_000 }, () => generator.normal());
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + value * value, 0) / values.length;
    const outside = values.filter((value) => Math.abs(value) > 1.96).length / values.length;
    expect(Math.abs(mean)).toBeLessThan(0.0225);
    expect(Math.abs(variance - 1)).toBeLessThan(0.032);
    expect(Math.abs(outside - 0.05)).toBeLessThan(0.005);
  });

  it('shuffle gives every permutation of three equally often', () => {
    const generator = createGenerator(4);
    const counts = new Map<string, number>();
    for (let i = 0; i < 60_000; i++) {
      const key = generator.shuffle([0, 1, 2]).join();
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    expect(counts.size).toBe(6);
    const chi = [...counts.values()].reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0);
    expect(chi).toBeLessThan(20.5); // 5 degrees of freedom, p = 0.001
  });

  it('splits without advancing, into children that differ from it and from one another', () => {
    const generator = createGenerator(5);
    const before = generator.state();
    const heads = [generator, ...Array.from({ length: 1000 }, (_, key) => generator.split(key))].map((one) =>
      one.state().join(),
    );
    expect(new Set(heads).size).toBe(1001);
    expect(generator.state()).toEqual(before);
    expect(generator.split(3).state()).toEqual(generator.split(3).state());
  });

  it('forks into children that differ from one another and from every split, and advances by one draw', () => {
    const [generator, drawn] = [createGenerator(5), createGenerator(5)];
    const splits = Array.from({ length: 1000 }, (_, key) => generator.split(key).state().join());
    const forks = Array.from({ length: 1000 }, () => {
      const fork = generator.fork().state().join();
      drawn.uint32();
      expect(generator.state()).toEqual(drawn.state());
      return fork;
    });
    expect(new Set([...splits, ...forks]).size).toBe(2000);
    expect(createGenerator(5).fork().state().join()).toBe(forks[0]);
  });

  it.each([0, -1, 1.5, Number.NaN, Infinity, 2 ** 32 + 1, 2 ** 33, null, [], '3', undefined])(
    'draws no integer below %j',
    (n) => {
      const generator = createGenerator(1);
      const before = generator.state();
      expect(() => generator.integer(n as number)).toThrow(
        `generator.integer: expected a range n that is an integer from 1 to 2^32, got ${show(n)}`,
      );
      expect(generator.state()).toEqual(before);
    },
  );

  it('draws integers below 1 and below 2^32', () => {
    const [generator, words] = [createGenerator(1), createGenerator(1)];
    expect(generator.integer(1)).toBe(0);
    words.uint32();
    expect(generator.integer(2 ** 32)).toBe(words.uint32());
    expect(generator.integer(2 ** 32 - 1)).toBeLessThan(2 ** 32 - 1);
  });

  it.each([-1, 1.5, Number.NaN, 2 ** 32, '1', null, undefined])('splits by no key %s', (key) => {
    expect(() => createGenerator(1).split(key as number)).toThrow(
      /generator.split: expected an integer from 0 to 2\^32 - 1/,
    );
    expect(() => splitSeed(1, key as number)).toThrow(/splitSeed: index: expected an integer from 0 to 2\^32 - 1/);
  });

  it('seeds and their splits do not collide', () => {
    const seeds = new Set<number>();
    for (let seed = 0; seed < 100; seed++) for (let i = 0; i < 100; i++) seeds.add(splitSeed(seed, i));
    expect(seeds.size).toBe(10_000);
    expect([...seeds].every(Number.isSafeInteger)).toBe(true);
    expect(new Set(Array.from({ length: 1000 }, (_, seed) => createGenerator(seed).state().join())).size).toBe(1000);
  });

  it.each([-1, 1.5, Number.NaN, 2 ** 53, '1'])('refuses the seed %s', (seed) => {
    expect(() => createGenerator(seed as number)).toThrow(/createGenerator: expected a seed/);
  });

  it('refuses a state of zeros', () => {
    expect(() => generatorFrom([0, 0, 0, 0])).toThrow(/not all 0/);
  });
});
