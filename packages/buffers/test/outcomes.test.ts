import { createOutcomeStore } from '@coplay/buffers';
import { createGenerator, type NamedArrays, ndarray } from '@coplay/core';
import { describe, expect, it } from 'vitest';

/** Transitions of two agents, told apart by `number`. */
function rows(rewards: readonly (readonly [number, number])[], first = 0): NamedArrays {
  return {
    number: ndarray(Int32Array.from(rewards, (_, i) => first + i)),
    rewards: ndarray(Float32Array.from(rewards.flat()), [rewards.length, 2]),
  };
}

const nothing = (count: number) => Array.from({ length: count }, () => [0, 0] as const);

describe('createOutcomeStore', () => {
  it('draws each outcome as often, however rare it is', () => {
    const store = createOutcomeStore({ capacity: 64 });
    store.push(rows(nothing(997)));
    store.push(
      rows(
        [
          [1, 0],
          [0, 1],
          [5, 5],
        ],
        997,
      ),
    );
    expect(store.outcomes).toEqual(['0.00', '1.00', '5.00']);
    const count = 6000;
    const drawn = store.sample(createGenerator(1), count)['number'].data;
    const shareOf = (is: (number: number) => boolean) => [...drawn].filter((number) => is(number)).length / count;
    // A third each, give or take five standard errors of 0.0061.
    expect(shareOf((number) => number === 999)).toBeGreaterThan(0.303);
    expect(shareOf((number) => number === 999)).toBeLessThan(0.364);
    expect(shareOf((number) => number < 997)).toBeLessThan(0.364);
    expect(shareOf((number) => number === 997)).toBeCloseTo(1 / 6, 1);
  });

  it('keeps what is rare when common transitions have gone through', () => {
    const store = createOutcomeStore({ capacity: 4 });
    store.push(rows([[0, 2.5]], 77));
    for (let i = 0; i < 50; i++) store.push(rows(nothing(10)));
    expect(store.size).toBe(5);
    expect([...store.sample(createGenerator(2), 64)['number'].data]).toContain(77);
  });

  it('takes a loss for an outcome of its own', () => {
    const store = createOutcomeStore();
    store.push(
      rows([
        [-5, 1],
        [5, 1],
      ]),
    );
    expect(store.outcomes).toEqual(['-5.00', '5.00']);
  });

  it('holds no more outcomes than it has room for', () => {
    const store = createOutcomeStore({ outcomes: 2 });
    store.push(
      rows([
        [1, 0],
        [2, 0],
        [3, 0],
      ]),
    );
    expect(store.size).toBe(2);
  });

  it('goes on after a restore with the same draws', () => {
    const store = createOutcomeStore({ capacity: 8 });
    store.push(
      rows([
        [1, 0],
        [0, 0],
        [5, 5],
        [100, 0],
        [0.5, 0.5],
      ]),
    );
    const other = createOutcomeStore({ capacity: 8 });
    other.restore(structuredClone(store.state()));
    expect(store.outcomes).toContain('100'); // in a record it would come first
    expect(other.outcomes).toEqual(store.outcomes);
    expect(other.sample(createGenerator(3), 32)).toEqual(store.sample(createGenerator(3), 32));
  });

  it('refuses to draw from nothing, and unknown options', () => {
    expect(() => createOutcomeStore().sample(createGenerator(1), 1)).toThrow('outcomeStore.sample');
    expect(() => createOutcomeStore({ capacty: 1 } as object)).toThrow('capacty');
  });
});
