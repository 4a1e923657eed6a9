import {
  type Agent,
  createGenerator,
  createRollout,
  type Game,
  type ObservationField,
  show,
  type TypedArray,
  vectorEnv,
} from '@coplay/core';
import { kindOf } from '@coplay/core/arrays';
import { checkObservations, kindFault } from '@coplay/core/checks';
import { describe, expect, it } from 'vitest';
import { countingGame } from './counting-game';

const look = (field: ObservationField, data: TypedArray, assumed = false) =>
  checkObservations('reader', { spec: { x: field }, observations: { x: data }, rows: 1, assumed }, () => 'agent_0');

describe('the kind of a field', () => {
  it('is the declared one; else planes for whole numbers [H, W, C] and a vector for all else', () => {
    expect(kindOf({ shape: [2, 2, 3], dtype: 'uint8' })).toBe('planes');
    expect(kindOf({ shape: [2, 2, 3], dtype: 'int32' })).toBe('planes');
    expect(kindOf({ shape: [2, 2, 3], dtype: 'float32' })).toBe('vector');
    expect(kindOf({ shape: [4], dtype: 'uint8' })).toBe('vector');
    expect(kindOf({ shape: [2, 2, 3], dtype: 'uint8', kind: 'image' })).toBe('image');
  });

  it.each<[string, ObservationField, RegExp]>([
    ['an unknown kind', { shape: [1], dtype: 'uint8', kind: 'pixels' as 'image' }, /"pixels"/],
    ['indices without classes', { shape: [1], dtype: 'int32', kind: 'indices' }, /undefined/],
    ['one class', { shape: [1], dtype: 'int32', kind: 'indices', classes: 1 }, /1/],
    ['classes of planes', { shape: [2], dtype: 'uint8', kind: 'planes', classes: 2 }, /2/],
    ['codes that do not fit', { shape: [5], dtype: 'uint8', kind: 'one-hot', classes: 2 }, /2/],
    ['an image of rank 2', { shape: [4, 4], dtype: 'uint8', kind: 'image' }, /\[4, 4\]/],
    ['a high of a vector', { shape: [4], dtype: 'uint8', kind: 'vector', high: 3 }, /3/],
    ['a high of 0', { shape: [2, 2, 1], dtype: 'uint8', kind: 'image', high: 0 }, /0/],
  ])('is refused where it does not fit: %s', (_, field, got) => {
    expect(show(kindFault(field)?.got)).toMatch(got);
    const game: Game = countingGame() as unknown as Game;
    const observation = { ...game.observation, x: field };
    expect(() => vectorEnv({ ...game, observation }, { envs: 1 })).toThrow(/observation\.x of counting/);
  });
});

describe('checkObservations', () => {
  it.each<[string, ObservationField, number[]]>([
    ['planes', { shape: [3], dtype: 'int32', kind: 'planes' }, [0, 1, 1]],
    ['one code', { shape: [3], dtype: 'uint8', kind: 'one-hot' }, [0, 1, 0]],
    ['no code', { shape: [3], dtype: 'uint8', kind: 'one-hot' }, [0, 0, 0]],
    ['two codes', { shape: [4], dtype: 'float32', kind: 'one-hot', classes: 2 }, [0, 1, 1, 0]],
    ['indices', { shape: [2], dtype: 'int32', kind: 'indices', classes: 3 }, [0, 2]],
    ['bytes', { shape: [1, 1, 2], dtype: 'uint32', kind: 'image' }, [0, 255]],
    ['shares', { shape: [1, 1, 2], dtype: 'float32', kind: 'image' }, [0, 1]],
    ['a vector', { shape: [2], dtype: 'float32', kind: 'vector' }, [-1e30, 1e30]],
    ['whole numbers without a kind', { shape: [1, 1, 2], dtype: 'int32' }, [-5, 300]],
  ])('takes %s', (_, field, values) => {
    expect(() => look(field, Float64Array.from(values))).not.toThrow();
  });

  it.each<[string, ObservationField, number[], RegExp]>([
    [
      '254 in planes',
      { shape: [2], dtype: 'uint8', kind: 'planes' },
      [1, 254],
      /"x" of kind planes, got 254 .*index 1/,
    ],
    ['two ones', { shape: [3], dtype: 'uint8', kind: 'one-hot' }, [1, 0, 1], /at most one 1 in each code of 3.*got 1 /],
    ['a half', { shape: [3], dtype: 'float32', kind: 'one-hot' }, [0.5, 0, 0], /kind one-hot, got 0.5/],
    ['an index too many', { shape: [2], dtype: 'int32', kind: 'indices', classes: 3 }, [0, 3], /from 0 to 2 .*got 3/],
    ['an index below', { shape: [1], dtype: 'int32', kind: 'indices', classes: 3 }, [-1], /got -1/],
    ['bytes as shares', { shape: [1, 1, 1], dtype: 'float32', kind: 'image' }, [254], /from 0 to 1 .*got 254/],
    ['above high', { shape: [1, 1, 1], dtype: 'uint8', kind: 'image', high: 15 }, [16], /from 0 to 15 .*got 16/],
    ['NaN in a vector', { shape: [1], dtype: 'float32' }, [Number.NaN], /finite .*field "x", got NaN for agent_0/],
    ['NaN in an image', { shape: [1, 1, 1], dtype: 'float32', kind: 'image' }, [Number.NaN], /finite .*got NaN/],
    ['an infinity', { shape: [1], dtype: 'float64' }, [Number.NEGATIVE_INFINITY], /got -Infinity/],
  ])('refuses %s', (_, field, values, message) => {
    expect(() => look(field, Float64Array.from(values))).toThrow(message);
  });

  it('asks undeclared whole numbers [H, W, C] to be planes only where a reader relies on it, and says what to declare', () => {
    const field: ObservationField = { shape: [1, 1, 1], dtype: 'uint8' };
    expect(() => look(field, Uint8Array.of(9))).not.toThrow();
    expect(() => look(field, Uint8Array.of(9), true)).toThrow(
      /assumed where none is declared, got 9.*'image'.*'vector'/,
    );
  });
});

describe('numbers of float64', () => {
  it('are refused where float32, which networks read, has no finite number for them', () => {
    const field: ObservationField = { shape: [2], dtype: 'float64' };
    const largest = 3.4028234663852886e38; // (2 - 2^-23) 2^127
    expect(() => look(field, Float64Array.of(largest, -1e-300))).not.toThrow();
    expect(() => look(field, Float64Array.of(0, -1e300))).toThrow(/field "x", also as float32.*got -1e\+300/);
  });
});

describe('a rollout', () => {
  const NAN_AT = 3;
  const sick: Game = {
    ...(countingGame() as unknown as Game),
    observe(state, offset, agent, out, row) {
      const game = countingGame();
      game.observe(state as never, offset, agent, out, row);
      const step = game.elapsed(state as never, offset);
      if (agent === 1 && step === NAN_AT) out['noise'][row] = Number.NaN;
    },
  };
  const still: (id: string) => Agent = (id) => ({
    id,
    name: 'Still',
    initialState: () => null,
    act: ({ rows, masks }) => ({
      actions: Int32Array.from({ length: rows }, (_, row) => masks.indexOf(1, row * sick.actions) - row * sick.actions),
      state: null,
    }),
  });

  it('names agent, environment, step and field of an observation that is not finite, at any time', async () => {
    const rollout = createRollout(vectorEnv(sick, { envs: 2 }), sick.agents.map(still), createGenerator(1));
    await expect(rollout.collect(20)).rejects.toThrow(
      /finite numbers in the observation field "noise", got NaN for .* in environment \d, step 3, index 0/,
    );
  });
});
